//! What a session tells when it is asked.

use core::net::SocketAddr;

use super::FriSession;
use crate::command::Sources;
use crate::law::Law;
use crate::link::{Figures, Histogram, Histograms};
use crate::mode::{Mode, ModeMachine, Operator};
use crate::robot::{JointVelocities, Reason, ReasonSet, State};
use crate::session::fri::handshake::KrlHandshake;
use crate::session::fri::io::{FriCounts, PeerReport};
use crate::time::{Duration, Instant};
use crate::wire::fri::{ControlScheme, FriState, JOINTS, KrlVariables, Quality};

impl<L: Law<JOINTS>, H: KrlHandshake> FriSession<L, H> {
    /// The mode now.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.cycle.mode().mode()
    }

    /// The mode machine, for reports.
    #[must_use]
    pub const fn mode_machine(&self) -> &ModeMachine {
        self.cycle.mode()
    }

    /// What operators' words are judged by.
    #[must_use]
    pub const fn operator(&self) -> &Operator {
        self.cycle.operator()
    }

    /// The sensors.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        self.cycle.sources()
    }

    /// The reason that ended commanding, until it is acknowledged.
    #[must_use]
    pub const fn latch(&self) -> Option<Reason> {
        self.cycle.mode().latch()
    }

    /// Everything a request would be refused for now.
    #[must_use]
    pub fn unmet(&self, now: Instant) -> ReasonSet {
        self.cycle.unmet(now)
    }

    /// The newest state of the arm.
    #[must_use]
    pub const fn state(&self) -> Option<&State<JOINTS>> {
        self.cycle.state()
    }

    /// The speed of the newest commanded step \[rad/s\].
    #[must_use]
    pub const fn commanded(&self) -> JointVelocities<JOINTS> {
        self.target.speed()
    }

    /// Our own figures of the link. The KRC's are in its measurements.
    #[must_use]
    pub fn figures(&self, now: Instant) -> Figures {
        self.cycle.link().figures(now)
    }

    /// Histograms of the link.
    #[must_use]
    pub const fn histograms(&self) -> &Histograms {
        self.cycle.link().histograms()
    }

    /// From each command to the measurement that reflects it: contains the KRC's wait for its next cycle.
    #[must_use]
    pub const fn round_trips(&self) -> &Histogram {
        &self.round_trips
    }

    /// Changes of the way's length from measurement to measurement, either way: what RFC 3550's jitter is the mean of.
    #[must_use]
    pub const fn jitters(&self) -> &Histogram {
        &self.jitters
    }

    /// What was counted.
    #[must_use]
    pub const fn counts(&self) -> FriCounts {
        self.counts
    }

    /// State of the interface on the KRC, as the newest measurement says.
    #[must_use]
    pub fn peer_state(&self) -> Option<FriState> {
        self.newest.as_ref().map(|newest| newest.told.state)
    }

    /// The KRC's own rating of the link, as the newest measurement says.
    #[must_use]
    pub fn peer_quality(&self) -> Option<Quality> {
        self.newest.as_ref().map(|newest| newest.told.quality)
    }

    /// What the KRC says of the link and of its drives, in the newest measurement.
    #[must_use]
    pub fn peer_report(&self) -> Option<PeerReport> {
        self.newest.as_ref().map(|newest| newest.report)
    }

    /// The control scheme on the KRC, as the newest measurement says.
    #[must_use]
    pub fn peer_scheme(&self) -> Option<ControlScheme> {
        self.newest.as_ref().map(|newest| newest.told.scheme)
    }

    /// Period of the measurements, while there is a peer.
    #[must_use]
    pub const fn period(&self) -> Option<Duration> {
        self.period
    }

    /// The peer.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer.address()
    }

    /// What the KRL program wrote last.
    #[must_use]
    pub fn krl(&self) -> Option<&KrlVariables> {
        self.newest.as_ref().map(|newest| &newest.krl)
    }

    /// What the KRL program reads from the next command on. The handshake writes its own variables over it.
    pub const fn krl_mut(&mut self) -> &mut KrlVariables {
        &mut self.krl
    }

    /// The law.
    #[must_use]
    pub const fn law(&self) -> &L {
        self.cycle.law()
    }

    /// The law, for its references.
    pub const fn law_mut(&mut self) -> &mut L {
        self.cycle.law_mut()
    }
}
