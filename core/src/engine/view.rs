//! The status of an engine that an application can query.

use super::Engine;
use super::config::Config;
use super::controller::Controller;
use super::io::LinkId;
use crate::command::Sources;
use crate::kinematics::KinematicChain;
use crate::law::{Law, MotionStatus};
use crate::link::{Figures, Grade, Histograms};
use crate::mode::{Evidence, Mode, ModeMachine, Operator};
use crate::robot::{Reason, ReasonSet};
use crate::trajectory::Progress;
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::Instant;

/// The status of an engine that an application can query.
impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// Returns the part of the engine that is specific to the kind of controller.
    #[must_use]
    pub const fn peer(&self) -> &P {
        &self.peer
    }

    /// Returns the present mode: whether the arm is disconnected, monitored, commanded, about to be, or being stopped.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.cycle.mode().mode()
    }

    /// Returns the mode machine, which decides when the arm may be commanded, for details beyond its mode: its counter of
    /// connections, its latched reason, its proof that commands are accepted.
    #[must_use]
    pub const fn mode_machine(&self) -> &ModeMachine {
        self.cycle.mode()
    }

    /// Returns the judge of operator actions (requests, releases, acknowledgements), with its channels and configuration.
    #[must_use]
    pub const fn operator(&self) -> &Operator {
        self.cycle.operator()
    }

    /// Returns the first reason against commanding that was latched since the last acknowledgement; `None` if none was.
    #[must_use]
    pub const fn latch(&self) -> Option<Reason> {
        self.cycle.mode().latch()
    }

    /// Returns every reason for which a request to command would be refused now.
    #[must_use]
    pub fn unmet(&self, now: Instant) -> ReasonSet {
        self.cycle.unmet(now)
    }

    /// Returns the grade of the link that delivers the states; `Unacceptable` without a session.
    #[must_use]
    pub fn grade(&self) -> Grade {
        if self.peer.is_established() { self.cycle.link().grade() } else { Grade::Unacceptable }
    }

    /// Returns the grade of the link that commanding needs to start.
    #[must_use]
    pub const fn grade_needed(&self) -> Grade {
        self.cycle.link().config().entry
    }

    /// Returns the figures at `now`, such as losses and delays, of the link that delivers the states.
    #[must_use]
    pub fn figures(&self, now: Instant) -> Figures {
        self.cycle.link().figures(now)
    }

    /// Returns the histograms of the link that delivers the states: their intervals, their ages, the times to our answers.
    #[must_use]
    pub const fn histograms(&self) -> &Histograms {
        self.cycle.link().histograms()
    }

    /// Returns the newest state of the arm in this session; `None` without a session, and before its first state.
    #[must_use]
    pub fn state(&self) -> Option<&State<N>> {
        self.cycle.state().filter(|_| self.peer.is_established())
    }

    /// Returns the evidence for and against commanding (robot and safety mode, standstill, tracking, sensors and so on) as of
    /// the newest state; the mode machine decides by it when the arm may be commanded.
    #[must_use]
    pub const fn evidence(&self) -> &Evidence {
        self.cycle.evidence()
    }

    /// Returns the joint speeds that were approved last \[rad/s\]; `None` unless commanding.
    #[must_use]
    pub fn approved(&self) -> Option<JointVelocities<N>> {
        (self.mode() == Mode::Command).then(|| self.cycle.approved())
    }

    /// Returns the joint speeds that are commanded now \[rad/s\]: the approved ones, or those of a target that is being
    /// braked; zero while nothing is commanded.
    #[must_use]
    pub fn commanded(&self) -> JointVelocities<N> {
        self.peer.commanded().or(self.approved()).unwrap_or(JointVelocities::ZERO)
    }

    /// Returns the reason that holds the motion during commanding: [`Reason::HeldByScaling`], or
    /// [`Reason::ProgramPaused`] if the program that carries or executes the motion is paused; `None` if nothing holds
    /// it. The arm continues by itself once the reason is gone.
    #[must_use]
    pub fn held_by(&self) -> Option<Reason> {
        self.cycle.held_by()
    }

    /// Returns `true` if the next command overrides a stop at the pendant: the stop cannot be detected, and the
    /// configuration allows commanding all the same. Only while commanding.
    #[must_use]
    pub const fn overrides_pendant(&self) -> bool {
        self.cycle.overrides_pendant()
    }

    /// Returns `true` if the controller has not acknowledged all bytes that were sent on `link`, by the newest report
    /// of the port (the code that does the engine's I/O).
    #[must_use]
    pub fn has_unacked(&self, link: LinkId) -> bool {
        self.peer.links().unacked.has(link)
    }

    /// Returns the monitors of the sensors, with their counters.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        self.cycle.sources()
    }

    /// Returns the law that moves the arm.
    #[must_use]
    pub const fn law(&self) -> &L {
        &self.law
    }

    /// Returns the status of the motion that the control law follows; the default if it follows none.
    #[must_use]
    pub fn motion_status(&self) -> MotionStatus {
        let status = MotionStatus::of(&self.law);
        match status.progress {
            Progress::Finished if !self.peer.has_converged() => MotionStatus { progress: Progress::Running, ..status },
            _ => status,
        }
    }

    /// Returns the control law, for example to set another motion. The limits apply to the speeds of the law as before.
    pub fn law_mut(&mut self) -> &mut L {
        self.account();
        self.record_change();
        &mut self.law
    }

    /// Returns the arm's kinematics that the law gets when it begins next. If the law needs none, these are the
    /// controller's, or else those of the configured model.
    #[must_use]
    pub fn kinematics(&self) -> Option<KinematicChain<N>> {
        self.cycle.chain().copied().or_else(|| self.peer.kinematics(&self.config))
    }

    /// Returns the configuration of the engine.
    #[must_use]
    pub const fn config(&self) -> &Config<N, P::Options> {
        &self.config
    }
}
