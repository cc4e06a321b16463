//! Traces of the machine: what arrives when, and what may go out.
//!
//! `state!(t 8, field = value => Hold)` reads: 8 ms later a state arrives in which `field` has become `value`,
//! and the cycle answers with zero velocity. `quiet!(t 8 => Hold)` is 8 ms without a state. Fields keep their
//! value until they are set again.

use super::*;
use crate::robot::{MasterSafetyState, ReasonSet, RobotMode, Safety, SafetyMode};
use crate::time::{Duration, Instant};

/// An [`Action`] without its authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    Silent,
    Mirror,
    Hold,
    Move,
    Stop,
}

use Out::{Hold, Mirror, Move, Silent, Stop};

/// The world the evidence is taken from, as a person would put it.
#[derive(Clone, Copy, Debug)]
struct World {
    timely: bool,
    link_entry: bool,
    robot_mode: RobotMode,
    safety: SafetyMode,
    master: Option<MasterSafetyState>,
    remote: Option<bool>,
    sources: Result<(), Reason>,
    at_rest: bool,
    following: bool,
    moving_by_us: bool,
    gate: PeerGate,
    mirrored: Option<bool>,
    program: Option<Activity>,
}

const GOOD: World = World {
    timely: true,
    link_entry: true,
    robot_mode: RobotMode::Running,
    safety: SafetyMode::Normal,
    master: None,
    remote: None,
    sources: Ok(()),
    at_rest: true,
    following: true,
    moving_by_us: false,
    gate: PeerGate::Ready,
    mirrored: None,
    program: Some(Activity::Stopped),
};

impl World {
    fn evidence(&self, at: Instant) -> Evidence {
        fn held<T>(value: T, at: Instant) -> Option<Held<T>> {
            Some(Held::new(value, at))
        }
        Evidence {
            timely: self.timely,
            link_entry: held(self.link_entry, at),
            robot_mode: held(self.robot_mode, at),
            safety: held(Safety::Mode(self.safety), at),
            master_safety: self.master.and_then(|m| held(m, at)),
            remote: self.remote.and_then(|r| held(r, at)),
            sources: held(self.sources, at),
            at_rest: held(self.at_rest, at),
            following: held(self.following, at),
            moving_by_us: held(self.moving_by_us, at),
            gate: held(self.gate, at),
            acceptance: Acceptance {
                mirrored_counter: self.mirrored.and_then(|m| held(m, at)),
                program_state: None,
                program_running: self.program.and_then(|p| held(p, at)),
            },
        }
    }
}

struct Trace {
    machine: ModeMachine,
    now: Instant,
    world: World,
    evidence: Evidence,
    last: Option<Transition>,
}

impl Trace {
    /// 8 ms cycles, three good ones to command; two zero velocities to stop.
    fn with(configure: impl FnOnce(&mut ModeConfig)) -> Self {
        let mut config = ModeConfig { good_cycles: 3, stop_cycles: 2, ..ModeConfig::new(Duration::from_millis(8)) };
        configure(&mut config);
        assert_eq!(config.check(), Ok(()));
        let now = Instant::from_micros(1_000_000);
        Self { machine: ModeMachine::new(config), now, world: GOOD, evidence: GOOD.evidence(now), last: None }
    }

    fn new() -> Self {
        Self::with(|_| {})
    }

    fn connected() -> Self {
        let mut t = Self::new();
        t.connect();
        t
    }

    fn commanding() -> Self {
        let mut t = Self::connected();
        t.arm();
        t
    }

    fn connect(&mut self) {
        let transition = self.machine.established(self.now);
        assert_eq!(transition.map(|t| (t.from, t.to)), Some((Mode::Offline, Mode::Monitor)));
        self.state(8);
    }

    /// From `Monitor` to `Command` by the shortest way.
    fn arm(&mut self) {
        assert_eq!(self.request(), Ok(Mode::Arming));
        self.world.program = Some(Activity::Running);
        for _ in 0..self.machine.config().good_cycles {
            self.state(8);
        }
        assert_eq!(self.machine.mode(), Mode::Command);
        assert_eq!(self.out(), Move);
    }

    fn state(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
        self.evidence = self.world.evidence(self.now);
        self.last = self.machine.observe(self.now, &self.evidence);
    }

    fn quiet(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
        self.last = self.machine.tick(self.now);
    }

    fn request(&mut self) -> Result<Mode, Reason> {
        self.machine.request(self.now, &self.evidence).map(|t| t.map_or(self.machine.mode(), |t| t.to))
    }

    fn level(&mut self, high: bool) -> Result<Option<Mode>, Reason> {
        self.machine.request_level(self.now, high, &self.evidence).map(|t| t.map(|t| t.to))
    }

    fn fault(&mut self, reason: Reason) {
        self.last = self.machine.fault(self.now, reason);
    }

    fn out(&mut self) -> Out {
        match self.machine.action() {
            Action::Silent => Silent,
            Action::Mirror => Mirror,
            Action::Hold => Hold,
            Action::Move(_) => Move,
            Action::Stop => Stop,
        }
    }

    /// At rest for longer than the window, answered by silence.
    fn rest(&mut self) {
        self.world.at_rest = true;
        for _ in 0..30 {
            self.state(8);
            if self.machine.mode() != Mode::Stopping {
                return;
            }
            assert_eq!(self.out(), Silent);
        }
        panic!("rest was not seen");
    }
}

macro_rules! state {
    ($t:ident $millis:literal $(, $field:ident = $value:expr)* => $out:expr) => {{
        $($t.world.$field = $value;)*
        $t.state($millis);
        assert_eq!($t.out(), $out, "in {:?}, latched {:?}", $t.machine.mode(), $t.machine.latch());
    }};
}

macro_rules! quiet {
    ($t:ident $millis:literal => $out:expr) => {{
        $t.quiet($millis);
        assert_eq!($t.out(), $out, "in {:?}, latched {:?}", $t.machine.mode(), $t.machine.latch());
    }};
}

macro_rules! expect {
    ($t:ident: $mode:ident) => {
        assert_eq!(($t.machine.mode(), $t.machine.latch()), (Mode::$mode, None))
    };
    ($t:ident: $mode:ident, $reason:ident) => {
        assert_eq!(($t.machine.mode(), $t.machine.latch()), (Mode::$mode, Some(Reason::$reason)))
    };
}

macro_rules! expect_transition {
    ($t:ident: $from:ident -> $to:ident) => {
        assert_eq!($t.last, Some(Transition { from: Mode::$from, to: Mode::$to, reason: None, at: $t.now }))
    };
    ($t:ident: $from:ident -> $to:ident, $reason:ident) => {
        assert_eq!(
            $t.last,
            Some(Transition { from: Mode::$from, to: Mode::$to, reason: Some(Reason::$reason), at: $t.now })
        )
    };
}

#[test]
fn one_whole_life() {
    let mut t = Trace::new();
    expect!(t: Offline);
    assert_eq!(t.out(), Silent);
    t.connect();
    state!(t 8 => Silent);
    t.state(8);
    assert_eq!(t.request(), Ok(Mode::Arming));
    assert_eq!(t.out(), Silent, "nothing before the next state, asked before or not");
    state!(t 8 => Hold);
    state!(t 8, program = Some(Activity::Running) => Hold);
    state!(t 8 => Move);
    expect_transition!(t: Arming -> Command);
    assert_eq!(t.machine.accepted_by(), Some(Proof::ProgramRunning));
    state!(t 8, at_rest = false => Move);
    assert_eq!(t.out(), Silent, "one command per state");
    t.last = t.machine.release(t.now);
    expect_transition!(t: Command -> Stopping, Released);
    assert_eq!(t.out(), Hold, "zero at once, not at the next state");
    state!(t 8 => Hold);
    state!(t 8 => Stop);
    state!(t 8, program = Some(Activity::Stopped) => Silent);
    t.rest();
    expect_transition!(t: Stopping -> Monitor, Released);
    expect!(t: Monitor);
    t.arm();
}

#[test]
fn monitor_says_nothing_whatever_happens() {
    let mut t = Trace::connected();
    state!(t 8, safety = SafetyMode::ProtectiveStop => Silent);
    state!(t 8, link_entry = false => Silent);
    for reason in Reason::ALL {
        t.fault(*reason);
        assert_eq!(t.out(), Silent);
    }
    quiet!(t 1_000 => Silent);
    expect!(t: Monitor);
}

#[test]
fn each_missing_precondition_refuses_the_request_and_names_itself() {
    type Case = (Reason, fn(&mut World));
    let cases: [Case; 12] = [
        (Reason::GradeLow, |w| w.link_entry = false),
        (Reason::RobotNotRunning, |w| w.robot_mode = RobotMode::Idle),
        (Reason::ProtectiveStop, |w| w.safety = SafetyMode::ProtectiveStop),
        (Reason::SafeguardStop, |w| w.safety = SafetyMode::SafeguardStop),
        (Reason::EmergencyStop, |w| w.safety = SafetyMode::RobotEmergencyStop),
        (Reason::EmergencyStop, |w| w.master = Some(MasterSafetyState::ExternalEmergencyStop)),
        (Reason::SafetyFault, |w| w.master = Some(MasterSafetyState::Booting)),
        (Reason::NotRemote, |w| w.remote = Some(false)),
        (Reason::SourceStale, |w| w.sources = Err(Reason::SourceStale)),
        (Reason::NotAtRest, |w| w.at_rest = false),
        (Reason::ForeignProgram, |w| w.program = Some(Activity::Running)),
        (Reason::NotGranted, |w| w.gate = PeerGate::No),
    ];
    for (reason, spoil) in cases {
        let mut t = Trace::connected();
        spoil(&mut t.world);
        t.state(8);
        assert_eq!(t.machine.unmet(&t.evidence, t.now), ReasonSet::EMPTY.with(reason));
        assert_eq!(t.request(), Err(reason));
        expect!(t: Monitor);
        // A refused request is spent: nothing begins when the world is good again.
        t.world = GOOD;
        for _ in 0..200 {
            state!(t 8 => Silent);
        }
        expect!(t: Monitor);
        t.arm();
    }
}

#[test]
fn each_fact_older_than_300_ms_is_not_held() {
    let forget: [fn(&mut Evidence); 7] = [
        |e| e.link_entry = None,
        |e| e.robot_mode = None,
        |e| e.safety = None,
        |e| e.sources = None,
        |e| e.at_rest = None,
        |e| e.gate = None,
        |e| e.acceptance.program_running = e.acceptance.program_running.map(|h| Held { at: Instant::ZERO, ..h }),
    ];
    for spoil in forget {
        let mut t = Trace::connected();
        spoil(&mut t.evidence);
        assert_eq!(t.request(), Err(Reason::EvidenceMissing));
    }
    let mut t = Trace::connected();
    t.now = t.now + Duration::from_millis(300);
    assert_eq!(t.machine.unmet(&t.evidence, t.now), ReasonSet::EMPTY);
    t.now = t.now + Duration::from_micros(1);
    assert_eq!(t.request(), Err(Reason::EvidenceMissing));
}

#[test]
fn a_request_without_a_link_is_refused() {
    let mut t = Trace::new();
    assert_eq!(t.request(), Err(Reason::LinkClosed));
    expect!(t: Offline);
}

#[test]
fn no_grant_in_ten_seconds_falls_back() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    // Local mode: the text is dropped, isProgramRunning stays false.
    for _ in 0..1_250 {
        state!(t 8 => Hold);
    }
    state!(t 8 => Silent);
    expect_transition!(t: Arming -> Monitor, NotGranted);
    expect!(t: Monitor, NotGranted);
}

#[test]
fn granted_but_never_good_enough_times_out() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    t.world.program = Some(Activity::Running);
    for cycle in 0..1_250 {
        t.world.timely = cycle % 3 != 2;
        t.state(8);
        assert_eq!(t.out(), Hold);
        assert!(t.machine.good_cycles() < 3);
    }
    state!(t 8 => Silent);
    expect!(t: Monitor, ArmingTimeout);
}

#[test]
fn a_program_seen_running_before_the_request_is_no_acceptance() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    let mut evidence = t.world.evidence(t.now);
    evidence.acceptance.program_running = Some(Held::new(Activity::Running, t.now));
    for _ in 0..10 {
        t.now = t.now + Duration::from_millis(8);
        let message = evidence.acceptance;
        evidence = Evidence { acceptance: message, ..t.world.evidence(t.now) };
        assert_eq!(t.machine.observe(t.now, &evidence), None);
        assert_eq!(t.out(), Hold);
    }
    expect!(t: Arming);
}

#[test]
fn taking_over_a_running_program_is_granted_once_that_has_ended_and_ours_runs() {
    let mut t = Trace::with(|c| c.take_over = true);
    t.connect();
    state!(t 8, program = Some(Activity::Running) => Silent);
    assert_eq!(t.request(), Ok(Mode::Arming));
    for _ in 0..5 {
        state!(t 8, program = Some(Activity::Running) => Hold);
    }
    state!(t 8, program = Some(Activity::Stopped) => Hold);
    expect!(t: Arming);
    state!(t 8, program = Some(Activity::Running) => Move);
    expect!(t: Command);
}

#[test]
fn a_firmware_without_any_proof_is_refused_unless_configured() {
    let mut t = Trace::connected();
    state!(t 8, program = None => Silent);
    assert_eq!(t.request(), Err(Reason::AcceptanceUnknown));
    let mut t = Trace::with(|c| c.acceptance_unknown = true);
    t.connect();
    state!(t 8, program = None => Silent);
    assert_eq!(t.request(), Ok(Mode::Arming));
    state!(t 8 => Hold);
    state!(t 8 => Hold);
    state!(t 8 => Move);
}

#[test]
fn a_mirrored_counter_outranks_the_program_state() {
    let mut t = Trace::connected();
    state!(t 8, mirrored = Some(false) => Silent);
    assert_eq!(t.request(), Ok(Mode::Arming));
    for _ in 0..10 {
        state!(t 8, program = Some(Activity::Running) => Hold);
    }
    state!(t 8, mirrored = Some(true) => Move);
    assert_eq!(t.machine.accepted_by(), Some(Proof::MirroredCounter));
}

#[test]
fn each_precondition_lost_while_arming_falls_back_at_once() {
    type Case = (Reason, fn(&mut World));
    let cases: [Case; 9] = [
        (Reason::GradeLow, |w| w.link_entry = false),
        (Reason::RobotNotRunning, |w| w.robot_mode = RobotMode::PowerOff),
        (Reason::ProtectiveStop, |w| w.safety = SafetyMode::ProtectiveStop),
        (Reason::NotRemote, |w| w.remote = Some(false)),
        (Reason::SourceStuck, |w| w.sources = Err(Reason::SourceStuck)),
        (Reason::ForeignMotion, |w| w.following = false),
        (Reason::ForeignMotion, |w| (w.following, w.at_rest) = (false, false)),
        (Reason::NotAtRest, |w| w.at_rest = false),
        (Reason::NotGranted, |w| w.gate = PeerGate::No),
    ];
    for (reason, spoil) in cases {
        let mut t = Trace::connected();
        assert_eq!(t.request(), Ok(Mode::Arming));
        state!(t 8, program = Some(Activity::Running) => Hold);
        spoil(&mut t.world);
        state!(t 8 => Silent);
        assert_eq!((t.machine.mode(), t.machine.latch()), (Mode::Monitor, Some(reason)));
        t.world = GOOD;
        t.state(8);
        assert_eq!(t.request(), Err(Reason::Latched));
        assert_eq!(t.machine.acknowledge(), Ok(()));
        t.arm();
    }
}

#[test]
fn each_bad_reason_in_command_stops_in_that_very_cycle() {
    type Case = (Reason, Out, fn(&mut World));
    let cases: [Case; 8] = [
        (Reason::NotFollowing, Hold, |w| w.following = false),
        (Reason::SourceOutOfRange, Hold, |w| w.sources = Err(Reason::SourceOutOfRange)),
        (Reason::NotRemote, Hold, |w| w.remote = Some(false)),
        (Reason::NotGranted, Hold, |w| w.gate = PeerGate::No),
        (Reason::RobotNotRunning, Silent, |w| w.robot_mode = RobotMode::Idle),
        (Reason::ProtectiveStop, Silent, |w| w.safety = SafetyMode::ProtectiveStop),
        // Everything falls at once; what stopped the arm is latched.
        (Reason::EmergencyStop, Silent, |w| {
            w.safety = SafetyMode::SystemEmergencyStop;
            w.robot_mode = RobotMode::PowerOff;
            w.following = false;
        }),
        (Reason::SafeguardStop, Silent, |w| w.master = Some(MasterSafetyState::SafeguardStop)),
    ];
    for (reason, out, spoil) in cases {
        let mut t = Trace::commanding();
        spoil(&mut t.world);
        t.state(8);
        assert_eq!(t.out(), out, "{reason:?}");
        assert_eq!((t.machine.mode(), t.machine.latch()), (Mode::Stopping, Some(reason)));
        if reason == Reason::EmergencyStop {
            let all = [Reason::EmergencyStop, Reason::RobotNotRunning, Reason::NotFollowing];
            assert_eq!(t.machine.reasons(), all.into_iter().collect());
        }
    }
}

#[test]
fn a_reason_that_says_something_explains_facts_that_are_missing() {
    let mut t = Trace::commanding();
    t.now = t.now + Duration::from_millis(8);
    let evidence = Evidence { safety: None, following: Some(Held::new(false, t.now)), ..t.world.evidence(t.now) };
    t.last = t.machine.observe(t.now, &evidence);
    expect!(t: Stopping, NotFollowing);
    assert!(t.machine.reasons().contains(Reason::EvidenceMissing));
    let mut t = Trace::commanding();
    t.now = t.now + Duration::from_millis(8);
    t.last = t.machine.observe(t.now, &Evidence { safety: None, ..t.world.evidence(t.now) });
    expect!(t: Stopping, EvidenceMissing);
}

#[test]
fn a_controller_that_knows_remote_control_must_show_it() {
    let mut t = Trace::with(|c| c.require_remote = true);
    t.connect();
    assert_eq!(t.request(), Err(Reason::EvidenceMissing));
    state!(t 8, remote = Some(true) => Silent);
    t.arm();
}

#[test]
fn safety_that_is_not_known_stops_but_does_not_silence() {
    let mut t = Trace::commanding();
    for (at, out) in [Hold, Hold, Stop, Silent].into_iter().enumerate() {
        t.now = t.now + Duration::from_millis(8);
        let evidence = Evidence { safety: Some(Held::new(Safety::Unknown, t.now)), ..t.world.evidence(t.now) };
        t.last = t.machine.observe(t.now, &evidence);
        assert_eq!(t.out(), out, "state {at}");
    }
    expect!(t: Stopping, EvidenceMissing);
}

#[test]
fn a_low_grade_and_a_moving_arm_are_no_reason_to_leave_command() {
    let mut t = Trace::commanding();
    state!(t 8, link_entry = false, at_rest = false => Move);
    state!(t 8 => Move);
    expect!(t: Command);
}

#[test]
fn a_state_too_old_is_not_answered_and_forty_ms_of_them_stop() {
    let mut t = Trace::commanding();
    state!(t 8, timely = false => Silent);
    state!(t 8, timely = true => Move);
    state!(t 8, timely = false => Silent);
    for _ in 0..4 {
        state!(t 8 => Silent);
    }
    expect!(t: Command);
    state!(t 1 => Hold);
    expect!(t: Stopping, StateStale);
}

#[test]
fn silence_in_command_stops_after_forty_ms_and_the_stop_needs_no_states() {
    let mut t = Trace::commanding();
    let due = t.machine.next_deadline().expect("commanding has a deadline");
    assert_eq!(due, t.now + Duration::from_micros(40_001));
    quiet!(t 40 => Silent);
    quiet!(t 1 => Hold);
    expect_transition!(t: Command -> Stopping, StateStale);
    assert_eq!(t.machine.next_deadline(), Some(t.now + Duration::from_millis(12)));
    quiet!(t 11 => Silent);
    quiet!(t 1 => Hold);
    quiet!(t 12 => Stop);
    quiet!(t 12 => Silent);
    quiet!(t 1_000 => Silent);
    expect!(t: Stopping, StateStale);
}

#[test]
fn standstill_never_measured_ends_in_motion_unknown() {
    let mut t = Trace::commanding();
    t.fault(Reason::LocalStall);
    for out in [Hold, Hold, Stop, Silent] {
        state!(t 8, at_rest = false => out);
    }
    quiet!(t 4_968 => Silent);
    expect!(t: Stopping, LocalStall);
    quiet!(t 1 => Silent);
    expect_transition!(t: Stopping -> Monitor, StopTimeout);
    assert!(t.machine.reasons().contains(Reason::MotionUnknown));
    assert_eq!(t.machine.acknowledge(), Err(Reason::MotionUnknown));
    assert_eq!(t.request(), Err(Reason::MotionUnknown));
    // Rest right away may have been measured before; 200 ms of it is rest.
    state!(t 8, at_rest = true => Silent);
    assert!(t.machine.is_motion_unknown());
    state!(t 200 => Silent);
    assert!(!t.machine.is_motion_unknown());
    assert_eq!(t.request(), Err(Reason::Latched));
    assert_eq!(t.machine.acknowledge(), Ok(()));
    state!(t 8, program = Some(Activity::Stopped) => Silent);
    t.arm();
}

#[test]
fn rest_measured_before_the_stop_is_no_rest() {
    let mut t = Trace::commanding();
    // The law said zero all along: the arm was at rest, until the last command.
    t.fault(Reason::SourceStale);
    for out in [Hold, Hold, Stop, Silent, Silent] {
        state!(t 8, at_rest = true => out);
    }
    expect!(t: Stopping, SourceStale);
    state!(t 160 => Silent);
    expect!(t: Monitor, SourceStale);
}

#[test]
fn a_link_lost_while_commanding_leaves_motion_unknown() {
    let mut t = Trace::commanding();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect_transition!(t: Command -> Offline, LinkClosed);
    assert_eq!(t.out(), Silent);
    assert_eq!(t.machine.acknowledge(), Err(Reason::MotionUnknown));
    t.world = GOOD;
    t.world.at_rest = false;
    t.connect();
    expect!(t: Monitor, LinkClosed);
    assert!(t.machine.is_motion_unknown());
    // At rest after the reconnect, measured.
    for _ in 0..25 {
        state!(t 8, at_rest = true => Silent);
    }
    assert!(!t.machine.is_motion_unknown());
    assert_eq!(t.machine.acknowledge(), Ok(()));
    t.arm();
}

#[test]
fn an_arm_still_moving_by_our_last_command_gets_one_stop_after_the_reconnect() {
    let mut t = Trace::commanding();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    t.world = World { at_rest: false, moving_by_us: true, ..GOOD };
    t.world.safety = SafetyMode::ProtectiveStop;
    t.connect();
    state!(t 8 => Silent);
    state!(t 8, safety = SafetyMode::Normal => Stop);
    for _ in 0..100 {
        state!(t 8 => Silent);
    }
    expect!(t: Monitor, LinkClosed);
}

#[test]
fn a_stray_arm_gets_its_stop_only_where_text_is_known_to_be_allowed() {
    type Case = fn(&mut Evidence, Instant);
    let cases: [Case; 3] = [
        |e, _| e.robot_mode = None,
        |e, _| e.safety = None,
        |e, at| e.master_safety = Some(Held::new(MasterSafetyState::Fault, at)),
    ];
    for spoil in cases {
        let mut t = Trace::commanding();
        t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
        t.world = World { at_rest: false, ..GOOD };
        t.connect();
        t.now = t.now + Duration::from_millis(8);
        let mut evidence = World { moving_by_us: true, ..t.world }.evidence(t.now);
        spoil(&mut evidence, t.now);
        t.last = t.machine.observe(t.now, &evidence);
        assert_eq!(t.out(), Silent);
        state!(t 8, moving_by_us = true => Stop);
    }
}

#[test]
fn a_stray_stop_not_yet_said_is_withdrawn_when_the_reason_for_it_goes() {
    let stray = || {
        let mut t = Trace::commanding();
        t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
        t.world = World { at_rest: false, moving_by_us: true, ..GOOD };
        t.connect();
        t
    };
    let mut t = stray();
    t.fault(Reason::EmergencyStop);
    assert_eq!(t.out(), Silent);
    let mut t = stray();
    state!(t 8, moving_by_us = false => Silent);
    state!(t 8, moving_by_us = true => Stop);
}

#[test]
fn somebody_elses_motion_after_a_reconnect_is_left_alone() {
    let mut t = Trace::commanding();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    t.world = World { at_rest: false, moving_by_us: false, ..GOOD };
    t.connect();
    for _ in 0..100 {
        state!(t 8 => Silent);
    }
}

#[test]
fn a_link_lost_while_arming_latches_but_leaves_nothing_unknown() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    state!(t 8 => Hold);
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect!(t: Offline, LinkClosed);
    assert!(!t.machine.is_motion_unknown());
    assert_eq!(t.machine.acknowledge(), Ok(()));
}

#[test]
fn a_link_lost_while_monitoring_is_no_fault() {
    let mut t = Trace::connected();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect!(t: Offline);
    t.connect();
    quiet!(t 2_000 => Silent);
    expect!(t: Monitor);
    quiet!(t 1 => Silent);
    expect_transition!(t: Monitor -> Offline, StateStale);
    expect!(t: Offline);
}

#[test]
fn a_protective_stop_is_met_with_silence_even_after_it_is_unlocked() {
    let mut t = Trace::commanding();
    state!(t 8, at_rest = false, safety = SafetyMode::ProtectiveStop => Silent);
    expect!(t: Stopping, ProtectiveStop);
    state!(t 8 => Silent);
    state!(t 8, safety = SafetyMode::Normal => Silent);
    state!(t 8 => Silent);
    t.rest();
    expect_transition!(t: Stopping -> Monitor, ProtectiveStop);
    expect!(t: Monitor, ProtectiveStop);
}

#[test]
fn a_stop_told_by_a_message_silences_before_the_packet_shows_it() {
    let mut t = Trace::commanding();
    t.fault(Reason::EmergencyStop);
    assert_eq!(t.out(), Silent);
    // The next packet is from before the button.
    state!(t 8 => Silent);
    expect!(t: Stopping, EmergencyStop);
}

#[test]
fn a_robot_that_stops_running_half_way_hears_no_more() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    assert_eq!(t.out(), Hold);
    state!(t 8, at_rest = false, robot_mode = RobotMode::PowerOff => Silent);
    state!(t 8, robot_mode = RobotMode::Running => Silent);
    state!(t 8 => Silent);
}

#[test]
fn the_first_reason_is_latched_and_the_others_are_kept() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    t.fault(Reason::StateStale);
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect!(t: Offline, SourceStale);
    let all = [Reason::StateStale, Reason::LinkClosed, Reason::MotionUnknown, Reason::SourceStale];
    assert_eq!(t.machine.reasons(), all.into_iter().collect());
}

#[test]
fn a_fault_while_stopping_by_request_is_latched() {
    let mut t = Trace::commanding();
    t.last = t.machine.release(t.now);
    expect!(t: Stopping);
    t.fault(Reason::Unacknowledged);
    for out in [Hold, Hold, Stop] {
        state!(t 8, at_rest = false => out);
    }
    t.rest();
    expect!(t: Monitor, Unacknowledged);
}

#[test]
fn acknowledging_is_refused_while_stopping_and_moves_nothing() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    assert_eq!(t.machine.acknowledge(), Err(Reason::NotAtRest));
    for out in [Hold, Hold, Stop] {
        state!(t 8, at_rest = false => out);
    }
    assert_eq!(t.request(), Err(Reason::NotAtRest));
    t.rest();
    assert_eq!(t.machine.acknowledge(), Ok(()));
    for _ in 0..300 {
        state!(t 8 => Silent);
    }
    expect!(t: Monitor);
}

#[test]
fn releasing_while_arming_goes_back_without_a_latch() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    state!(t 8 => Hold);
    t.last = t.machine.release(t.now);
    expect_transition!(t: Arming -> Monitor, Released);
    expect!(t: Monitor);
}

#[test]
fn a_level_high_across_a_fallback_asks_for_nothing() {
    let mut t = Trace::new();
    t.connect();
    assert_eq!(t.level(true), Ok(None), "high at boot");
    assert_eq!(t.level(false), Ok(None));
    assert_eq!(t.level(true), Ok(Some(Mode::Arming)));
    state!(t 8, link_entry = false => Silent);
    expect!(t: Monitor, GradeLow);
    state!(t 8, link_entry = true => Silent);
    assert_eq!(t.machine.acknowledge(), Ok(()));
    assert_eq!(t.level(true), Ok(None), "still high");
    assert_eq!(t.level(false), Ok(None));
    assert_eq!(t.level(true), Ok(Some(Mode::Arming)));
    assert_eq!(t.level(false), Ok(Some(Mode::Monitor)), "its fall releases");
}

#[test]
fn a_pause_is_no_fault_and_the_end_of_the_program_is() {
    let mut t = Trace::commanding();
    for _ in 0..200 {
        state!(t 8, program = Some(Activity::Paused) => Move);
    }
    // One program replaces the other: invisible for up to half a second.
    for _ in 0..62 {
        state!(t 8, program = Some(Activity::Stopped) => Move);
    }
    state!(t 8, program = Some(Activity::Running) => Move);
    for _ in 0..62 {
        state!(t 8, program = Some(Activity::Stopped) => Move);
    }
    state!(t 8 => Hold);
    expect!(t: Stopping, ProgramEnded);
}

#[test]
fn an_intent_of_another_epoch_is_refused() {
    let mut t = Trace::connected();
    let before = Intent { epoch: t.machine.epoch(), value: 7 };
    assert_eq!(t.machine.accept(before), Ok(7));
    t.arm();
    assert_eq!(t.machine.accept(before), Ok(7), "arming and commanding are one epoch");
    t.fault(Reason::SourceStale);
    assert_eq!(t.machine.accept(before), Err(Reason::WrongEpoch));
    let now = Intent { epoch: t.machine.epoch(), ..before };
    assert_eq!(t.machine.accept(now), Ok(7));
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    t.connect();
    assert_eq!(t.machine.accept(now), Err(Reason::WrongEpoch), "another connection");
}

#[test]
fn a_peer_that_needs_answers_is_mirrored_until_it_grants() {
    let mut t = Trace::with(|c| c.mirrors = true);
    t.world.program = None;
    t.connect();
    state!(t 1 => Mirror);
    assert_eq!(t.request(), Ok(Mode::Arming));
    for _ in 0..10 {
        state!(t 1 => Mirror);
    }
    state!(t 1, gate = PeerGate::Granted => Move);
    assert_eq!(t.machine.accepted_by(), Some(Proof::PeerState));
    state!(t 1 => Move);
    // It leaves its command state: ours is left too.
    state!(t 1, gate = PeerGate::Ready => Hold);
    expect!(t: Stopping, NotGranted);
    for out in [Hold, Stop, Mirror] {
        state!(t 1, at_rest = false => out);
    }
}
