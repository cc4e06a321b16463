//! The readings of sensors in the form in which a control law receives them.

#[cfg(feature = "motions")]
use super::{AddedSlot, TorqueSlot};
use crate::robot::Reason;
use outrigger_wire::robot::{JointTorques, JointVelocities, Wrench};
use outrigger_wire::sensor::{Sample, SourceId};

/// The newest sensor readings that a control law may use in this cycle, and the limits of its output.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    readings: &'a [Sample],
    #[cfg(feature = "programs")]
    most_feedback: f32,
    #[cfg(feature = "motions")]
    torques: Option<&'a TorqueSlot>,
    #[cfg(feature = "motions")]
    added: Option<&'a AddedSlot>,
}

impl<'a> Samples<'a> {
    /// An empty set of sensor readings, for laws that need none.
    pub const NONE: Samples<'static> = Samples::new(&[]);

    /// Creates a set of these sensor readings, one for each sensor.
    #[must_use]
    pub const fn new(samples: &'a [Sample]) -> Self {
        Self {
            readings: samples,
            #[cfg(feature = "programs")]
            most_feedback: f32::INFINITY,
            #[cfg(feature = "motions")]
            torques: None,
            #[cfg(feature = "motions")]
            added: None,
        }
    }

    /// Returns the sensor readings with `most` as the limit of the law's feedback gain \[1/s\], for an arm that
    /// receives positions and shows their effect late.
    #[cfg(feature = "programs")]
    pub(crate) const fn with_most_feedback(mut self, most: f32) -> Self {
        self.most_feedback = most;
        self
    }

    /// Returns these sensor readings together with `slot`, in which the law stores joint torques: for a controller that
    /// takes torques in place of speeds.
    #[cfg(feature = "motions")]
    pub(crate) const fn taking_torques(mut self, slot: &'a TorqueSlot) -> Self {
        self.torques = Some(slot);
        self
    }

    /// Returns these sensor readings together with `slot`, in which the law stores the torques or the wrench that the
    /// controller adds to its own control law; `None` if it adds nothing.
    #[cfg(feature = "motions")]
    pub(crate) const fn taking_added(mut self, slot: Option<&'a AddedSlot>) -> Self {
        self.added = slot;
        self
    }

    /// Returns the highest torque of each joint \[Nm\] if torques are sent in place of speeds; `None` if speeds are
    /// sent.
    #[must_use]
    pub fn torque_limits<const N: usize>(&self) -> Option<JointTorques<N>> {
        #[cfg(feature = "motions")]
        return self.torques.map(TorqueSlot::most);
        #[cfg(not(feature = "motions"))]
        None
    }

    /// Commands these joint torques \[Nm\] in this cycle, in addition to what holds the arm against gravity. Returns
    /// the speeds that the law's step must return then: zero, because they are not used.
    ///
    /// # Errors
    /// [`Reason::PathUnfit`] if speeds are sent to the controller, not torques.
    pub fn command_torques<const N: usize>(&self, torques: &JointTorques<N>) -> Result<JointVelocities<N>, Reason> {
        #[cfg(feature = "motions")]
        if let Some(slot) = self.torques {
            slot.put(torques);
            return Ok(JointVelocities::ZERO);
        }
        let _ = torques;
        Err(Reason::PathUnfit)
    }

    /// Adds these torques \[Nm\] to the controller's own control law of the joints in this cycle, beside the speeds
    /// that the step returns and in place of the constant ones of the configuration: a KUKA LWR does that in joint
    /// impedance. Their limits and their time to rise are settings ([`AddedLimits`](crate::engine::krc::AddedLimits)).
    ///
    /// # Errors
    /// [`Reason::PathUnfit`] if the controller is commanded in another way, or its KRL program determines the added
    /// torques.
    pub fn add_torques<const N: usize>(&self, torques: &JointTorques<N>) -> Result<(), Reason> {
        #[cfg(feature = "motions")]
        if let Some(slot) = self.added {
            return slot.put_torques(torques);
        }
        let _ = torques;
        Err(Reason::PathUnfit)
    }

    /// Adds this force and torque \[N, Nm\] to the controller's own control law of the tool in this cycle, like
    /// [`add_torques`](Self::add_torques): a KUKA LWR does that in Cartesian impedance, along the axes of its task
    /// frame.
    ///
    /// # Errors
    /// [`Reason::PathUnfit`] if the controller is commanded in another way, or its KRL program determines the added
    /// wrench.
    pub fn add_wrench(&self, wrench: &Wrench) -> Result<(), Reason> {
        #[cfg(feature = "motions")]
        if let Some(slot) = self.added {
            return slot.put_wrench(wrench);
        }
        let _ = wrench;
        Err(Reason::PathUnfit)
    }

    /// Returns the highest permitted speed per error of a law's feedback \[1/s\]. An arm that receives positions shows
    /// their effect late, and would oscillate about its reference with a higher gain. Infinite if speeds are sent.
    #[must_use]
    pub const fn most_feedback(&self) -> f32 {
        #[cfg(feature = "programs")]
        return self.most_feedback;
        #[cfg(not(feature = "programs"))]
        f32::INFINITY
    }

    /// Returns the reading of this sensor; `None` if the set has none.
    #[must_use]
    pub fn of(&self, source: SourceId) -> Option<&'a Sample> {
        self.readings.iter().find(|s| s.source == source)
    }

    /// Returns the first value of this sensor's reading; fails if there is no reading.
    ///
    /// # Errors
    /// [`Reason::SourceStale`] if there is no reading.
    pub fn first(&self, source: SourceId) -> Result<f32, Reason> {
        self.of(source).map(|sample| sample.value.first()).ok_or(Reason::SourceStale)
    }
}
