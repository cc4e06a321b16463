//! Tests in real time, tried again where this machine stood still meanwhile, and only there.
//!
//! What a machine that stands still can spoil is asked for with [`in_time`]: that something happened, that it happened
//! soon enough, that commanding did not end. What nothing may spoil, such as a motion nobody asked for, is asserted, and
//! fails the first time.

use std::panic::{catch_unwind, resume_unwind};
use std::time::Duration;

use crate::standstill::Watch;

/// So often a test is tried.
const ATTEMPTS: u32 = 3;
/// A processor that ran nothing for longer takes a board off its pace: a state is due every 1–10 ms.
pub const TELLING: Duration = Duration::from_millis(5);

/// Thrown by [`late`].
struct Late(String);

/// This holds, unless something came too late.
pub fn in_time(holds: bool, told: impl FnOnce() -> String) {
    if !holds {
        late(told());
    }
}

/// Something came too late, or not at all.
pub fn late(told: String) -> ! {
    // Not a panic, which would be reported before it is known whether it counts.
    resume_unwind(Box::new(Late(told)))
}

/// Runs the body of a test in real time.
///
/// # Panics
/// Where the body does; where it came too late although no processor stood still, or each time.
pub fn attempt(body: fn()) {
    judge(ATTEMPTS, || {
        let watch = Watch::start().expect("threads");
        (catch_unwind(body), watch.longest())
    });
}

/// Each try tells what became of it, and for how long a processor stood still meanwhile.
fn judge(attempts: u32, mut each: impl FnMut() -> (std::thread::Result<()>, Duration)) {
    for left in (0..attempts).rev() {
        let (Err(thrown), stood) = each() else { return };
        let Late(told) = *thrown.downcast::<Late>().unwrap_or_else(|other| resume_unwind(other));
        println!("{told}\na processor stood still for {stood:?} meanwhile");
        assert!(left > 0 && stood > TELLING, "{told}");
        println!("once more");
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use super::*;

    /// How often it is tried, and whether it passes at last.
    fn tried(stood: Duration, mut body: impl FnMut(u32)) -> (u32, bool) {
        let mut count = 0;
        let mut once = || {
            count += 1;
            body(count);
        };
        let each = || (catch_unwind(AssertUnwindSafe(&mut once)), stood);
        let passed = catch_unwind(AssertUnwindSafe(|| judge(3, each))).is_ok();
        (count, passed)
    }

    const STILL: Duration = Duration::from_millis(12);
    const AWAKE: Duration = Duration::from_millis(1);

    #[test]
    fn what_came_too_late_is_tried_again_where_the_machine_stood_still() {
        assert_eq!(tried(STILL, |count| in_time(count == 2, || "late".into())), (2, true));
        assert_eq!(tried(STILL, |_| late("each time".into())), (3, false));
    }

    #[test]
    fn what_came_too_late_fails_where_it_did_not() {
        assert_eq!(tried(AWAKE, |count| in_time(count == 2, || "late".into())), (1, false));
    }

    #[test]
    fn what_nothing_may_spoil_fails_the_first_time() {
        assert_eq!(tried(STILL, |count| assert_eq!(count, 2, "a motion nobody asked for")), (1, false));
    }
}
