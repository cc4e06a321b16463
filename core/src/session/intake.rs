//! What received bytes become: facts, states, the knowledge of which controller this is.

use super::co_controller::{CoController, cycle_config};
use super::event::{DownCause, Event};
use super::identity::{Identity, KnownBy};
use super::io::LinkId;
use super::path::TextPath;
use super::primary::Said;
use super::realtime::Heard;
use crate::kinematics::{DhParameters, KinematicChain};
use crate::law::Law;
use crate::mode::Mode;
use crate::time::Instant;

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
                self.refuse_outputs();
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
        let established = self.identity.is_some();
        let full = self.realtime.window().len() <= count;
        let mut states = 0_u32;
        self.realtime.commit(count, |heard| match heard {
            Heard::State(state) => {
                states = states.saturating_add(1);
                if established {
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
        if !established {
            return self.establish(now);
        }
        if states > 0 {
            self.arrived = Some(arrival);
        }
        // A full window means that more is likely to wait, and only the newest state is answered.
        if !full {
            self.judge(now);
        }
    }

    /// Enough is known of the controller, perhaps: the session stands.
    fn establish(&mut self, now: Instant) {
        let Some((packet_size, period, oldest)) = self.realtime.known() else { return };
        let (software, known_by) = match (self.config.software, self.primary.facts().software) {
            (Some(software), _) => (software, KnownBy::Configuration),
            (None, Some(software)) => (software, KnownBy::Message),
            (None, None) => (oldest, KnownBy::Packet),
        };
        let identity = Identity { software, known_by, packet_size, period };
        self.identity = Some(identity);
        self.path = Some(TextPath::new(self.config.text, software));
        self.connector.greeted(LinkId::REALTIME, now);
        self.learn_kinematics();
        self.events.push(Event::Established(identity));
        self.cycle.establish(cycle_config(&self.config, period), now, &mut self.events);
    }
}
