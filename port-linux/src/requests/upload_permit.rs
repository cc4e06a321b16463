//! A permit to upload a third-party program. The control loop grants it while the arm is not commanded and revokes it
//! if commanding starts first.
//!
//! Requests to command are rejected from the start of the upload until the program runs, or is known not to run,
//! because of two uploaded programs the later one would end the other. A running program is visible to the engine
//! like any third-party program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The state of the upload permit while no client has it.
const NONE: u8 = 0;
/// The state of the upload permit while a client has it, and has not used it.
const GRANTED: u8 = 1;
/// The state of the upload permit while a client uploads a program with it.
const USED: u8 = 2;

/// The control loop's side of the permit to upload a program. One client at a time can have the permit.
#[derive(Clone, Debug, Default)]
pub(super) struct UploadPermits(Arc<AtomicU8>);

/// The client's side of the permit to upload a program. Dropping it revokes an unused permit.
#[derive(Debug)]
pub struct UploadPermit(UploadPermits);

/// An upload in progress. Dropping this ends the upload, so that commanding is possible again.
#[derive(Debug)]
pub struct UploadGuard(UploadPermits);

impl UploadPermits {
    fn turn(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Grants the permit to upload a program. Returns `false` if a client already has it.
    pub(super) fn grant(&self) -> bool {
        self.turn(NONE, GRANTED)
    }

    /// Revokes the permit to upload a program if it is unused.
    pub(super) fn revoke(&self) {
        self.turn(GRANTED, NONE);
    }

    /// Returns `true` if an upload of a program is in progress.
    pub(super) fn is_used(&self) -> bool {
        self.0.load(Ordering::Acquire) == USED
    }

    /// Returns the client's side of the permit to upload a program.
    pub(super) fn permit(&self) -> UploadPermit {
        UploadPermit(self.clone())
    }
}

impl UploadPermit {
    /// Uses the permit: the program may be sent while the returned guard exists. Returns `None` if the permit was
    /// revoked.
    pub fn begin_upload(&self) -> Option<UploadGuard> {
        self.0.turn(GRANTED, USED).then(|| UploadGuard(self.0.clone()))
    }
}

impl Drop for UploadPermit {
    fn drop(&mut self) {
        self.0.revoke();
    }
}

impl Drop for UploadGuard {
    fn drop(&mut self) {
        self.0.turn(USED, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_used_once_and_not_after_it_was_revoked() {
        let permits = UploadPermits::default();
        let permit = permits.permit();
        assert!(permit.begin_upload().is_none() && permits.grant() && !permits.grant() && !permits.is_used());
        permits.revoke();
        assert!(permit.begin_upload().is_none());
        assert!(permits.grant());
        let guard = permit.begin_upload().expect("it was granted");
        permits.revoke();
        assert!(permits.is_used() && !permits.grant() && permit.begin_upload().is_none());
        drop(permit);
        assert!(permits.is_used(), "the upload goes on all the same");
        drop(guard);
        assert!(!permits.is_used() && permits.grant());
    }

    #[test]
    fn a_permit_that_its_client_never_used_is_free_again() {
        let permits = UploadPermits::default();
        assert!(permits.grant());
        drop(permits.permit());
        assert!(
            permits.grant(),
            "a script that could not be read, or whose client is gone, keeps nobody from the next"
        );
    }
}
