//! How an arm follows a motion: what a page plots.

use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Progress;
use outrigger_wire::robot::{ControllerTime, JointPositions};
use outrigger_wire::time::Duration;

/// Moments that are kept for a page; where there are more, every second one is left out.
const KEPT: usize = 16_384;

/// How an arm follows a motion.
#[derive(Clone, Debug)]
pub struct Trace<const N: usize> {
    /// Where it is wanted and where it is, and when by the controller's clock, from the first of them.
    pub moments: Vec<Moment<N>>,
    /// How far each joint was off at most while the motion ran \[rad\].
    pub(crate) worst: JointPositions<N>,
    /// How much of the motion's own time has passed.
    pub elapsed: Duration,
    pub(crate) progress: Progress,
    /// How much of it has passed since the motion's end.
    pub late: Duration,
    /// The mode of the session.
    pub mode: Mode,
    /// The reason that holds it; it goes on by itself.
    pub held: Option<Reason>,
    /// The newest measured joints, of whatever mode \[rad\].
    pub(crate) at: Option<JointPositions<N>>,
    /// Somebody has ended it on its way.
    pub(crate) cancelled: bool,
    /// Each so manieth moment is kept.
    stride: u32,
    skipped: u32,
    first: Option<ControllerTime>,
}

/// One state while the motion runs.
#[derive(Clone, Copy, Debug)]
pub struct Moment<const N: usize> {
    /// The time since the first moment, by the controller's clock \[s\].
    pub seconds: f64,
    /// The joint positions that the motion wants \[rad\].
    pub wanted: JointPositions<N>,
    /// The measured joint positions \[rad\].
    pub actual: JointPositions<N>,
    /// What the robot's slider and limiter let through.
    pub scaling: f32,
}

impl<const N: usize> Default for Trace<N> {
    fn default() -> Self {
        Self {
            moments: Vec::with_capacity(KEPT),
            worst: JointPositions::ZERO,
            elapsed: Duration::ZERO,
            progress: Progress::Waiting,
            late: Duration::ZERO,
            mode: Mode::Offline,
            held: None,
            at: None,
            cancelled: false,
            stride: 1,
            skipped: 0,
            first: None,
        }
    }
}

impl<const N: usize> Trace<N> {
    pub(super) fn note(&mut self, at: ControllerTime, mut moment: Moment<N>) {
        let first = *self.first.get_or_insert(at);
        moment.seconds = at.since(first).as_micros() as f64 * 1e-6;
        let off = moment.actual.zip_with(moment.wanted.as_array(), |q, w| (q - w).abs());
        self.worst = self.worst.zip_with(off.as_array(), |a, b| a.max(*b));
        self.skipped += 1;
        if self.skipped < self.stride {
            return;
        }
        self.skipped = 0;
        if self.moments.len() == KEPT {
            let mut keep = false;
            self.moments.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.moments.push(moment);
    }
}
