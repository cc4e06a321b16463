//! A type for control laws of any kind, so that the engine is compiled once per controller in this crate and not for
//! each control law.

use std::fmt;

use outrigger_core::command::Samples;
use outrigger_core::kinematics::Posture;
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Law, LawConfig, Motion, Reference, Start, Values};
use outrigger_core::recorder::{Checkpoint, Loader, Saver};
use outrigger_core::robot::{BadValue, Reason};
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// A control law of any kind, stored on the heap.
pub struct BoxedLaw<const N: usize> {
    law: Box<dyn Law<N> + Send>,
    /// The sensors of which each step of the control law needs a reading. `None` leaves the choice to the law.
    sources: Option<Vec<SourceId>>,
}

impl<const N: usize> BoxedLaw<N> {
    /// Creates a control law that receives only the sensor readings it declares itself.
    pub fn new(law: impl Law<N> + Send + 'static) -> Self {
        Self { law: Box::new(law), sources: None }
    }

    /// Creates a control law that needs a reading of every one of the sensors `sources`, in place of those it declares
    /// itself.
    pub(crate) fn sensing(law: impl Law<N> + Send + 'static, sources: Vec<SourceId>) -> Self {
        Self { law: Box::new(law), sources: Some(sources) }
    }

    /// Creates a control law without motion, for sessions in which nothing is requested, and for recordings, which
    /// contain their own law.
    pub fn idle() -> Self {
        Self::new(AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default())))
    }
}

impl BoxedLaw<6> {
    /// Creates the control law that a configuration describes. It is compiled in this crate, like all code that runs in
    /// each cycle.
    ///
    /// # Errors
    /// Returns the first setting that the law cannot work with.
    pub fn configured(config: LawConfig<6>) -> Result<Self, BadValue> {
        AnyLaw::new(config).map(Self::new)
    }
}

impl BoxedLaw<7> {
    /// Creates the control law that a configuration describes. It is compiled in this crate, like all code that runs in
    /// each cycle.
    ///
    /// # Errors
    /// Returns the first setting that the law cannot work with.
    pub fn configured(config: LawConfig<7>) -> Result<Self, BadValue> {
        AnyLaw::new(config).map(Self::new)
    }
}

impl<const N: usize> fmt::Debug for BoxedLaw<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxedLaw").finish_non_exhaustive()
    }
}

#[warn(clippy::missing_trait_methods)]
impl<const N: usize> Law<N> for BoxedLaw<N> {
    fn needs_kinematics(&self) -> bool {
        self.law.needs_kinematics()
    }

    fn use_posture(&mut self, posture: &Posture<N>) {
        self.law.use_posture(posture);
    }

    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        self.law.arm(start)
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        self.law.step(state, samples, dt)
    }

    fn sources(&self) -> &[SourceId] {
        self.sources.as_deref().unwrap_or_else(|| self.law.sources())
    }

    fn suspend(&mut self) {
        self.law.suspend();
    }

    fn motion(&self) -> Option<&dyn Motion<N>> {
        self.law.motion()
    }

    fn motion_mut(&mut self) -> Option<&mut dyn Motion<N>> {
        self.law.motion_mut()
    }

    fn values(&self) -> Values {
        self.law.values()
    }
}

impl<const N: usize> Checkpoint for BoxedLaw<N> {
    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        self.law.save(to)
    }

    fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.law.load(from)
    }
}
