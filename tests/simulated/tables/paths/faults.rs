//! The effect of an operator or of a fault on a motion, on every path.

use std::time::Duration;

use outrigger_core::engine::ur::CommandPath;
use outrigger_core::engine::{Event, Input};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_sim::robot::Power;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Rig, Way, rest_bound};
use outrigger_wire::robot::SoftwareVersion;

use super::super::text::{in_parallel, markdown, millis};
use super::{Wish, called, wished};

/// The newest CB3 software, an e-Series version, and PolyScope X.
const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15), SoftwareVersion::new(10, 11)];

/// The speed of the base joint at the event \[rad/s\].
const SPEED: f32 = 0.3;

/// An event in the middle of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Stopped,
    Paused,
    ProtectiveStop,
    SliderAtZero,
    SliderAtThird,
    SensorLost,
    Restarted,
}

use Trouble::{Paused, ProtectiveStop, Restarted, SensorLost, SliderAtThird, SliderAtZero, Stopped};

const TROUBLES: [(Trouble, &str); 7] = [
    (Stopped, "program stopped at the pendant"),
    (Paused, "program paused at the pendant"),
    (ProtectiveStop, "protective stop"),
    (SliderAtZero, "slider at 0 %"),
    (SliderAtThird, "slider at 30 %"),
    (SensorLost, "sensor lost"),
    (Restarted, "controller restarted"),
];

impl Trouble {
    /// Returns the reasons that the engine may report for the event.
    const fn reasons(self) -> &'static [Reason] {
        match self {
            // Without a program state in each packet, only the closed connection shows the stop, which is reported as
            // a fault.
            Stopped => &[Reason::ProgramStopped, Reason::ProgramEnded],
            // An External Control program does not answer orders: only its arm shows the pause.
            Paused => &[Reason::ProgramPaused, Reason::NotMirrored, Reason::NotFollowing],
            ProtectiveStop => &[Reason::ProtectiveStop],
            SliderAtZero => &[Reason::HeldByScaling],
            SliderAtThird => &[],
            SensorLost => &[Reason::SourceStale],
            Restarted => &[Reason::LinkClosed],
        }
    }

    fn begin(self, rig: &mut Rig<'_>, wish: &Wish) {
        match self {
            Stopped => rig.controller.act(Action::StopProgram),
            Paused => rig.controller.act(Action::PauseProgram),
            ProtectiveStop => rig.controller.act(Action::ProtectiveStop),
            SliderAtZero => rig.controller.act(Action::Slider(0.0)),
            SliderAtThird => rig.controller.act(Action::Slider(0.3)),
            SensorLost => wish.set(None),
            Restarted => rig.controller.act(Action::Restart(secs(3))),
        }
    }

    /// Ends the event, as does an operator at the robot who then resumes the robot's program.
    fn end(self, rig: &mut Rig<'_>, wish: &Wish) {
        match self {
            Stopped => {}
            Paused => rig.controller.act(Action::ResumeProgram),
            ProtectiveStop => {
                rig.controller.act(Action::UnlockProtectiveStop);
                rig.controller.act(Action::ResumeProgram);
            }
            SliderAtZero | SliderAtThird => rig.controller.act(Action::Slider(1.0)),
            SensorLost => wish.set(Some(SPEED)),
            Restarted => rig.controller.act(Action::ReleaseBrakes),
        }
    }
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// The interface over which states are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum States {
    Rtde,
    Realtime,
}

fn cell(trouble: Trouble, software: SoftwareVersion, path: Way, states: States) -> String {
    let mut buffers = if states == States::Rtde { Buffers::with_rtde() } else { Buffers::default() };
    let (setup, wish) = wished(software, path, SPEED);
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    rig.run_for(secs(1));
    rig.run_past_a_command();
    let what = format!("{trouble:?}, {software}, {}, {states:?}", path.name());
    let begun = rig.now();
    trouble.begin(&mut rig, &wish);
    match (trouble, path.path, states) {
        (SliderAtThird, _, _) => return slowed(&mut rig, &wish, &what),
        // Each text is a new program there, and the packets do not show that the one before was stopped.
        (Stopped | Paused, CommandPath::Text, States::Realtime) => return overridden(&mut rig, &what),
        _ => {}
    }
    // Covers the 10 s for which an arm may be held, and the 5 s before a protective stop can be unlocked.
    rig.run_for(secs(11));
    let story = rig.record().story();
    let (fell, reason) = rig.record().fallback().unwrap_or_else(|| panic!("{what}: nothing is told\n{story}"));
    assert!(trouble.reasons().contains(&reason) && fell >= begun, "{what}: {reason:?}\n{story}");
    assert_eq!(rig.record().fallbacks().len(), 1, "{what}\n{story}");
    let after = fell.since(begun);
    let bound = bound(&rig, trouble, after, states);
    let rest = rig.record().rest_after(begun).unwrap_or_else(|| panic!("{what}: never at rest\n{story}"));
    assert!(rest <= bound, "{what}: {rest:?}, bound {bound:?}\n{story}");
    let back = back(&rig, begun);
    assert!(back <= if path.is_positions() { ahead(&rig) } else { 1e-3 }, "{what}: {back} rad back\n{story}");
    let back = back.to_degrees();
    let back = if back >= 0.05 { format!("; {back:.1}° back") } else { String::new() };
    let way = on_when_resumed(&mut rig, trouble, &wish, path, &what);
    commands_when_asked(&mut rig, trouble, &what);
    format!("{} after {} ms, {} / {} ms{back}{way}", reason.name(), millis(after), millis(rest), millis(bound))
}

/// Returns the time until the arm must be at rest after the event.
fn bound(rig: &Rig<'_>, trouble: Trouble, fell: Duration, states: States) -> Duration {
    let config = &rig.engine().config().peer;
    let reaction = match (trouble, states) {
        // Commanding ends much later than the motion. With positions, the arm is at rest when the controller's own
        // scaling has come down.
        (SliderAtZero, _) if config.path.is_positions() => SCALING,
        // With speeds, the next commanded speed is zero. Over 30003 the slider is sent ten times a second.
        (SliderAtZero, States::Rtde) => rig.controller.period() * 4,
        (SliderAtZero, States::Realtime) => Duration::from_millis(100) + rig.controller.period() * 4,
        // The controller brings the arm to rest by itself, and commanding ends when that has lasted for too long.
        (Paused, States::Rtde) if config.path.is_resident() => rig.controller.period() * 4,
        (Paused, States::Realtime) if fell > secs(1) => Duration::from_millis(100) + rig.controller.period() * 4,
        _ => fell + Duration::from_micros(config.text.hold.as_micros()),
    };
    rest_bound(&rig.controller, f64::from(SPEED), f64::from(config.text.stop_acceleration), reaction)
}

/// The time in which the simulated controller's scaling follows its slider from one end to the other.
const SCALING: Duration = Duration::from_millis(250);

/// Returns the largest distance by which the joint turned back since `begun` \[rad\].
fn back(rig: &Rig<'_>, begun: SimTime) -> f64 {
    let since = rig.record().motion.iter().filter(|motion| motion.at > begun).map(|motion| motion.q[0]);
    let way = since.scan(f64::MIN, |farthest, q| {
        *farthest = farthest.max(q);
        Some(*farthest - q)
    });
    way.fold(0.0, f64::max)
}

/// Returns the largest distance by which a target may be ahead of the arm and then be taken back \[rad\]: by the
/// positions in a ring and in the filter of `servoj`.
fn ahead(rig: &Rig<'_>) -> f64 {
    let program = &rig.engine().config().peer.program;
    f64::from(SPEED) * f64::from((program.lag + program.lookahead).as_secs_f32())
}

/// Checks that a text replaces the program that was stopped or paused at the pendant, and that this is reported.
fn overridden(rig: &mut Rig<'_>, what: &str) -> String {
    rig.run_for(secs(2));
    let story = rig.record().story();
    assert!(rig.record().events.iter().any(|(_, event)| *event == Event::PendantOverridden), "{what}\n{story}");
    "overridden, which is told".to_owned()
}

/// Checks that the arm continues more slowly, and that no command is rejected because of that.
fn slowed(rig: &mut Rig<'_>, wish: &Wish, what: &str) -> String {
    rig.run_for(secs(1));
    let share = rig.controller.truth().qd[0] / f64::from(SPEED);
    assert!((0.24..0.32).contains(&share), "{what}: {share}\n{}", rig.record().story());
    SliderAtThird.end(rig, wish);
    rig.run_for(secs(1));
    let whole = rig.controller.truth().qd[0] / f64::from(SPEED);
    assert!((0.97..1.03).contains(&whole), "{what}: {whole}\n{}", rig.record().story());
    assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{}", rig.record().story());
    format!("goes on at {:.0} %", share * 100.0)
}

/// Ends the event, with an operator at the robot who resumes the robot's program. Checks that the engine commands no
/// motion, and that the arm does not move, apart from what is left of the last text.
fn on_when_resumed(rig: &mut Rig<'_>, trouble: Trouble, wish: &Wish, path: Way, what: &str) -> String {
    let (from, rested) = (rig.now(), rig.controller.truth().q[0]);
    trouble.end(rig, wish);
    rig.run_for(secs(4));
    let story = rig.record().story();
    assert!(rig.record().commands_since(from).all(|command| !command.moves()), "{what}\n{story}");
    assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}\n{story}");
    let rest = rig.record().rest_after(from).unwrap();
    if (trouble, path.path) == (ProtectiveStop, CommandPath::Text) {
        // No text is sent to a robot that is stopped, so the last text waits there, paused.
        let way = (rig.controller.truth().q[0] - rested).abs();
        let t = rig.engine().config().peer.text.hold.as_secs_f64();
        assert!(
            way <= f64::from(SPEED) * t && rest < Duration::from_millis(200),
            "{what}: {way} rad, {rest:?}\n{story}"
        );
        return format!("; {:.1}° when resumed", way.to_degrees());
    }
    assert_eq!(rest, Duration::ZERO, "{what}: it moved by itself\n{story}");
    String::new()
}

/// Acknowledges a latched reason, if there is one. Checks that the arm moves again after a request.
fn commands_when_asked(rig: &mut Rig<'_>, trouble: Trouble, what: &str) {
    if trouble == ProtectiveStop {
        // The interrupted program may still wait, paused.
        rig.controller.act(Action::StopProgram);
    }
    assert_eq!(rig.controller.robot().power, Power::Running, "{what}");
    rig.run_for(secs(1));
    if rig.engine().latch().is_some() {
        rig.request();
        let story = rig.record().story();
        assert!(matches!(rig.record().events.last(), Some((_, Event::Refused(_)))), "{what}\n{story}");
        rig.input(Input::Acknowledge);
    }
    rig.command();
    rig.run_for(secs(1));
    let qd = rig.controller.truth().qd[0];
    assert!((qd - f64::from(SPEED)).abs() < 0.01, "{what}: {qd}\n{}", rig.record().story());
}

fn table(software: &[SoftwareVersion], states: States) -> String {
    // Values in registers are read by RTDE.
    let ways = Way::ALL.into_iter().filter(|way| states == States::Rtde || !way.is_in_registers());
    let cases: Vec<((Trouble, &str), Way)> =
        TROUBLES.into_iter().flat_map(|trouble| ways.clone().map(move |way| (trouble, way))).collect();
    let rows = in_parallel(&cases, |((trouble, name), path)| {
        let mut row = vec![name.to_owned(), path.name()];
        row.extend(software.iter().map(|software| cell(trouble, *software, path, states)));
        row
    });
    let columns: Vec<String> = software.iter().map(|software| called(*software)).collect();
    let columns: Vec<&str> = ["what happens", "path"].into_iter().chain(columns.iter().map(String::as_str)).collect();
    markdown(&columns, &rows)
}

pub(super) fn section() -> String {
    let mut text = HEAD.to_owned() + &table(&SOFTWARE, States::Rtde);
    text += REALTIME;
    text + &table(&SOFTWARE, States::Realtime)
}

const HEAD: &str = "
## What an operator or a fault does to a motion

The base joint moves at 0.3 rad/s. Each cell: why commanding ended and how long after the beginning, then the time from the
beginning to rest, measured / bound. Bound: what it took to be noticed, the time-out of 40 ms, v/a and two cycles as above. A
pause holds the motion of a program on the controller for 10 s: four cycles in place of the first two, and 100 ms more beside 30003,
where it may also come too late to hold.
With the slider at 0 %, in place of the first two: four cycles where speeds are sent (100 ms more beside 30003, where it is told ten
times a second), and where positions are the 250 ms that the simulated controller's scaling takes to come down. Then all is well
again, and somebody unlocks the arm, resumes the program, moves the slider up: nothing is commanded for 4 s, and nothing moves.
What left a latch is acknowledged; only then, and only after a request, the arm moves again.

*When resumed*: to a robot in a protective stop nothing is said, so that the text of the last cycle waits there, paused: who
unlocks the arm and lets the program go on gets what was left of its 40 ms. On every other path the program ends.

*Back*: how far the joint turned back in between. Where positions are sent the target stops sooner than the drives can, which
overshoot and come back. `buffered` also takes back a target that waits in the ring, while the controller's scaling is not down yet:
the arm follows it back, by no more than it was ahead.

A `servoj` that lasts three and a third cycles lasts four: `buffered` takes out a point in each.

";

const REALTIME: &str = "
### Where states come over 30003

*Overridden*: `PendantOverridden` is told, and the motion goes on.

";

/// Checks that none of the events moves the arm in the mode `Arming`, and that each is reported with its reason. Zero
/// speeds or the held position are sent in that mode; a program of Outrigger's has just started.
#[test]
fn what_happens_while_arming_moves_nothing_and_is_named() {
    let all = TROUBLES.into_iter().flat_map(|trouble| Way::ALL.map(|path| (trouble.0, path)));
    let cases: Vec<(Trouble, Way)> = all.filter(|(trouble, _)| *trouble != SliderAtThird).collect();
    in_parallel(&cases, |(trouble, path)| SOFTWARE.map(|software| while_arming(trouble, software, path)));
}

fn while_arming(trouble: Trouble, software: SoftwareVersion, path: Way) {
    let mut buffers = Buffers::with_rtde();
    let (setup, wish) = wished(software, path, SPEED);
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    rig.request();
    rig.run_for(rig.controller.period() * 20);
    // The longest program is sent in 34 pieces, one per cycle.
    rig.run_until(secs(1), |rig| rig.controller.program().0);
    rig.run_for(rig.controller.period() * 4);
    let what = format!("{trouble:?}, {software}, {} while arming", path.name());
    assert_eq!(rig.engine().mode(), Mode::Arming, "{what}\n{}", rig.record().story());
    assert!(rig.controller.program().0, "{what}: a program runs\n{}", rig.record().story());
    trouble.begin(&mut rig, &wish);
    rig.run_for(secs(11));
    let story = rig.record().story();
    assert_eq!(rig.record().rest_after(SimTime::ZERO), Some(Duration::ZERO), "{what}: it moved\n{story}");
    let reason = rig.record().fallback().map(|(_, reason)| reason);
    assert!(reason.is_some_and(|reason| trouble.reasons().contains(&reason)), "{what}: {reason:?}\n{story}");
    on_when_resumed(&mut rig, trouble, &wish, path, &what);
    commands_when_asked(&mut rig, trouble, &what);
}

/// Checks the motion while the slider goes to 0 %: the controller's target speed decreases to zero and never changes
/// its sign. The arm itself overshoots as it does at the end of each motion.
#[test]
fn an_arm_whose_slider_goes_to_zero_does_not_turn_back() {
    for (software, path) in SOFTWARE.into_iter().flat_map(|software| Way::ALL.map(|path| (software, path))) {
        for speed in [0.1_f32, 0.3, 0.8, 1.0] {
            let what = format!("{software}, {} at {speed} rad/s", path.name());
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(wished(software, path, speed).0, &mut buffers);
            rig.command();
            rig.run_for(secs(1));
            rig.run_past_a_command();
            let begun = rig.now();
            rig.controller.act(Action::Slider(0.0));
            rig.run_for(secs(3));
            let asked = rig.record().motion.iter().filter(|motion| motion.at > begun).map(|motion| motion.qd_target[0]);
            let turned = asked.fold(0.0, f64::min);
            assert!(turned > -0.01, "{what}: asked to turn back at {turned} rad/s");
            let back = back(&rig, begun).to_degrees();
            assert!(back < 0.3, "{what}: {back}° back");
            assert_eq!(rig.engine().mode(), Mode::Command, "{what}");
        }
    }
}

/// Checks that unlocking a protective stop and resuming the robot's program does not continue a motion of Outrigger's.
#[test]
fn resuming_after_a_protective_stop_continues_nothing() {
    for (software, path) in SOFTWARE.into_iter().flat_map(|software| Way::ALL.map(|path| (software, path))) {
        for speed in [0.3_f32, 1.0] {
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(wished(software, path, speed).0, &mut buffers);
            rig.command();
            rig.run_for(secs(1));
            rig.run_past_a_command();
            rig.controller.act(Action::ProtectiveStop);
            rig.run_for(secs(6));
            rig.controller.act(Action::UnlockProtectiveStop);
            rig.run_for(secs(2));
            let from = rig.now();
            rig.controller.act(Action::ResumeProgram);
            rig.run_for(secs(2));
            let speeds = rig.record().motion.iter().filter(|motion| motion.at > from).map(|motion| motion.qd[0].abs());
            let fastest = speeds.fold(0.0, f64::max);
            assert!(fastest < 0.02, "{software}, {} at {speed} rad/s: {fastest} rad/s when resumed", path.name());
        }
    }
}
