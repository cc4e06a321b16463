//! What can be seen of an engine from outside.

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

/// What can be seen of an engine from outside.
impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// What only this kind of controller has to show.
    #[must_use]
    pub const fn peer(&self) -> &P {
        &self.peer
    }

    /// The mode now.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.cycle.mode().mode()
    }

    /// The mode machine: epoch, latch, proof of acceptance, good cycles.
    #[must_use]
    pub const fn mode_machine(&self) -> &ModeMachine {
        self.cycle.mode()
    }

    /// What operators' words are judged by.
    #[must_use]
    pub const fn operator(&self) -> &Operator {
        self.cycle.operator()
    }

    /// The first reason since the last acknowledge.
    #[must_use]
    pub const fn latch(&self) -> Option<Reason> {
        self.cycle.mode().latch()
    }

    /// Everything a request would be refused for now.
    #[must_use]
    pub fn unmet(&self, now: Instant) -> ReasonSet {
        self.cycle.unmet(now)
    }

    /// Grade of the link that states come from; `Unacceptable` without a session.
    #[must_use]
    pub fn grade(&self) -> Grade {
        if self.peer.is_established() { self.cycle.link().grade() } else { Grade::Unacceptable }
    }

    /// The grade that commanding needs to begin.
    #[must_use]
    pub const fn grade_needed(&self) -> Grade {
        self.cycle.link().config().entry
    }

    /// Figures of the link that states come from at `now`.
    #[must_use]
    pub fn figures(&self, now: Instant) -> Figures {
        self.cycle.link().figures(now)
    }

    /// Histograms of the link that states come from.
    #[must_use]
    pub const fn histograms(&self) -> &Histograms {
        self.cycle.link().histograms()
    }

    /// The newest state of this session.
    #[must_use]
    pub fn state(&self) -> Option<&State<N>> {
        self.cycle.state().filter(|_| self.peer.is_established())
    }

    /// What the mode machine decides by, as of the newest state.
    #[must_use]
    pub const fn evidence(&self) -> &Evidence {
        self.cycle.evidence()
    }

    /// The joint speeds that were approved last \[rad/s\]; `None` unless commanding.
    #[must_use]
    pub fn approved(&self) -> Option<JointVelocities<N>> {
        (self.mode() == Mode::Command).then(|| self.cycle.approved())
    }

    /// The joint speeds that are commanded now \[rad/s\]: the approved ones, or those of a target that is being braked.
    #[must_use]
    pub fn commanded(&self) -> JointVelocities<N> {
        self.peer.commanded().or(self.approved()).unwrap_or(JointVelocities::ZERO)
    }

    /// Returns the reason that holds the motion while commanding lasts: [`Reason::HeldByScaling`], or for a motion which
    /// the controller executes also [`Reason::ProgramPaused`]. The arm goes on by itself once it is gone.
    #[must_use]
    pub fn held_by(&self) -> Option<Reason> {
        self.cycle.held_by()
    }

    /// Returns whether a stop at the pendant is overridden by the next command: it cannot be seen, and the configuration
    /// allows commanding all the same. Only while commanding.
    #[must_use]
    pub const fn overrides_pendant(&self) -> bool {
        self.cycle.overrides_pendant()
    }

    /// Whether bytes of the link were reported as not acknowledged.
    #[must_use]
    pub fn has_unacked(&self, link: LinkId) -> bool {
        self.peer.links().unacked.has(link)
    }

    /// The sensors and what was counted of them.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        self.cycle.sources()
    }

    /// The law.
    #[must_use]
    pub const fn law(&self) -> &L {
        &self.law
    }

    /// The state of the motion that the law follows; the default where it follows none.
    #[must_use]
    pub fn motion_status(&self) -> MotionStatus {
        let status = MotionStatus::of(&self.law);
        match status.progress {
            Progress::Finished if !self.peer.has_converged() => MotionStatus { progress: Progress::Running, ..status },
            _ => status,
        }
    }

    /// The law, to give it another motion. What it asks for is held to the limits like before.
    pub fn law_mut(&mut self) -> &mut L {
        self.account();
        self.record_change();
        &mut self.law
    }

    /// Returns the arm's kinematics: those that the law gets when it begins next. Beside a law that needs none, those of the
    /// controller, else of the configured model.
    #[must_use]
    pub fn kinematics(&self) -> Option<KinematicChain<N>> {
        self.cycle.chain().copied().or_else(|| self.peer.kinematics(&self.config))
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config<N, P::Options> {
        &self.config
    }
}
