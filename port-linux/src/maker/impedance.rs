//! Stiffness and damping that are asked for while a session stands: `stiffness=800 damping=0.7`.

use outrigger_core::engine::krc::{Control, ControlRefusal};
use outrigger_wire::fri::{CartesianVector, CommandFlags};

/// Numbers that a value may have: one for each of seven joints.
const MOST: usize = 7;

/// The beginning of what is set: `impedance stiffness=800 damping=0.7`.
pub const WORD: &str = "impedance ";

/// Stiffness and damping; what is not named stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impedance {
    stiffness: Option<Numbers>,
    damping: Option<Numbers>,
}

/// One number for all, or one for each joint or axis of the tool.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbers {
    values: [f32; MOST],
    count: usize,
}

/// The reason for which stiffness and damping are not taken.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ImpedanceRefusal {
    /// The controller has none.
    #[error("this controller has neither stiffness nor damping: a KUKA LWR has them")]
    NoImpedance,
    /// The scheme in force has none.
    #[error(
        "the control scheme in force is joint position, which has neither: robot.expert.control = \"joint-impedance\" or \"tool-impedance\" has both"
    )]
    Position,
    /// Another count of numbers than the scheme in force has.
    #[error("{what}: expected {expected} numbers, or one for all, found {found}")]
    Count {
        /// The value.
        what: &'static str,
        /// Numbers of the scheme.
        expected: usize,
        /// Numbers that were sent.
        found: usize,
    },
    /// A field that is not sent to the KRC.
    #[error("{0} is left to the KRL program: robot.expert.left_to_krl names it")]
    LeftToKrl(&'static str),
    /// The engine refuses it.
    #[error(transparent)]
    Engine(#[from] ControlRefusal),
}

impl Impedance {
    /// Reads what is asked for.
    ///
    /// # Errors
    /// What was expected.
    pub fn of(how: &str) -> Result<Self, String> {
        let mut read = Self::default();
        for word in how.split_whitespace() {
            let value = match word.split_once('=') {
                Some(("stiffness", numbers)) => (&mut read.stiffness, "stiffness", numbers),
                Some(("damping", numbers)) => (&mut read.damping, "damping", numbers),
                _ => return Err(format!("expected stiffness=N[,N...] or damping=N[,N...], found '{word}'")),
            };
            let (place, name, numbers) = value;
            *place = Some(Numbers::of(name, numbers)?);
        }
        match read {
            Self { stiffness: None, damping: None } => {
                Err("expected stiffness=N[,N...], damping=N[,N...] or both".into())
            }
            read => Ok(read),
        }
    }

    /// Returns the control scheme in force with what is asked for. The ranges are the engine's to check.
    ///
    /// # Errors
    /// The reason for which the scheme cannot have it.
    pub fn over(&self, control: &Control) -> Result<Control, ImpedanceRefusal> {
        let mut changed = *control;
        let (stiffness, damping) = match &changed {
            Control::Position => return Err(ImpedanceRefusal::Position),
            Control::JointImpedance(_) => (CommandFlags::JOINT_STIFFNESS, CommandFlags::JOINT_DAMPING),
            Control::ToolImpedance(_) => (CommandFlags::CARTESIAN_STIFFNESS, CommandFlags::CARTESIAN_DAMPING),
        };
        for (asked, what, field) in [(self.stiffness, "stiffness", stiffness), (self.damping, "damping", damping)] {
            let Some(numbers) = asked else { continue };
            if !changed.flags().contains(field) {
                return Err(ImpedanceRefusal::LeftToKrl(what));
            }
            match (&mut changed, what) {
                (Control::Position, _) => {}
                (Control::JointImpedance(joint), "stiffness") => joint.stiffness = numbers.spread(what)?,
                (Control::JointImpedance(joint), _) => joint.damping = numbers.spread(what)?,
                (Control::ToolImpedance(tool), "stiffness") => tool.stiffness = numbers.along(what)?,
                (Control::ToolImpedance(tool), _) => tool.damping = numbers.along(what)?,
            }
        }
        Ok(changed)
    }
}

impl Numbers {
    fn of(name: &str, text: &str) -> Result<Self, String> {
        let mut read = Self { values: [0.0; MOST], count: 0 };
        for number in text.split(',') {
            let parsed = number.parse::<f32>().ok().filter(|number| number.is_finite());
            let parsed = parsed.ok_or_else(|| format!("{name}: expected a number, found '{number}'"))?;
            let place = read.values.get_mut(read.count);
            *place.ok_or_else(|| format!("{name}: expected {MOST} numbers at most, found more"))? = parsed;
            read.count += 1;
        }
        Ok(read)
    }

    /// Returns a number for each of `N`.
    fn spread<const N: usize>(&self, what: &'static str) -> Result<[f32; N], ImpedanceRefusal> {
        match (self.count, self.values) {
            (1, [all, ..]) => Ok([all; N]),
            (found, _) if found != N => Err(ImpedanceRefusal::Count { what, expected: N, found }),
            (_, values) => Ok(std::array::from_fn(|at| values.get(at).copied().unwrap_or_default())),
        }
    }

    fn along(&self, what: &'static str) -> Result<CartesianVector, ImpedanceRefusal> {
        let [x, y, z, rx, ry, rz] = self.spread(what)?;
        Ok(CartesianVector { linear: [x, y, z], angular: [rx, ry, rz] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_core::engine::krc::{JointImpedance, ToolImpedance};

    #[test]
    fn what_is_named_is_changed_and_the_rest_stays() {
        let joints = Control::JointImpedance(JointImpedance { torque: [1.0; 7], ..JointImpedance::default() });
        let of = |how, control: &Control| Impedance::of(how).expect("understood").over(control);
        let softer = JointImpedance { stiffness: [300.0; 7], torque: [1.0; 7], ..JointImpedance::default() };
        assert_eq!(of("stiffness=300", &joints), Ok(Control::JointImpedance(softer)));
        let each = of("damping=0.5,0.5,0.5,0.5,0.5,0.5,0.9", &joints);
        assert!(matches!(each, Ok(Control::JointImpedance(i)) if i.damping[6] == 0.9 && i.stiffness == [1_000.0; 7]));
        let tool = Control::ToolImpedance(ToolImpedance::default());
        let both = of("damping=0.6 stiffness=1500,1500,800,150,150,140", &tool);
        let Ok(Control::ToolImpedance(both)) = both else { panic!("{both:?}") };
        assert_eq!((both.stiffness.linear, both.stiffness.angular), ([1_500.0, 1_500.0, 800.0], [150.0, 150.0, 140.0]));
        assert_eq!(both.damping, CartesianVector::uniform(0.6, 0.6));
    }

    #[test]
    fn what_cannot_be_is_said_in_words() {
        for (how, said) in [
            ("", "expected stiffness=N[,N...], damping=N[,N...] or both"),
            ("stiffness", "expected stiffness=N[,N...] or damping=N[,N...], found 'stiffness'"),
            ("wrench=1", "expected stiffness=N[,N...] or damping=N[,N...], found 'wrench=1'"),
            ("stiffness=hard", "stiffness: expected a number, found 'hard'"),
            ("damping=inf", "damping: expected a number, found 'inf'"),
            ("damping=1,1,1,1,1,1,1,1", "damping: expected 7 numbers at most, found more"),
        ] {
            assert_eq!(Impedance::of(how), Err(said.into()), "{how}");
        }
        let left = JointImpedance { left_to_krl: CommandFlags::JOINT_STIFFNESS, ..JointImpedance::default() };
        let tool = Control::ToolImpedance(ToolImpedance::default());
        for (control, how, said) in [
            (Control::Position, "damping=1", "the control scheme in force is joint position"),
            (tool, "stiffness=1,2,3,4,5,6,7", "stiffness: expected 6 numbers, or one for all, found 7"),
            (Control::JointImpedance(left), "stiffness=1", "stiffness is left to the KRL program"),
        ] {
            let refused = Impedance::of(how).expect("understood").over(&control).expect_err("it cannot be");
            assert!(refused.to_string().starts_with(said), "{refused}");
        }
    }
}
