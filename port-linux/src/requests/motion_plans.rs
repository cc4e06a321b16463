//! Collects plans: motions that clients send piece by piece. One plan at a time is collected, in bounded memory and
//! time, and it becomes a motion only after it is complete.
//!
//! A run never opens a file that a client names. The client reads the file, and sends the waypoints.

use std::sync::{Mutex, MutexGuard, PoisonError};

use outrigger_core::mode::{ClientNumber, Epoch};
use outrigger_core::trajectory::Waypoint;
use outrigger_wire::time::{Duration, Instant};

use crate::motion::Motion;
use crate::motion::motion_text::{Heading, waypoint};

/// The longest time between two pieces of a motion's plan from a client.
const SILENT: Duration = Duration::from_secs(5);
/// The longest time for sending a whole plan (a motion in pieces): a fixed part, and a part for each waypoint.
const WHOLE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_micros(500));
/// The error text for a plan (a motion that a client sends piece by piece) that was not complete in time.
pub(super) const LATE: &str = "the waypoints did not arrive in time: send each piece within 5 s, and all of them at \
                               2000 waypoints per second or more";

/// A motion that a client sends piece by piece, and that is not complete yet.
#[derive(Debug)]
pub(super) struct Plan<const N: usize> {
    asker: ClientNumber,
    pub(super) id: Option<u32>,
    epoch: Epoch,
    heading: Heading<N>,
    waypoints: Vec<Waypoint<N>>,
    began: Instant,
    /// The time at which the newest piece of the motion's plan was received.
    newest: Instant,
}

impl<const N: usize> Plan<N> {
    /// Returns the latest time for the next piece of this motion from its client; after that, the motion is dropped.
    fn until(&self) -> Instant {
        let (least, each) = WHOLE;
        let count = u64::try_from(self.heading.count).unwrap_or(u64::MAX);
        let whole = least + Duration::from_micros(each.as_micros().saturating_mul(count));
        (self.newest + SILENT).min(self.began + whole)
    }

    fn is_late(&self, now: Instant) -> bool {
        now > self.until()
    }
}

/// The motion (plan) that is being received piece by piece, if there is one.
#[derive(Debug)]
pub(super) struct Plans<const N: usize>(Mutex<Option<Plan<N>>>);

impl<const N: usize> Default for Plans<N> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<const N: usize> Plans<N> {
    fn plan(&self) -> MutexGuard<'_, Option<Plan<N>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The access of one client to the plan (a motion that a client sends piece by piece) that is being received. When it
/// is dropped, an incomplete plan of the client is dropped, too.
#[derive(Debug)]
pub(super) struct Planner<'s, const N: usize> {
    plans: &'s Plans<N>,
    pub(super) asker: ClientNumber,
    /// `true` while this client is sending the pieces of a motion.
    collects: bool,
    /// `true` after an error of the plan was reported. The rest of the plan is then discarded without an answer.
    pub(super) failed: bool,
}

impl<const N: usize> Drop for Planner<'_, N> {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl<'s, const N: usize> Planner<'s, N> {
    pub(super) const fn new(plans: &'s Plans<N>, asker: ClientNumber) -> Self {
        Self { plans, asker, collects: false, failed: false }
    }

    /// Returns the latest time for the next piece of the plan (motion) that this client is sending piece by piece;
    /// after that, the plan is dropped. `None` if no plan of this client is being received.
    pub(super) fn until(&self) -> Option<Instant> {
        self.collects.then(|| self.own(Plan::until)).flatten()
    }

    /// Returns `true` if further pieces of the client belong to a plan (a motion sent piece by piece) that has
    /// failed, and must be discarded.
    pub(super) const fn is_dropping(&self) -> bool {
        self.failed
    }

    fn own<T>(&self, of: impl FnOnce(&Plan<N>) -> T) -> Option<T> {
        self.plans.plan().as_ref().filter(|plan| plan.asker == self.asker).map(of)
    }

    /// Drops the plan (a motion sent piece by piece) that is being received if it belongs to this client, and returns
    /// it.
    pub(super) fn give_up(&mut self) -> Option<Plan<N>> {
        self.collects = false;
        self.plans.plan().take_if(|plan| plan.asker == self.asker)
    }

    /// Drops the plan (a motion sent piece by piece) that is being received if it belongs to this client and its next
    /// piece is late. Returns the dropped plan.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Plan<N>> {
        self.own(|plan| plan.is_late(now)).filter(|late| *late)?;
        self.failed = true;
        self.give_up()
    }

    /// Starts to receive a plan: a motion that this client sends piece by piece. Returns `false` while another
    /// client's is being received.
    pub(super) fn begin(&mut self, (id, epoch): (Option<u32>, Epoch), heading: Heading<N>, now: Instant) -> bool {
        let mut plan = self.plans.plan();
        if plan.as_ref().is_some_and(|plan| plan.asker != self.asker && !plan.is_late(now)) {
            return false;
        }
        let begun = Plan { asker: self.asker, id, epoch, heading, waypoints: vec![], began: now, newest: now };
        let before = plan.replace(begun);
        drop(plan);
        // The memory is freed after the lock was released.
        drop(before);
        (self.collects, self.failed) = (true, false);
        true
    }

    /// Runs `work` on the plan (a motion sent piece by piece) that is being received from this client.
    ///
    /// # Errors
    /// Returns the errors of `work`, or the reason why the client has no plan.
    fn with<T>(
        &self,
        epoch: Epoch,
        now: Instant,
        work: impl FnOnce(&mut Plan<N>) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut plan = self.plans.plan();
        let plan = plan.as_mut().filter(|plan| plan.asker == self.asker && !plan.is_late(now));
        match plan {
            Some(plan) if plan.epoch == epoch => {
                plan.newest = now;
                work(plan)
            }
            Some(plan) => {
                let (began, found) = (plan.epoch.number(), epoch.number());
                Err(format!("found epoch {found}, expected {began} in each piece, as at the start"))
            }
            None if self.collects => Err(LATE.into()),
            None => Err("found waypoints, or their end, without a start: send begin=COUNT first".into()),
        }
    }

    /// Adds waypoints to the plan (motion) that this client sends piece by piece. `rows` has them separated by blanks.
    ///
    /// # Errors
    /// Returns the reason why the client has no plan, or the first waypoint that is not valid.
    pub(super) fn add(&self, epoch: Epoch, rows: &str, now: Instant) -> Result<(), String> {
        self.with(epoch, now, |plan| {
            for row in rows.split_ascii_whitespace() {
                let (count, number) = (plan.heading.count, plan.waypoints.len());
                if number >= count {
                    return Err(format!(
                        "found more than {count} waypoints, expected as many as announced at the start"
                    ));
                }
                let waypoint = waypoint(row).map_err(|wrong| format!("waypoint {number}: {wrong}"))?;
                plan.waypoints
                    .try_reserve(1)
                    .map_err(|_| format!("there is no memory for more than {number} waypoints: split the motion"))?;
                plan.waypoints.push(waypoint);
            }
            Ok(())
        })
    }

    /// Converts the plan that this client has sent piece by piece to a motion.
    ///
    /// # Errors
    /// Returns the reason why the client has no plan, or why the plan is not a valid motion.
    pub(super) fn end(&mut self, epoch: Epoch, now: Instant) -> Result<Motion<N>, String> {
        self.with(epoch, now, |plan| {
            let (count, found) = (plan.heading.count, plan.waypoints.len());
            if found < count {
                return Err(format!("found {found} waypoints, expected {count}, as announced at the start"));
            }
            Ok(())
        })?;
        let Some(Plan { waypoints, heading, .. }) = self.give_up() else { return Err(LATE.into()) };
        let motion = Motion::through(waypoints).map_err(|unfit| unfit.to_string())?;
        Ok(motion.with_tolerances(heading.tolerances))
    }
}

#[cfg(test)]
mod tests;
