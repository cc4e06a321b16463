//! What received bytes become: facts, states, the knowledge of which controller this is.

use super::co_controller::{CoController, cycle_config};
use super::config::StatesFrom;
use super::event::{DownCause, Event};
use super::identity::{Identity, KnownBy};
use super::io::LinkId;
use super::path::TextPath;
use super::primary::Said;
use super::realtime::Heard;
use super::rtde::StateEvent;
use crate::kinematics::{DhParameters, KinematicChain};
use crate::law::Law;
use crate::mode::Mode;
use crate::robot::SoftwareVersion;
use crate::time::Instant;
use crate::wire::primary::Report;
use crate::wire::rtde;

impl<L: Law<6>> CoController<'_, L> {
    pub(super) fn take_primary(&mut self, count: usize, now: Instant) {
        let (link, events) = (LinkId::PRIMARY, &mut self.events);
        let (mut understood, mut speaks, mut local) = (false, false, false);
        self.primary.commit(count, now, |said, _| match said {
            Said::Software(_) | Said::State | Said::Other => understood = true,
            Said::Report(report) => {
                understood = true;
                local |= report.says_local_control();
                events.push(Event::Report(report));
            }
            Said::Frame(error) => events.push(Event::Skipped { link, error }),
            Said::Malformed(error) => {
                speaks = true;
                events.push(Event::Malformed { link, error });
            }
        });
        if understood || speaks {
            // One sub-package that cannot be used is no silence.
            self.connector.heard(link, now);
        }
        if understood {
            self.connector.greeted(link, now);
            self.compare_software(now);
            self.learn_kinematics();
            self.observe_primary_outputs(now);
            if local {
                self.take_refusal(now);
            }
        } else if !self.connector.is_greeted(link)
            && let Some(found) = self.primary.wrong_service()
        {
            self.lost(link, DownCause::WrongService(found), now);
        }
    }

    /// A primary link that comes back may show another controller, or the version that had to be guessed.
    fn compare_software(&mut self, now: Instant) {
        let Some(identity) = self.identity.filter(|identity| identity.known_by != KnownBy::Configuration) else {
            return;
        };
        let told = self.primary.facts().software;
        if self.mode() == Mode::Monitor && told.is_some_and(|software| software != identity.software) {
            self.lost(LinkId::REALTIME, DownCause::OtherController, now);
        }
    }

    /// The arm's own calibrated geometry, else what the controller is configured for, else the configured model's.
    fn learn_kinematics(&mut self) {
        let facts = self.primary.facts();
        let sent = facts.geometry.or(facts.configuration.map(|configuration| configuration.geometry));
        let parameters = sent.and_then(|g| DhParameters::from_arrays(g.theta, g.a, g.d, g.alpha).ok());
        let parameters = parameters.or(self.config.model.map(DhParameters::of));
        let tcp = self.config.tcp.or(facts.tcp_offset).unwrap_or_default();
        self.cycle.set_chain(parameters.map(|parameters| KinematicChain::new(parameters, &tcp)));
    }

    pub(super) fn take_realtime(&mut self, count: usize, arrival: Instant, now: Instant) {
        let (link, events, cycle) = (LinkId::REALTIME, &mut self.events, &mut self.cycle);
        let heeded = self.identity.is_some_and(|identity| identity.states == link);
        let full = self.realtime.window().len() <= count;
        let mut states = 0_u32;
        self.realtime.commit(count, |heard| match heard {
            Heard::State(state) => {
                states = states.saturating_add(1);
                if heeded {
                    cycle.hear(state, arrival, now, events);
                }
            }
            Heard::Frame(error) => events.push(Event::Skipped { link, error }),
            Heard::Malformed(error) => events.push(Event::Malformed { link, error }),
        });
        if states > 0 {
            self.connector.heard(link, now);
        } else if !self.connector.is_greeted(link)
            && let Some(found) = self.realtime.wrong_service()
        {
            return self.lost(link, DownCause::WrongService(found), now);
        }
        if self.identity.is_none() && !self.connector.is_greeted(link) {
            return self.known(now);
        }
        if heeded {
            self.arrivals(states, arrival, full, now);
        }
    }

    /// Bytes on the link of RTDE, with when they arrived, or its deadline.
    pub(super) fn take_rtde(&mut self, received: Option<(usize, Instant)>, now: Instant) {
        let Some(rtde) = self.rtde.as_deref_mut() else { return };
        let (link, events, cycle) = (LinkId::RTDE, &mut self.events, &mut self.cycle);
        let heeded = self.identity.is_some_and(|identity| identity.states == link);
        let arrival = received.map_or(now, |(_, arrival)| arrival);
        let full = received.is_some_and(|(count, _)| rtde.window().len() <= count);
        let (mut states, mut understood, mut software, mut unusable) = (0_u32, false, None, None);
        let mut hear = |told: StateEvent<'_>| match told {
            StateEvent::State(state) => {
                states = states.saturating_add(1);
                if heeded {
                    cycle.hear(state, arrival, now, events);
                }
            }
            StateEvent::Software(told) => software = Some(told),
            StateEvent::Understood => understood = true,
            StateEvent::Text(text) => events.push(Event::Report(Report::by_rtde(&text))),
            StateEvent::Skipped(error) => events.push(Event::Skipped { link, error }),
            StateEvent::Malformed(error) => events.push(Event::Malformed { link, error }),
            StateEvent::NotOurs(input) => events.push(Event::NotOurs(input)),
            StateEvent::Unusable(why) => unusable = unusable.or(Some(why)),
        };
        match received {
            Some((count, arrival)) => rtde.commit(count, arrival, now, &mut hear),
            None => rtde.tick(now, &mut hear),
        }
        self.told_software = software.or(self.told_software);
        if let Some(why) = unusable {
            return self.lost(link, DownCause::Rtde(why), now);
        }
        if understood || software.is_some() {
            self.connector.answered(link, now);
        }
        if states == 0 {
            return;
        }
        self.connector.heard(link, now);
        if self.identity.is_none() {
            return self.establish(link, now);
        }
        if heeded {
            self.arrivals(states, arrival, full, now);
        }
    }

    /// States of the link that is heeded were heard; `full` where the window was.
    fn arrivals(&mut self, states: u32, arrival: Instant, full: bool, now: Instant) {
        if states > 0 {
            self.arrived = Some(arrival);
        }
        // A full window means that more is likely to wait, and only the newest state is answered.
        if !full {
            self.judge(now);
        }
    }

    /// Enough is known of the controller, perhaps: the session stands, or RTDE is asked for states.
    fn known(&mut self, now: Instant) {
        let Some((_, _, oldest)) = self.realtime.known() else { return };
        let (software, _) = self.software(oldest);
        let ask = self.rtde.is_some()
            && match self.config.connect.states {
                StatesFrom::Auto => rtde::registry::exists(software),
                StatesFrom::Realtime => false,
                StatesFrom::Rtde => true,
            };
        self.told_software = None;
        if ask {
            self.connector.ask_rtde(now);
        } else {
            self.establish(LinkId::REALTIME, now);
        }
    }

    /// Which software it is, and how that is known.
    fn software(&self, oldest: SoftwareVersion) -> (SoftwareVersion, KnownBy) {
        match (self.config.software, self.primary.facts().software.or(self.told_software)) {
            (Some(software), _) => (software, KnownBy::Configuration),
            (None, Some(software)) => (software, KnownBy::Message),
            (None, None) => (oldest, KnownBy::Packet),
        }
    }

    /// The session stands, with states from this link.
    pub(super) fn establish(&mut self, states: LinkId, now: Instant) {
        let Some((packet_size, period, oldest)) = self.realtime.known() else { return };
        let (software, known_by) = self.software(oldest);
        let identity = Identity { software, known_by, packet_size, period, states };
        self.identity = Some(identity);
        self.path = Some(TextPath::new(self.config.text, software));
        self.connector.greeted(states, now);
        self.learn_kinematics();
        self.events.push(Event::Established(identity));
        self.cycle.set_limits(self.config.limits_on(software, period));
        self.cycle.establish(cycle_config(&self.config, period), now, &mut self.events);
    }
}
