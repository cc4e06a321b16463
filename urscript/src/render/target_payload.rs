//! A payload with its inertia, as a separate secondary program (client interfaces, 5.3).

use super::dialect::Dialect;
use super::error::{Argument, Range, RenderError};
use super::secondary_program::{END, HEAD, Output, Sec, check_payload};
use super::text_cursor::{Line, NUMBER_LEN};

/// A secondary program that sets the mass at the tool flange with its inertia, by `set_target_payload`. Software before
/// 5.10 does not have this function: for such software an inertia other than 0 is rejected, and an inertia of 0 is
/// written as `set_payload`, without a transition time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetPayload {
    /// The mass of the payload \[kg\], from 0 to `max_mass`.
    pub mass: f32,
    /// The centre of gravity of the payload in the flange's frame \[m\].
    pub center_of_gravity: [f32; 3],
    /// The inertia about the centre of gravity, in the axes of the flange: xx, yy, zz, xy, xz, yz \[kg·m²\].
    pub inertia: [f32; 6],
    /// The time in which the controller changes from the previous payload to this one \[s\].
    pub transition_time: f32,
    /// The arm's rated payload \[kg\], at most [`Output::MASS`]`.max`.
    pub max_mass: f32,
}

impl TargetPayload {
    /// The range of the payload's moments of inertia \[kg·m²\].
    pub const MOMENT_OF_INERTIA: Range = Range::new(0.0, 50.0);
    /// The range of the payload's products of inertia \[kg·m²\].
    pub const PRODUCT_OF_INERTIA: Range = Range::symmetric(50.0);
    /// The range of times within which a payload takes effect \[s\].
    pub const TRANSITION_TIME: Range = Range::new(0.0, 5.0);
    /// The length of the longest rendered program \[B\]: eleven numbers with a sign, two digits, a point and the
    /// decimals at most (a mass has three digits and no sign), ten commas between them, and four brackets.
    pub const MAX_LEN: usize = HEAD.len() + 20 + 11 * (NUMBER_LEN - 2) + 10 + 4 + 2 + END.len();

    /// Checks that a controller of this dialect (or [`Version`](crate::Version)) accepts the payload.
    ///
    /// # Errors
    /// [`RenderError::Number`] if a number is out of its range; [`RenderError::Unsupported`] if the software is too
    /// old.
    pub fn check(&self, dialect: impl Into<Dialect>) -> Result<(), RenderError> {
        let dialect = dialect.into();
        let Self { mass, center_of_gravity, inertia: [xx, yy, zz, xy, xz, yz], transition_time, max_mass } = *self;
        check_payload(mass, &center_of_gravity, max_mass)?;
        Self::MOMENT_OF_INERTIA.check_each(Argument::Inertia, &[xx, yy, zz])?;
        let product = |element: u8| Argument::Inertia(element.saturating_add(3));
        Self::PRODUCT_OF_INERTIA.check_each(product, &[xy, xz, yz])?;
        Self::TRANSITION_TIME.check(Argument::TransitionTime, transition_time)?;
        let none = self.inertia.iter().all(|element| *element == 0.0);
        if none { Ok(()) } else { dialect.has(dialect.target_payload) }
    }

    /// Writes the secondary program that sets the payload, for a controller of this dialect (or
    /// [`Version`](crate::Version)).
    ///
    /// # Errors
    /// The errors of [`check`](Self::check); [`RenderError::BufferTooSmall`].
    pub fn render(&self, dialect: impl Into<Dialect>, out: &mut [u8]) -> Result<usize, RenderError> {
        let dialect = dialect.into();
        self.check(dialect)?;
        let Self { mass, center_of_gravity, inertia, transition_time, max_mass } = *self;
        if dialect.has(dialect.target_payload).is_err() {
            let payload = Output::Payload { mass, center_of_gravity: Some(center_of_gravity), max_mass };
            return Sec(&[payload]).render(dialect, out);
        }
        let mut line = Line::new(out);
        line.put(HEAD);
        line.put(b" set_target_payload(");
        line.number(mass);
        line.put(b",");
        line.list(&center_of_gravity);
        line.put(b",");
        line.list(&inertia);
        line.put(b",");
        line.number(transition_time);
        line.put(b")\n");
        line.put(END);
        line.finish()
    }
}
