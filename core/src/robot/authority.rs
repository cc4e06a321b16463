//! The permission to move the arm, as a value that a command needs.

use core::marker::PhantomData;

/// Proof that the mode machine permits moving the arm (mode `Command`) during the present call of the engine.
///
/// It cannot be stored: it borrows the machine that granted it, so it ends before the machine can make its next
/// transition. The function that turns an approved command into bytes takes it by value.
#[derive(Debug)]
pub struct Authority<'machine>(PhantomData<&'machine mut ()>);

impl<'machine> Authority<'machine> {
    /// Grants authority for as long as `machine` stays borrowed. Called by the mode machine alone.
    pub(crate) fn granted_by<T>(machine: &'machine mut T) -> Self {
        let _ = machine;
        Self(PhantomData)
    }
}
