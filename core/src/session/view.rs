//! What can be seen of an engine from outside.

use super::co_controller::CoController;
use super::config::Config;
use super::identity::Identity;
use super::io::LinkId;
use super::primary::Facts;
use super::rtde::StateLink;
use crate::command::Sources;
use crate::frame::StreamCounts;
use crate::kinematics::KinematicChain;
use crate::law::Law;
use crate::link::{Figures, Grade, Histograms};
use crate::mode::{Evidence, Mode, ModeMachine, Operator, Pace};
use crate::robot::{JointVelocities, Reason, ReasonSet, State};
use crate::time::Instant;

impl<L: Law<6>> CoController<'_, L> {
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

    /// Grade of the link that states come from.
    #[must_use]
    pub const fn grade(&self) -> Grade {
        self.cycle.link().grade()
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
    pub fn state(&self) -> Option<&State<6>> {
        self.identity.as_ref().and(self.cycle.state())
    }

    /// Which controller this is; `None` while no session stands.
    #[must_use]
    pub const fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// What the primary link has told in its present connection.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        self.primary.facts()
    }

    /// Messages of a link's present connection.
    #[must_use]
    pub fn counts(&self, link: LinkId) -> &StreamCounts {
        match link {
            LinkId::PRIMARY => self.primary.counts(),
            LinkId::REALTIME => self.realtime.counts(),
            _ => self.rtde.as_deref().map_or(&StreamCounts::NONE, |rtde| &rtde.counts().stream),
        }
    }

    /// RTDE, where the session was given memory for it: counts of its present connection, and what was missing and late.
    #[must_use]
    pub fn rtde(&self) -> Option<&dyn StateLink> {
        self.rtde.as_deref()
    }

    /// Bytes of a link's present connection that were skipped: oversize messages, and what is no message at all.
    #[must_use]
    pub fn dropped_bytes(&self, link: LinkId) -> u64 {
        match link {
            LinkId::PRIMARY => self.primary.dropped(),
            LinkId::REALTIME => self.realtime.dropped(),
            _ => self.rtde.as_deref().map_or(0, StateLink::dropped),
        }
    }

    /// What the mode machine decides by, as of the newest state.
    #[must_use]
    pub const fn evidence(&self) -> &Evidence {
        self.cycle.evidence()
    }

    /// The joint speeds that were approved last \[rad/s\]; `None` unless commanding.
    #[must_use]
    pub fn approved(&self) -> Option<JointVelocities<6>> {
        (self.mode() == Mode::Command).then(|| self.cycle.approved())
    }

    /// Whether the robot's speed scaling is 0 while commanding, so that zero velocity goes out and the law stands.
    #[must_use]
    pub fn is_held_by_scaling(&self) -> bool {
        self.mode() == Mode::Command && self.cycle.pace() == Pace::Held
    }

    /// Whether the link has shown that it speaks what is expected of it.
    #[must_use]
    pub fn is_up(&self, link: LinkId) -> bool {
        self.connector.is_greeted(link)
    }

    /// Whether bytes of the link were reported as not acknowledged.
    #[must_use]
    pub fn has_unacked(&self, link: LinkId) -> bool {
        self.unacked.get(link.index()).is_some_and(|unacked| unacked.bytes > 0)
    }

    /// The sensors and what was counted of them.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        self.cycle.sources()
    }

    /// The law.
    #[must_use]
    pub const fn law(&self) -> &L {
        self.cycle.law()
    }

    /// The law, to give it another motion. What it asks for is held to the limits like before.
    pub fn law_mut(&mut self) -> &mut L {
        self.record_change();
        self.cycle.law_mut()
    }

    /// The arm's kinematics as the law gets them at the next arming: from the controller, else of the configured model.
    #[must_use]
    pub const fn kinematics(&self) -> Option<&KinematicChain<6>> {
        self.cycle.chain()
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }
}
