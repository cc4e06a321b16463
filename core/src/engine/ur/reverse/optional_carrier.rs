//! The connection of a program on the controller, or none: without the feature `programs` it is not compiled.

use super::Reverse;
use crate::command::Limits;
use crate::engine::ur::config::UrOptions;

/// The program's connection, for a path on which a program carries the commands.
#[cfg(feature = "programs")]
pub(in crate::engine::ur) type Carrier = Reverse;
/// An empty type: without the feature `programs` text carries the commands.
#[cfg(not(feature = "programs"))]
pub(in crate::engine::ur) type Carrier = Absent;

/// An empty type in place of a program's connection: without the feature `programs` there is none.
#[cfg(not(feature = "programs"))]
#[derive(Debug)]
pub(in crate::engine::ur) enum Absent {}

#[cfg(not(feature = "programs"))]
impl core::ops::Deref for Absent {
    type Target = Reverse;

    fn deref(&self) -> &Reverse {
        match *self {}
    }
}

#[cfg(not(feature = "programs"))]
impl core::ops::DerefMut for Absent {
    fn deref_mut(&mut self) -> &mut Reverse {
        match *self {}
    }
}

/// Returns the program's connection, for reading; `None` on a path without a program.
pub(in crate::engine::ur) fn shared(carrier: &Option<Carrier>) -> Option<&Reverse> {
    #[cfg(feature = "programs")]
    let reverse = carrier.as_ref();
    #[cfg(not(feature = "programs"))]
    let reverse = carrier.as_deref();
    reverse
}

/// Returns the program's connection, for changes; `None` on a path without a program.
pub(in crate::engine::ur) fn exclusive(carrier: &mut Option<Carrier>) -> Option<&mut Reverse> {
    #[cfg(feature = "programs")]
    let reverse = carrier.as_mut();
    #[cfg(not(feature = "programs"))]
    let reverse = carrier.as_deref_mut();
    reverse
}

/// Creates the connection of a program; `None` for a path without one.
#[cfg(feature = "programs")]
pub(in crate::engine::ur) fn carrier(options: &UrOptions, limits: &Limits<6>) -> Option<Carrier> {
    options.path.is_resident().then(|| Reverse::new(options, *limits))
}

/// Returns `None`, because this build has no programs.
#[cfg(not(feature = "programs"))]
pub(in crate::engine::ur) fn carrier(_: &UrOptions, _: &Limits<6>) -> Option<Carrier> {
    None
}
