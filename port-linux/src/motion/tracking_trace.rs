//! A record of how an arm follows a motion, for plots on a page.

use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Progress;
use outrigger_wire::robot::{ControllerTime, JointPositions};
use outrigger_wire::time::Duration;

/// The maximum number of samples in the record of a motion. When it is reached, every second sample is removed.
const KEPT: usize = 16_384;

/// A record of how closely an arm follows a motion: samples of setpoints and measured joint positions.
#[derive(Clone, Debug)]
pub struct Trace<const N: usize> {
    /// The samples: the reference and the measured positions, with the controller's time since the first of them.
    pub moments: Vec<Moment<N>>,
    /// The largest tracking error of each joint while the motion ran \[rad\].
    pub(crate) worst: JointPositions<N>,
    /// The part of the motion that was completed, as time since its start at full speed.
    pub elapsed: Duration,
    pub(crate) progress: Progress,
    /// The time since the end of the motion's duration, while the arm still approaches the goal.
    pub late: Duration,
    /// The mode of the session that executes the motion.
    pub mode: Mode,
    /// The reason why the motion is held (paused, e.g. by the speed slider) at present. It continues by itself when
    /// this reason ends. `None` if it is not held.
    pub held: Option<Reason>,
    /// The newest measured joint positions, in any mode of the session \[rad\]. `None` if there are none.
    pub(crate) at: Option<JointPositions<N>>,
    /// `true` if the motion was cancelled on request.
    pub(crate) cancelled: bool,
    /// The number of robot states per sample: every `stride`th state is recorded.
    stride: u32,
    skipped: u32,
    first: Option<ControllerTime>,
}

/// A sample of the arm's positions in one state while the motion runs.
#[derive(Clone, Copy, Debug)]
pub struct Moment<const N: usize> {
    /// The time since the first sample of the motion, by the controller's clock \[s\].
    pub seconds: f64,
    /// The joint positions of the motion's reference at this time \[rad\].
    pub wanted: JointPositions<N>,
    /// The measured joint positions in the robot state at this time \[rad\].
    pub actual: JointPositions<N>,
    /// The fraction of the speed that the robot's slider and limiter permit.
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
