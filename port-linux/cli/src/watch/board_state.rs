//! Keeps the state of one board, as received in its telemetry.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use outrigger_core::engine::krc::Krc;
use outrigger_core::engine::ur::{Ur, link_name};
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::link::{Bin, Grade, GradeChange, GradeLow};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_remote::telemetry::{
    Datagram, HistogramKind, HistogramReport, LinkActivity, Message, PeerDatagram, PortReport, Recording,
    TelemetryError,
};
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::{Duration, Instant};

use super::boot;
use super::chunk_reassembly::{Pieces, Taken};
use super::datagram_limits::{Bounds, RECORDING_MOST, SETTINGS_MOST, name};
use super::network_counters::Network;
use super::say;
use outrigger::host::clock::utc_now;
use outrigger::show::condition_log::Episodes;
use outrigger::show::events::{PeerEvent, Surroundings, name_figures, notice, time_of};
use outrigger::show::grade::LastSeconds;
use outrigger::show::reason_text::Observer;
use outrigger::show::{Arm, Notice, Snapshot};
use outrigger::vendor::{BoardSession, OnBoard};

/// The state of one board, as known from its telemetry.
#[derive(Debug)]
pub(super) struct Device {
    address: IpAddr,
    /// `true` if the board's recordings are written to files.
    writes: bool,
    /// A completely received recording of the board, until it is written to a file.
    dump: Option<Dump>,
    bounds: Bounds,
    strangers: u64,
    refused: Option<(u64, TelemetryError)>,
    /// The time of the board's newest datagram. `None` before the first one, and once the board's silence was reported.
    heard: Option<Instant>,
    received: u64,
    lost: u64,
    /// The number that identifies the board's present start, and the sequence number of the datagram that is expected
    /// next. `None` before the first one.
    run: Option<(u32, u32)>,
    /// The difference of this process's clock minus the board's \[µs\], according to the datagram with the shortest
    /// delay.
    ahead: Option<i64>,
    about: String,
    standing: Option<BoardSession>,
    arm: Option<Arm>,
    /// The newest reading of the board's first sensor.
    sample: Option<Sample>,
    intervals: Vec<Bin>,
    sensors: outrigger_wire::sensor::Figures,
    troubles: [Option<String>; LinkId::MOST],
    /// The traffic that the board has received from the robot's address, as counted by the board.
    robot_heard: LinkActivity,
    /// The result of the last release of the arm's brakes that was requested by a contact wired to the board.
    brakes: Option<String>,
    network: Network,
    stack_unused: Option<u32>,
    /// The lines that describe the board's last start, as they were displayed.
    began: Vec<String>,
    settings: Pieces,
    robot: Option<Ipv4Addr>,
    /// The number of the board's newest fallback (an end of commanding by a fault), and its recording as far as it was
    /// received.
    recording: (u32, Pieces),
    written: Option<u32>,
    /// `true` if the recording of the board's previous run was received completely, so that its repetitions are
    /// ignored.
    written_before: bool,
    rate: (Instant, u64, f32),
    last_fallback: Option<Reason>,
    /// The figures of the board's link in the last ten seconds, which explain a low grade of the link.
    last_seconds: LastSeconds,
    /// The cause of a low link grade, stored for the refusal or the end of commanding that follows from it.
    low: Option<GradeLow>,
    /// The periods in which the link's grade was too low for commanding, of which each is reported as one notice.
    episodes: Episodes,
}

/// A recording that a board has sent completely.
#[derive(Debug)]
pub(super) struct Dump {
    /// A description of the recorded occasion: a fallback of the board, or an earlier run that ended in a restart.
    pub(super) of: String,
    /// The beginning of the name of the recording's file.
    pub(super) stem: String,
    pub(super) bytes: Vec<u8>,
}

impl Device {
    /// Creates the state of a board from which nothing was received; `writes` is `true` if its recordings are to be
    /// written.
    pub(super) fn new(address: IpAddr, writes: bool) -> Self {
        Self {
            address,
            writes,
            dump: None,
            bounds: Bounds::new(),
            strangers: 0,
            refused: None,
            heard: None,
            received: 0,
            lost: 0,
            run: None,
            ahead: None,
            about: String::new(),
            standing: None,
            arm: None,
            sample: None,
            intervals: Vec::new(),
            sensors: outrigger_wire::sensor::Figures::default(),
            troubles: [const { None }; LinkId::MOST],
            robot_heard: LinkActivity::default(),
            brakes: None,
            network: Network::default(),
            stack_unused: None,
            began: Vec::new(),
            settings: Pieces::new(SETTINGS_MOST),
            robot: None,
            recording: (0, Pieces::new(RECORDING_MOST)),
            written: None,
            written_before: false,
            rate: (Instant::ZERO, 0, 0.0),
            last_fallback: None,
            last_seconds: LastSeconds::default(),
            low: None,
            episodes: Episodes::default(),
        }
    }

    /// Returns `true` if no valid datagram of the board was ever received.
    pub(super) const fn is_unheard(&self) -> bool {
        self.received == 0
    }

    /// Returns `true` if the board has sent a datagram, and its silence has not been reported since then.
    pub(super) const fn is_talking(&self) -> bool {
        self.heard.is_some()
    }

    /// Returns the number of datagrams from other addresses than the board's.
    pub(super) const fn strangers(&self) -> u64 {
        self.strangers
    }

    /// Returns the number of the board's datagrams that could not be decoded, with the last error; `None` if there
    /// were none.
    pub(super) const fn refused(&self) -> Option<(u64, TelemetryError)> {
        self.refused
    }

    /// Returns the time at which the board's silence, if it lasts, reaches `span`; `None` before the first datagram,
    /// and once its silence is reported.
    pub(super) fn silent_at(&self, span: Duration) -> Option<Instant> {
        self.heard.map(|at| at + span)
    }

    /// Returns the notice that the board no longer sends telemetry. The board counts as silent until its next datagram,
    /// so that each period of silence is reported once.
    pub(super) fn fallen_silent(&mut self, now: Instant) -> Notice {
        let text = format!("{}: is it powered, its cable plugged in?", self.silence());
        self.heard = None;
        say(now, "silent", text)
    }

    /// Returns the notice about a period of a low grade of the board's link that is due at `now`; `None` if none is
    /// due. `last` is `true` if `outrigger watch` ends now, so that an unfinished period is reported, too.
    pub(super) fn episode(&mut self, now: Instant, last: bool) -> Option<Notice> {
        self.episodes.next(now, last, false, Observer::Board)
    }

    fn silence(&self) -> String {
        format!("no data from {}", self.address)
    }

    /// Processes a datagram of telemetry, and returns the notices to show.
    pub(super) fn take(&mut self, from: IpAddr, bytes: &[u8], now: Instant) -> Vec<Notice> {
        if from != self.address {
            self.strangers += 1;
            let text = format!("{from} sends datagrams too; only those of {} are used", self.address);
            return if self.strangers == 1 { vec![say(now, "stranger", text)] } else { vec![] };
        }
        let mut notices = Vec::new();
        let taken = match PeerDatagram::<6, Ur<'_>>::decode(bytes) {
            Ok(datagram) => {
                self.hear(datagram, now, &mut notices);
                Ok(())
            }
            Err(TelemetryError::OtherKind) => PeerDatagram::<7, Krc>::decode(bytes).map(|datagram| {
                self.hear(datagram, now, &mut notices);
            }),
            Err(error) => Err(error),
        };
        if let Err(error) = taken {
            let count = self.refused.map_or(0, |(count, _)| count);
            self.refused = Some((count + 1, error));
            return if count == 0 { vec![say(now, "refused", error.to_string())] } else { vec![] };
        }
        self.bounds.lines(&mut notices, now);
        notices
    }

    fn hear<const N: usize, S: OnBoard<N>, E: PeerEvent>(
        &mut self,
        datagram: Datagram<'_, N, S, E>,
        now: Instant,
        notices: &mut Vec<Notice>,
    ) {
        self.heard = Some(now);
        self.received += 1;
        self.follow(datagram.boot, datagram.sequence, now, notices);
        let ahead = micros(now).saturating_sub(micros(datagram.at));
        let ahead = *self.ahead.insert(self.ahead.map_or(ahead, |known| known.min(ahead)));
        let at = ours(datagram.at, ahead);
        match datagram.message {
            Message::Status(mut status) => {
                status.link.fell = status.link.fell.map(|fell| GradeChange { at: ours(fell.at, ahead), ..fell });
                self.last_fallback = status.latch.or(self.last_fallback);
                self.standing = Some(S::standing(&status));
                if self.last_seconds.is_due(at) {
                    self.last_seconds.look(at, &status.link);
                }
            }
            Message::Motion(motion) => {
                self.arm = Some(S::arm(&motion));
                self.sample = motion.samples.first().copied();
            }
            other => self.understand(other, at, now, notices),
        }
    }

    /// Counts the datagrams that were lost before the one with this sequence number. If the number `boot` shows that
    /// the board was restarted, forgets the state from before.
    fn follow(&mut self, boot: u32, sequence: u32, now: Instant, notices: &mut Vec<Notice>) {
        match self.run {
            Some((run, next)) if run == boot => {
                let ahead = sequence.wrapping_sub(next);
                // A datagram that arrives late was counted as lost before.
                if ahead > u32::MAX / 2 {
                    self.lost = self.lost.saturating_sub(1);
                    return;
                }
                self.lost += u64::from(ahead);
            }
            Some(_) => {
                notices.push(say(now, "restart", format!("{} was restarted", self.address)));
                let before = std::mem::replace(self, Self::new(self.address, self.writes));
                (self.strangers, self.refused) = (before.strangers, before.refused);
                (self.heard, self.received, self.lost) = (before.heard, before.received, before.lost);
                // The limits are kept, so that forged datagrams which claim a restart gain nothing.
                (self.dump, self.bounds) = (before.dump, before.bounds);
            }
            None => {}
        }
        self.run = Some((boot, sequence.wrapping_add(1)));
    }

    fn understand<const N: usize, S: OnBoard<N>, E: PeerEvent>(
        &mut self,
        message: Message<'_, N, S, E>,
        at: Instant,
        now: Instant,
        notices: &mut Vec<Notice>,
    ) {
        match message {
            Message::Hello(hello) => {
                let about = format!("{}, build {}, outrigger {}", hello.board, hello.build, hello.version);
                let about = printable(&about);
                if about != self.about {
                    notices.push(say(now, "board", format!("{}: {about}", self.address)));
                    self.about = about;
                }
            }
            Message::Histogram(report) if report.kind == HistogramKind::Interval => self.intervals = bins(&report),
            Message::Event(event) => {
                let port = |port| SocketAddr::new(self.robot.unwrap_or(Ipv4Addr::UNSPECIFIED).into(), port);
                let trouble = |link: LinkId| self.troubles.get(link.index()).cloned().flatten();
                let observer = Observer::Board;
                let event = in_our_time(event, self.ahead.unwrap_or_default());
                let at = time_of(&event).unwrap_or(at);
                let around = Surroundings { at, here: false, observer, address: &port, trouble: &trouble };
                let mut told = notice(&event, &around);
                match (&mut told, &event) {
                    (Some(notice), Event::GradeLow(low)) => {
                        self.last_seconds.explain(low, notice);
                        self.low = Some(*low);
                    }
                    (Some(notice), Event::Refused(_) | Event::Transition(_)) => {
                        if let Some(low) = self.low.take() {
                            name_figures(notice, &low, observer);
                        }
                    }
                    _ => {}
                }
                match &event {
                    Event::Grade(change) => {
                        let needed = self.standing.as_ref().map_or(Grade::Ok, |standing| standing.link.needed);
                        self.episodes.note(change, needed);
                    }
                    Event::Transition(transition) if transition.to == Mode::Offline => {
                        self.episodes.disconnected(transition.at);
                    }
                    _ => {}
                }
                notices.extend(told);
            }
            Message::Port(report) => self.port(&report, now, notices),
            Message::Settings(chunk) => {
                if self.robot.is_some() {
                    return;
                }
                let Taken { whole, dropped } = self.settings.take(&chunk, now);
                if dropped {
                    notices.extend(self.bounds.dropped_pieces(now));
                }
                if let Some((robot, text)) = whole.and_then(|bytes| S::settings(&bytes)) {
                    self.robot = Some(robot);
                    notices.push(say(now, "settings", format!("settings in force: {text}")));
                }
            }
            Message::Recording(recording) => self.record(&recording, now, notices),
            Message::Boot(boot) => {
                let words: Vec<_> = boot::words(&boot).iter().map(|line| printable(line)).collect();
                if words != self.began {
                    notices.extend(words.iter().map(|line| say(now, "boot", format!("{}: {line}", self.address))));
                    self.began = words;
                }
            }
            _ => {}
        }
    }

    fn port(&mut self, report: &PortReport<'_>, now: Instant, notices: &mut Vec<Notice>) {
        self.sensors = report.sensors;
        notices.extend(
            self.network.take(report).into_iter().map(|line| say(now, "network", format!("{}: {line}", self.address))),
        );
        self.stack_unused = report.stack_unused;
        let brakes = report.brake_release.map(printable);
        if self.brakes != brakes {
            notices.extend(brakes.as_ref().map(|told| say(now, "brake release", format!("by its contact: {told}"))));
            self.brakes = brakes;
        }
        let troubled = report.troubles.iter().any(Option::is_some);
        if report.activity != self.robot_heard || (troubled && self.troubles.iter().all(Option::is_none)) {
            self.robot_heard = report.activity;
            if troubled && report.activity != LinkActivity::Packets {
                notices.push(say(now, "heard", format!("the robot's address: {}", report.activity.text())));
            }
        }
        for (link, (known, told)) in (0..).zip(self.troubles.iter_mut().zip(report.troubles)) {
            let told = told.map(printable);
            if *known != told {
                if let Some(told) = &told {
                    notices.push(say(
                        now,
                        "trouble",
                        format!("{} link: {told}", LinkId::new(link).map_or("", link_name)),
                    ));
                }
                *known = told;
            }
        }
    }

    fn record(&mut self, recording: &Recording<'_>, now: Instant, notices: &mut Vec<Notice>) {
        // The recording of the previous run is sent again and again.
        let of_before = recording.reason.is_none();
        if self.written == Some(recording.number) || of_before && self.written_before {
            return;
        }
        if self.recording.0 != recording.number {
            self.recording = (recording.number, Pieces::new(RECORDING_MOST));
        }
        let Taken { whole, dropped } = self.recording.1.take(&recording.chunk, now);
        if dropped {
            notices.extend(self.bounds.dropped_pieces(now));
        }
        let Some(dump) = whole else { return };
        let fallback = match recording.reason {
            Some(reason) => {
                self.written = Some(recording.number);
                format!("of fallback {} ({})", recording.number, reason.name())
            }
            None => {
                self.written_before = true;
                "of an earlier run, before the board restarted".to_owned()
            }
        };
        if let Err(report) = self.bounds.file(now) {
            return notices.extend(report);
        }
        if !self.writes {
            notices.push(say(now, "recording", format!("received a recording {fallback}; use --out DIR to write it")));
            return;
        }
        let (boot, _) = self.run.unwrap_or_default();
        let when = utc_now().replace([' ', ':'], "-");
        let number = if of_before { String::new() } else { format!("-{}", recording.number) };
        let stem = format!("{when}-{}-{boot:08x}-{}{number}", self.address, name(recording.reason));
        self.dump = Some(Dump { of: fallback, stem: stem.replace(':', "-"), bytes: dump });
    }

    /// Returns a recording that was completed since the last call; `None` if there is none.
    pub(super) fn dump(&mut self) -> Option<Dump> {
        self.dump.take()
    }

    /// Returns a snapshot of the board's session for display; `None` before the board has sent its status.
    pub(super) fn snapshot(&mut self, now: Instant) -> Option<Snapshot> {
        let standing = self.standing.as_ref()?;
        let accepted = standing.link.sequence.accepted;
        let (since, before, rate) = self.rate;
        let span = now.since(since).as_secs_f32();
        if span >= 1.0 {
            self.rate = (now, accepted, accepted.saturating_sub(before) as f32 / span);
        }
        let (have, length) = self.recording.1.progress();
        let mut values = vec![
            ("board".to_owned(), self.about.clone()),
            ("lost datagrams".to_owned(), self.lost.to_string()),
            ("sensor refused".to_owned(), self.sensors.refused.to_string()),
            ("network".to_owned(), self.network.summary()),
        ];
        if let Some(unused) = self.stack_unused {
            values.push(("stack never used".into(), format!("{unused} B")));
        }
        if length > 0 {
            values.push(("recording".into(), format!("{} %", have * 100 / u64::from(length))));
        }
        if let Some(sample) = &self.sample {
            let numbers: Vec<_> = sample.value.as_slice().iter().map(|number| format!("{number:.4}")).collect();
            values.push(("sensor".into(), numbers.join(" ")));
        }
        let has_states = standing.has_states;
        let arm = self.arm.clone().filter(|_| has_states);
        // The values it sent last are of that time.
        let talks = self.is_talking();
        let trouble = self.troubles.iter().flatten().next().cloned();
        let trouble = trouble.or_else(|| standing.silence.map(str::to_owned)).filter(|_| !standing.has_session);
        let trouble = if talks { trouble } else { Some(format!("{}; showing the last values", self.silence())) };
        let mut counters = vec![
            ("datagrams", self.received),
            ("lost_datagrams", self.lost),
            ("strangers", self.strangers),
            ("sensor_readings", self.sensors.readings.into()),
            ("sensor_refused", self.sensors.refused.into()),
            ("sensor_garbage", self.sensors.garbage.into()),
        ];
        counters.extend(self.network.counters());
        counters.extend(&standing.counters);
        counters.push(("events_lost", standing.events_lost.into()));
        let told_by = |identity| format!("{identity}, reported by {}, {} datagrams lost", self.address, self.lost);
        Some(Snapshot {
            at: now,
            robot: self.robot.map_or_else(|| "the robot".into(), |robot| robot.to_string()),
            here: false,
            observer: Observer::Board,
            identity: standing.identity.as_ref().map(told_by),
            mode: standing.mode,
            overrides_pendant: standing.overrides_pendant,
            latch: standing.latch,
            last_fallback: self.last_fallback,
            unmet: standing.unmet,
            state: arm.map(|arm| Arm { words: standing.words.clone(), ..arm }),
            figures: (has_states && talks).then_some(standing.link),
            states: None,
            intervals: if has_states && talks { self.intervals.clone() } else { vec![] },
            rate: if talks { rate } else { 0.0 },
            trouble,
            values,
            counters,
            variables: None,
            terminals: None,
            temperatures: None,
            law_error: None,
        })
    }
}

/// Returns the bins of a histogram in the board's telemetry that are not empty, with their edges.
fn bins(report: &HistogramReport) -> Vec<Bin> {
    let edges = outrigger_core::link::Histogram::default();
    let counted = edges.bins().zip(&report.bins).filter(|(_, count)| **count > 0);
    counted.map(|(bin, count)| Bin { count: *count, ..bin }).collect()
}

/// Converts a time of the board's clock to this process's clock, which is `ahead` µs ahead of it.
fn ours(at: Instant, ahead: i64) -> Instant {
    Instant::from_micros(u64::try_from(micros(at).saturating_add(ahead)).unwrap_or_default())
}

/// Converts the times in an event of the board to this process's clock, which is `ahead` µs ahead of the board's clock.
fn in_our_time<E>(event: Event<E>, ahead: i64) -> Event<E> {
    let change = |change: GradeChange| GradeChange { at: ours(change.at, ahead), ..change };
    match event {
        Event::Transition(transition) => Event::Transition(Transition { at: ours(transition.at, ahead), ..transition }),
        Event::Grade(grade) => Event::Grade(change(grade)),
        Event::GradeLow(low) => Event::GradeLow(GradeLow { fell: low.fell.map(change), ..low }),
        other => other,
    }
}

fn micros(at: Instant) -> i64 {
    i64::try_from(at.as_micros()).unwrap_or(i64::MAX)
}

/// Replaces control characters, so that text sent by a board cannot control the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::Input;
    use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
    use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine, UrEvent, UrStatus};
    use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
    use outrigger_core::link::Metric;
    use outrigger_remote::telemetry::{self, Chunk, DATAGRAM_MAX, Pace, Sampler};
    use outrigger_wire::fri::MeasurementRepr;

    use super::*;
    use outrigger::boxed_law::BoxedLaw;
    use outrigger::json;
    use outrigger_emulated::require::committed::hold;

    /// A simulated board that controls a KRC with measurements every 5 ms, and its telemetry.
    struct Board<'m> {
        engine: KrcEngine<'m, BoxedLaw<7>>,
        sampler: Sampler<'m, 7, Krc>,
        counter: u16,
        /// The number of commands that the board has sent so far, which the KRC returns in its measurements.
        answered: u16,
    }

    const BOARD: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 60));
    /// The lead of this process's clock over the board's, in the tests.
    const AHEAD: Duration = Duration::from_secs(100);

    impl Board<'_> {
        fn drain(&mut self) {
            while self.engine.poll_output().is_some() {}
            while let Some(event) = self.engine.poll_event() {
                self.sampler.event(event);
            }
        }

        /// Lets the board run for this many `cycles`, with the KRC's counter increasing by `step` in each, and passes
        /// its telemetry to `device`. Returns the notices of `device`.
        fn run(&mut self, cycles: u16, step: u16, device: &mut Device) -> Vec<Notice> {
            let mut notices = vec![];
            let from = SocketAddr::from(([192, 0, 2, 1], 49_938));
            for _ in 0..cycles {
                self.counter += step;
                let now = Instant::from_micros(5_000 * u64::from(self.counter));
                // The board is woken at the time that it requested.
                while let Some(due) = self.engine.poll_timeout().filter(|due| *due < now) {
                    self.engine.handle(due, Input::Tick);
                    self.drain();
                }
                let repr = MeasurementRepr {
                    send_seq_count: self.counter,
                    refl_seq_count: self.answered,
                    desired_msr_sample_time: 0.005,
                    desired_cmd_sample_time: 0.005,
                    safety_limits: 1.0,
                    ..MeasurementRepr::default()
                };
                let mut bytes = [0; 916];
                repr.emit(&mut bytes).expect("room");
                self.engine.receive_window(LinkId::FRI)[..916].copy_from_slice(&bytes);
                self.engine.commit_datagram(LinkId::FRI, 916, from, now, now);
                self.engine.handle(now, Input::Tick);
                self.drain();
                self.answered += 1;
                self.sampler.observe(&self.engine, now);
                let mut out = [0; DATAGRAM_MAX];
                while let Some(length) = self.sampler.poll(now, &mut out) {
                    notices.extend(device.take(BOARD, &out[..length], now + AHEAD));
                }
            }
            notices
        }
    }

    fn board<'m>() -> Board<'m> {
        let engine = KrcEngine::new(KrcConfig::default(), BoxedLaw::idle(), ()).expect("an engine");
        let device = telemetry::Device { boot: 1, board: "b", build: "1", settings: &[] };
        Board { engine, sampler: Sampler::new(device, Pace::every(Duration::from_millis(50))), counter: 0, answered: 0 }
    }

    #[test]
    fn a_fall_of_the_board_has_its_time_on_our_clock_and_a_silent_board_has_no_figures() {
        let (mut board, mut device) = (board(), Device::new(BOARD, false));
        let _ = board.run(800, 1, &mut device);
        let snapshot = device.snapshot(Instant::from_micros(4_000_000) + AHEAD).expect("it told");
        assert_eq!(snapshot.figures.map(|figures| figures.grade), Some(Grade::Perfect));
        // Two cycles are missing, which is noticed half a period after the second.
        let notices = board.run(1, 3, &mut device);
        let now = Instant::from_micros(5_000 * u64::from(board.counter)) + AHEAD;
        let missed = now - Duration::from_micros(2_500);
        let fell = notices.iter().find(|notice| notice.kind == "grade").expect("it is told");
        assert_eq!(
            (fell.at, fell.text.as_str()),
            (missed, "link Perfect → Ok: missed 2 cycles in a row (Perfect allows 1)")
        );
        let _ = board.run(30, 1, &mut device);
        let later = now + Duration::from_millis(150);
        let figures = device.snapshot(later).and_then(|snapshot| snapshot.figures).expect("figures");
        assert_eq!(figures.fell.map(|fell| (fell.at, fell.cause.metric)), Some((missed, Metric::Misses)));
        let notice = device.fallen_silent(later + Duration::from_secs(3));
        assert!(notice.text.starts_with("no data from 192.0.2.60: is it powered"), "{}", notice.text);
        let silent = device.snapshot(later + Duration::from_secs(3)).expect("as it was last");
        assert_eq!((silent.figures, silent.rate, silent.intervals.len()), (None, 0.0, 0));
        let trouble = silent.trouble.as_deref();
        assert_eq!(trouble, Some("no data from 192.0.2.60; showing the last values"));
        assert!(silent.line().ends_with("showing the last values"), "{}", silent.line());
    }

    /// Returns a datagram with the given number of the board's start, sequence number and message.
    fn forged(boot: u32, sequence: u32, message: Message<'_, 6, UrStatus, UrEvent>) -> Vec<u8> {
        let mut out = [0; DATAGRAM_MAX];
        let datagram = Datagram::<6, UrStatus, UrEvent> { boot, sequence, at: Instant::ZERO, message };
        let length = datagram.encode(&mut out).expect("room");
        out[..length].to_vec()
    }

    #[test]
    fn forged_telemetry_is_bounded_in_files_lines_and_memory_and_that_is_reported() {
        let mut device = Device::new(BOARD, true);
        let (mut files, mut lines, mut limits) = (0, 0, vec![]);
        // Four datagrams per millisecond for 15 s: each of a restarted board, with a recording, or with a piece of a
        // large one.
        for number in 0..60_000_u32 {
            let now = Instant::from_micros(250 * u64::from(number));
            let length = if number % 2 == 0 { 1 } else { 1 << 20 };
            let chunk = Chunk { length, offset: number % length, bytes: b"x" };
            let reason = Some(Reason::StateStale);
            let recording = Recording { number: number % 7, reason, pass: 0, chunk };
            let told = device.take(BOARD, &forged(number / 3, number, Message::Recording(recording)), now);
            files += usize::from(device.dump().is_some());
            lines += told.len();
            limits.extend(told.into_iter().filter(|notice| notice.kind == "limit").map(|notice| notice.text));
        }
        assert!((16..=18).contains(&files), "{files} files");
        assert!((3_000..3_600).contains(&lines), "{lines} lines");
        for what in ["recordings of it that are not written: 1 so far", "suppressed lines of it: 1 so far"] {
            assert!(limits.iter().any(|text| text.contains(what)), "{limits:?}");
        }
        assert!(limits.len() < 50, "{limits:?}");
    }

    #[test]
    fn a_board_that_falls_back_often_has_its_recordings_written() {
        let mut device = Device::new(BOARD, true);
        for number in 1..=60 {
            let now = Instant::ZERO + Duration::from_secs(10 * u64::from(number));
            let chunk = Chunk { length: 3, offset: 0, bytes: b"abc" };
            let recording = Recording { number, reason: Some(Reason::StateStale), pass: 0, chunk };
            let told = device.take(BOARD, &forged(1, number, Message::Recording(recording)), now);
            assert!(told.is_empty() && device.dump().is_some(), "{number}: {told:?}");
        }
    }

    /// Returns five seconds of telemetry of a board whose robot cannot be reached.
    fn telemetry() -> Vec<Vec<u8>> {
        let (mut primary, mut realtime) = ([0; 2_048], [0; 2_048]);
        let memory = Memory { primary: &mut primary, realtime: &mut realtime, rtde: None };
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let engine: UrEngine<'_, AnyLaw<6>> = UrEngine::new(UrConfig::default(), law, memory).expect("an engine");
        let device = telemetry::Device { board: "bench", build: "test", boot: 1, settings: &[] };
        let mut sampler = Sampler::<6, Ur<'_>>::new(device, Pace::default());
        let mut troubles = [None; LinkId::MOST];
        troubles[0] = Some("no link: is the cable\u{1b}[2J plugged in?");
        sampler.port(PortReport { troubles, ..PortReport::default() });
        let (mut sent, mut out) = (vec![], [0; DATAGRAM_MAX]);
        for now in (0..5_000).map(|millis| Instant::from_micros(1_000 * millis)) {
            sampler.observe(&engine, now);
            sent.extend(sampler.poll(now, &mut out).map(|length| out[..length].to_vec()));
        }
        sent
    }

    #[test]
    fn lost_datagrams_are_counted_by_their_numbers_and_those_of_others_change_nothing() {
        let sent = telemetry();
        let (mut device, mut strangers) = (Device::new(BOARD, false), 0);
        for (_, datagram) in sent.iter().enumerate().filter(|(number, _)| !(9..14).contains(number)) {
            device.take(BOARD, datagram, Instant::ZERO);
            let told = device.take(Ipv4Addr::LOCALHOST.into(), datagram, Instant::ZERO);
            strangers += told.iter().filter(|notice| notice.kind == "stranger").count();
        }
        let count = sent.len() as u64 - 5;
        assert_eq!((device.received, device.lost, device.strangers(), strangers), (count, 5, count, 1));
        assert!(device.snapshot(Instant::ZERO).expect("a status").counters.contains(&("lost_datagrams", 5)));
        device.take(BOARD, &sent[10], Instant::ZERO);
        assert_eq!(device.lost, 4, "it came late");
    }

    #[test]
    fn a_trouble_is_told_once_without_what_would_steer_the_terminal_and_another_format_is_named() {
        let mut device = Device::new(BOARD, false);
        let refused = device.take(BOARD, b"ORTM\xffrest", Instant::ZERO);
        assert!(refused.len() == 1 && refused[0].text.contains("telemetry of format 255"), "{refused:?}");
        assert!(device.is_unheard() && device.refused().is_some_and(|(count, _)| count == 1));
        let told: Vec<Notice> =
            telemetry().iter().flat_map(|datagram| device.take(BOARD, datagram, Instant::ZERO)).collect();
        let trouble: Vec<_> =
            told.iter().filter(|notice| notice.kind == "trouble").map(|notice| &*notice.text).collect();
        assert_eq!(trouble, ["primary link: no link: is the cable [2J plugged in?"]);
        let shown = device.snapshot(Instant::ZERO).expect("a status").trouble;
        assert_eq!(shown.as_deref(), Some("no link: is the cable [2J plugged in?"));
    }

    #[test]
    fn the_objects_for_scripts_are_those_that_are_committed() {
        let (mut board, mut krc) = (board(), Device::new(BOARD, false));
        let mut notices = board.run(400, 1, &mut krc);
        notices.extend(board.run(1, 3, &mut krc));
        notices.extend(board.run(30, 1, &mut krc));
        let mut ur = Device::new(BOARD, false);
        let heard = Instant::ZERO + AHEAD;
        notices.extend(telemetry().iter().flat_map(|datagram| ur.take(BOARD, datagram, heard)));
        let now = Instant::from_micros(5_000 * u64::from(board.counter)) + AHEAD;
        let snapshots = [krc.snapshot(now), ur.snapshot(heard + Duration::from_secs(5))];
        let mut text = String::new();
        for notice in notices {
            text += &format!("{}\n", json::text(&notice));
        }
        for snapshot in snapshots {
            text += &format!("{}\n", json::text(&snapshot.expect("it told")));
        }
        // A board reports its release.
        let text = text.replace(concat!("outrigger ", env!("CARGO_PKG_VERSION")), "outrigger VERSION");
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/watch/golden/board.jsonl"), &text);
    }
}
