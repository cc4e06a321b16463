//! Laws of any type behind one: an engine is compiled once for a controller, in this crate, and not again for each law.

use std::fmt;

use outrigger_core::command::{Samples, SourceId};
use outrigger_core::kinematics::{KinematicChain, Posture};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Law, Reference};
use outrigger_core::robot::{JointVelocities, Reason, State};
use outrigger_core::time::Duration;
use outrigger_core::trajectory::{Progress, Setpoint};

/// A law on the heap.
pub(crate) struct BoxedLaw<const N: usize>(Box<dyn Law<N> + Send>);

impl<const N: usize> BoxedLaw<N> {
    pub(crate) fn new(law: impl Law<N> + Send + 'static) -> Self {
        Self(Box::new(law))
    }

    /// For sessions in which nobody requests, and for recordings, which have the law in them.
    pub(crate) fn idle() -> Self {
        Self::new(AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default())))
    }
}

impl<const N: usize> fmt::Debug for BoxedLaw<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxedLaw").finish_non_exhaustive()
    }
}

impl<const N: usize> Law<N> for BoxedLaw<N> {
    fn use_kinematics(&mut self, chain: &KinematicChain<N>) {
        self.0.use_kinematics(chain);
    }

    fn use_posture(&mut self, posture: &Posture<N>) {
        self.0.use_posture(posture);
    }

    fn arm(&mut self, state: &State<N>) -> Result<(), Reason> {
        self.0.arm(state)
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        self.0.step(state, samples, dt)
    }

    fn sources(&self) -> &[SourceId] {
        self.0.sources()
    }

    fn suspend(&mut self) {
        self.0.suspend();
    }

    fn resume(&mut self, state: &State<N>) -> Result<(), Reason> {
        self.0.resume(state)
    }

    fn progress(&self) -> Progress {
        self.0.progress()
    }

    fn setpoint(&self) -> Option<&Setpoint<N>> {
        self.0.setpoint()
    }

    fn standoff_error(&self) -> Option<f32> {
        self.0.standoff_error()
    }

    fn save(&self, out: &mut [u8]) -> Option<usize> {
        self.0.save(out)
    }

    fn restore(&mut self, saved: &[u8]) -> Option<()> {
        self.0.restore(saved)
    }
}
