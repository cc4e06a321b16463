//! The intake of the links: the first contact, messages and states, and the consequences of their loss.

use super::super::command_path::ProgramConfig;
use super::super::config::{StatesFrom, UrOptions};
use super::super::event::{DownCause, Next, ProgramEvent, UrEvent};
use super::super::identity::{Identity, VersionSource};
use super::super::outputs::Known;
use super::super::primary::PrimaryEvent;
use super::super::realtime::RealtimeEvent;
use super::super::reverse::{Reverse, exclusive};
use super::super::rtde::StateEvent;
use super::{Cx, Ur, arrived};
use crate::client::rtde::Input as RtdeInput;
use crate::engine::io::{Endpoint, LinkId};

use crate::link::Unacked;
use crate::mode::Mode;
use outrigger_wire::primary::Report;
#[cfg(feature = "programs")]
use outrigger_wire::robot::ProgramState;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde;
use outrigger_wire::time::Instant;

impl Ur<'_> {
    pub(super) fn opened(&mut self, link: LinkId, cx: &mut Cx<'_, '_>) {
        if !self.connector.opened(link, cx.now) {
            return;
        }
        match link {
            LinkId::PRIMARY => self.begin_primary(),
            LinkId::REALTIME => self.realtime.reset(),
            _ => self.rtde.iter_mut().for_each(|rtde| rtde.handle(cx.now, RtdeInput::Opened)),
        }
        self.unacked.get_mut(link.index()).into_iter().for_each(Unacked::clear);
        cx.events.push_peer(UrEvent::Opened(link));
    }

    pub(super) fn begin_primary(&mut self) {
        self.primary.reset();
        self.other = false;
        self.refusal.forget();
    }

    /// Records that a connection which a program on the controller, or the URCap, makes to us is lost, or that listening for
    /// it failed.
    pub(super) fn lost_program(&mut self, link: LinkId, cause: DownCause, cx: &mut Cx<'_, '_>) {
        let Some(program) = exclusive(&mut self.program) else { return };
        if link == LinkId::REVERSE {
            self.unacked.get_mut(link.index()).into_iter().for_each(Unacked::clear);
        }
        let news = match cause {
            DownCause::Refused => {
                let next = Next::Retry(program.refused(link, cx.now));
                let ProgramConfig { port, script_port, trajectory_port, command_port, .. } = cx.config.peer.program;
                let port = match link {
                    LinkId::SCRIPT => script_port,
                    LinkId::TRAJECTORY => trajectory_port,
                    LinkId::COMMAND => command_port,
                    _ => port,
                };
                let endpoint = Endpoint { port };
                cx.events.push_peer(UrEvent::Down { link, endpoint, cause, next });
                None
            }
            _ if link == LinkId::SCRIPT => program.answered(),
            _ if link != LinkId::REVERSE => program.closed_beside(link),
            DownCause::Unacknowledged => {
                program.hang_up_now();
                None
            }
            _ => program.closed(),
        };
        news.into_iter().for_each(|news| cx.events.push_peer(UrEvent::Program(news)));
    }

    /// Records that a link to the controller is lost, or was closed by us.
    pub(super) fn lost(&mut self, link: LinkId, cause: DownCause, cx: &mut Cx<'_, '_>) {
        if link.index() >= LinkId::REVERSE.index() {
            return self.lost_program(link, cause, cx);
        }
        let Some((endpoint, next)) = self.connector.lost(link, cause, cx.now) else { return };
        cx.events.push_peer(UrEvent::Down { link, endpoint, cause, next });
        self.unacked.get_mut(link.index()).into_iter().for_each(Unacked::clear);
        if link == LinkId::PRIMARY {
            // In Monitor the other source may replace it from now on; while commanding, the silence must be noticed as
            // such.
            if matches!(cx.cycle.mode_now(), Mode::Offline | Mode::Monitor) {
                self.begin_primary();
            }
            return;
        }
        if link == LinkId::RTDE && next == Next::Without {
            self.rtde.iter_mut().for_each(|rtde| rtde.handle(cx.now, RtdeInput::Closed));
            return self.establish(LinkId::REALTIME, cx);
        }
        self.forget_session(cx);
        cx.cycle.link_lost(cx.now, cause.reason(), cx.events);
    }

    pub(super) fn forget_session(&mut self, cx: &mut Cx<'_, '_>) {
        self.rtde.iter_mut().for_each(|rtde| rtde.handle(cx.now, RtdeInput::Closed));
        self.motion.close();
        exclusive(&mut self.program).into_iter().for_each(Reverse::close);
        self.outputs.forget(cx.events);
        self.identity = None;
        cx.cycle.take_arrival();
    }

    pub(super) fn take_primary(&mut self, count: usize, cx: &mut Cx<'_, '_>) {
        let (link, events) = (LinkId::PRIMARY, &mut *cx.events);
        let (mut understood, mut speaks, mut local) = (false, false, false);
        self.primary.commit(count, cx.now, |said, _| match said {
            PrimaryEvent::Software(_) | PrimaryEvent::State | PrimaryEvent::Other => understood = true,
            PrimaryEvent::Report(report) => {
                understood = true;
                local |= report.says_local_control();
                events.push_peer(UrEvent::Report(report));
            }
            PrimaryEvent::Frame(error) => events.push_peer(UrEvent::Skipped { link, error }),
            PrimaryEvent::Malformed(error) => {
                speaks = true;
                events.push_peer(UrEvent::Malformed { link, error });
            }
        });
        if understood || speaks {
            // A message with one unusable sub-package is no silence.
            self.connector.heard(link, cx.now);
        }
        if understood {
            self.connector.greeted(link, cx.now);
            self.compare_software(cx);
            self.other = self.mismatch(cx.config).is_some();
            cx.cycle.learn();
            let known = Known {
                identity: self.identity,
                facts: self.primary.facts(),
                config: cx.config,
                mode: cx.cycle.mode_now(),
            };
            self.outputs.observe_primary(&known, cx.cycle.state(), cx.now, cx.events);
            if local {
                self.refused(cx);
            }
        } else if !self.connector.is_greeted(link)
            && let Some(found) = self.primary.wrong_service()
        {
            self.lost(link, DownCause::WrongService(found), cx);
        }
    }

    /// Ends the session, in `Monitor` only, if the primary link reports another software version than the session's: another
    /// controller, or a version that had to be guessed before. A configured version is kept.
    pub(super) fn compare_software(&mut self, cx: &mut Cx<'_, '_>) {
        let Some(identity) = self.identity.filter(|identity| identity.known_by != VersionSource::Configuration) else {
            return;
        };
        let software = self.primary.facts().software;
        if cx.cycle.mode_now() == Mode::Monitor && software.is_some_and(|software| software != identity.software) {
            self.lost(LinkId::REALTIME, DownCause::OtherController, cx);
        }
    }

    pub(super) fn take_realtime(&mut self, count: usize, arrival: Instant, cx: &mut Cx<'_, '_>) -> bool {
        let (link, now) = (LinkId::REALTIME, cx.now);
        let (events, cycle) = (&mut *cx.events, &mut *cx.cycle);
        let heeded = self.identity.is_some_and(|identity| identity.states == link);
        let full = self.realtime.window().len() <= count;
        let mut states = 0_u32;
        self.realtime.commit(count, |heard| match heard {
            RealtimeEvent::State(state) => {
                states = states.saturating_add(1);
                if heeded {
                    cycle.hear(state, arrival, now, events);
                }
            }
            RealtimeEvent::Frame(error) => events.push_peer(UrEvent::Skipped { link, error }),
            RealtimeEvent::Malformed(error) => events.push_peer(UrEvent::Malformed { link, error }),
        });
        if states > 0 {
            self.connector.heard(link, now);
        } else if !self.connector.is_greeted(link)
            && let Some(found) = self.realtime.wrong_service()
        {
            self.lost(link, DownCause::WrongService(found), cx);
            return false;
        }
        if self.identity.is_none() && !self.connector.is_greeted(link) {
            self.detect(cx);
            return false;
        }
        heeded && arrived(states, arrival, full, cx)
    }

    /// Takes bytes on the link of RTDE, with the time of their arrival, or handles the deadline of the link. Returns `true`
    /// if states of the arm arrived that are to be judged at once.
    pub(super) fn take_rtde(&mut self, received: Option<(usize, Instant)>, cx: &mut Cx<'_, '_>) -> bool {
        let Some(rtde) = self.rtde.as_deref_mut() else { return false };
        let (link, now) = (LinkId::RTDE, cx.now);
        let (events, cycle) = (&mut *cx.events, &mut *cx.cycle);
        let heeded = self.identity.is_some_and(|identity| identity.states == link);
        let arrival = received.map_or(now, |(_, arrival)| arrival);
        let full = received.is_some_and(|(count, _)| rtde.receive_window().len() <= count);
        let (mut states, mut understood, mut software, mut unusable) = (0_u32, false, None, None);
        match received {
            Some((count, arrival)) => rtde.commit(count, arrival, now),
            None => rtde.handle(now, RtdeInput::Tick),
        }
        while let Some(event) = rtde.poll_event() {
            match event {
                StateEvent::State(state) => {
                    states = states.saturating_add(1);
                    if heeded {
                        cycle.hear(&state, arrival, now, events);
                    }
                }
                StateEvent::Software(version) => software = Some(version),
                StateEvent::Understood => understood = true,
                StateEvent::Text(text) => events.push_peer(UrEvent::Report(Report::by_rtde(&text))),
                StateEvent::Skipped(error) => events.push_peer(UrEvent::Skipped { link, error }),
                StateEvent::Malformed(error) => events.push_peer(UrEvent::Malformed { link, error }),
                StateEvent::UnownedInput(input) => {
                    understood = true;
                    events.push_peer(UrEvent::UnownedInput(input));
                }
                StateEvent::Unusable(why) => unusable = unusable.or(Some(why)),
                StateEvent::Unexpected => {}
            }
        }
        self.software = software.or(self.software);
        if let Some(why) = unusable {
            self.lost(link, DownCause::Rtde(why), cx);
            return false;
        }
        if understood || software.is_some() {
            self.connector.answered(link, now);
        }
        if states == 0 {
            return false;
        }
        #[cfg(feature = "programs")]
        if heeded
            && let Some(program) = exclusive(&mut self.program).filter(|program| program.by_registers())
            && let Some(said) = rtde.mirrored()
        {
            let shown = cycle.state().and_then(|state| state.program_state);
            let ends = matches!(shown, Some(ProgramState::Stopping | ProgramState::Stopped));
            let news = program.shows(said, !ends, arrival);
            news.into_iter().for_each(|news| events.push_peer(UrEvent::Program(news)));
            if let Some(figures) = program.figures(now) {
                cycle.set_answers(figures);
            }
        }
        self.connector.heard(link, now);
        if self.identity.is_none() {
            self.establish(link, cx);
            return false;
        }
        heeded && arrived(states, arrival, full, cx)
    }

    /// Establishes the session, or opens RTDE for its states, once the packets of the real-time link identify the controller.
    pub(super) fn detect(&mut self, cx: &mut Cx<'_, '_>) {
        let Some((_, _, oldest)) = self.realtime.known() else { return };
        let (software, _) = self.software(oldest, &cx.config.peer);
        let ask = self.rtde.is_some()
            && match cx.config.peer.connect.states {
                StatesFrom::Auto => rtde::registry::exists(software),
                StatesFrom::Realtime => false,
                StatesFrom::Rtde => true,
            };
        self.software = None;
        if ask {
            self.connector.ask_rtde(cx.now);
        } else {
            self.establish(LinkId::REALTIME, cx);
        }
    }

    /// Returns the software version of the controller, and the source of that knowledge.
    pub(super) fn software(&self, oldest: SoftwareVersion, options: &UrOptions) -> (SoftwareVersion, VersionSource) {
        match (options.software, self.primary.facts().software.or(self.software)) {
            (Some(software), _) => (software, VersionSource::Configuration),
            (None, Some(software)) => (software, VersionSource::Message),
            (None, None) => (oldest, VersionSource::Packet),
        }
    }

    /// Establishes the session with the controller, with states from this link.
    pub(super) fn establish(&mut self, states: LinkId, cx: &mut Cx<'_, '_>) {
        let Some((packet_size, period, oldest)) = self.realtime.known() else { return };
        let (software, known_by) = self.software(oldest, &cx.config.peer);
        let identity = Identity { software, known_by, packet_size, period, states };
        self.identity = Some(identity);
        self.other = self.mismatch(cx.config).is_some();
        self.motion.open(cx.config.peer.text, software);
        if let Some(program) = exclusive(&mut self.program) {
            let without_states = program.by_registers() && states != LinkId::RTDE;
            self.unfit = without_states || cx.config.peer.unfit(software).is_some();
            program.open(software, period, cx.config);
            if self.unfit {
                cx.events.push_peer(UrEvent::Program(ProgramEvent::Unfit));
            }
        }
        self.connector.greeted(states, cx.now);
        cx.cycle.learn();
        cx.events.push_peer(UrEvent::Established(identity));
        cx.cycle.set_limits(cx.config.limits_on(software, period));
        cx.cycle.establish(cx.config.cycle(period, states == LinkId::RTDE), cx.now, cx.events);
    }
}
