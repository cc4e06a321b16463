//! A motion that the player makes on the controller: the effects of an operator, of a fault and of our own end on it,
//! and its continuation.

use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::mode::Mode;
use outrigger_core::trajectory::Progress;
use outrigger_sim::controller::Action;
use outrigger_tests::cosim::{Buffers, CrashPoint, Rig, Setup, Way, rest_bound, stop_deceleration};
use outrigger_wire::robot::SoftwareVersion;

use super::text::{hold, in_parallel, markdown, millis};
use crate::scenarios::motions::{MOTION, TOLERANCES, line, off};
use crate::scenarios::played::Played;

/// The oldest version on which the player program follows a slider below 100 %, the newest of CB3, an e-Series, and
/// PolyScope X.
const SOFTWARE: [SoftwareVersion; 4] = [
    SoftwareVersion::new(3, 3),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 11),
];

/// The event in the middle of the motion: an operator's action, a fault or the end of our process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    SliderAtThird,
    SliderAtZero,
    Paused,
    PausedForLong,
    Stopped,
    Protective,
    Emergency,
    Safeguard,
    Released,
    Cable,
    Process,
    Host,
}

use Trouble::{
    Cable, Emergency, Host, Paused, PausedForLong, Process, Protective, Released, Safeguard, SliderAtThird,
    SliderAtZero, Stopped,
};

const TROUBLES: [(Trouble, &str); 12] = [
    (SliderAtThird, "slider at 30 %"),
    (SliderAtZero, "slider at 0 % for 2 s"),
    (Paused, "program paused at the pendant for 2 s"),
    (PausedForLong, "the same for 11 s"),
    (Stopped, "program stopped at the pendant"),
    (Protective, "protective stop"),
    (Emergency, "emergency stop"),
    (Safeguard, "safeguard stop"),
    (Released, "released"),
    (Cable, "cable out for 0.5 s"),
    (Process, "process killed"),
    (Host, "host silent"),
];

impl Trouble {
    fn begin(self, rig: &mut Rig<'_>) {
        match self {
            SliderAtThird => rig.controller.act(Action::Slider(0.3)),
            SliderAtZero => rig.controller.act(Action::Slider(0.0)),
            Paused | PausedForLong => rig.controller.act(Action::PauseProgram),
            Stopped => rig.controller.act(Action::StopProgram),
            Protective => rig.controller.act(Action::ProtectiveStop),
            Emergency => rig.controller.act(Action::EmergencyStop),
            Safeguard => rig.controller.act(Action::OpenSafeguard),
            Released => rig.input(Input::Release),
            Cable => rig.cut_cable(Some(Duration::from_millis(500))),
            Process => rig.kill(CrashPoint::Reset),
            Host => rig.kill(CrashPoint::Silent),
        }
    }

    /// Returns the time from the beginning of the event to the operator's actions that end it, if there are any.
    const fn lasts(self) -> Duration {
        Duration::from_secs(match self {
            SliderAtThird | SliderAtZero | Paused => 2,
            PausedForLong => 11,
            Protective => 6,
            _ => 3,
        })
    }

    const fn mends(self) -> &'static [Action] {
        match self {
            SliderAtThird | SliderAtZero => &[Action::Slider(1.0)],
            Paused | PausedForLong => &[Action::ResumeProgram],
            Protective => &[Action::UnlockProtectiveStop],
            Emergency => &[Action::ReleaseEmergencyStop, Action::PowerOn, Action::ReleaseBrakes],
            Safeguard => &[Action::CloseSafeguard],
            Stopped | Released | Cable | Process | Host => &[],
        }
    }

    const fn is_for_good(self) -> bool {
        matches!(self, Process | Host)
    }

    /// Returns whether the controller continues the motion by itself after the event.
    const fn holds(self) -> bool {
        matches!(self, SliderAtThird | SliderAtZero | Paused)
    }
}

fn cell(trouble: Trouble, software: SoftwareVersion) -> String {
    let what = format!("{trouble:?}, {software}");
    let mut setup = Setup::new(software);
    Way::PLAYER.choose(&mut setup.config);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    let line = line(&MOTION, &rig.controller.truth().q);
    let mut played = Played::from_here(&rig, &MOTION, TOLERANCES);
    played.run_for(&mut rig, Duration::from_millis(2_000));
    let (begun, motion) = (rig.now(), *rig.record().motion_at(rig.now()).unwrap());
    trouble.begin(&mut rig);
    played.run_for(&mut rig, trouble.lasts());
    let mut text = String::new();
    if !trouble.holds() {
        let story = rig.record().story();
        let config = &rig.engine().config().peer.text;
        let deceleration = stop_deceleration(rig.controller.options(), f64::from(config.stop_acceleration));
        let (reason, after) = match rig.record().fallback() {
            Some((fell, reason)) if !trouble.is_for_good() => (reason.name().to_owned() + ", ", fell.since(begun)),
            _ => (String::new(), Duration::ZERO),
        };
        // A paused arm is at rest long before the motion is given up, and an arm behind a cut cable stops by its own
        // timeout.
        let known = if matches!(trouble, PausedForLong | Cable) { Duration::ZERO } else { after };
        let reaction = known + Duration::from_micros(config.hold.as_micros());
        let bound = rest_bound(&rig.controller, motion.target_speed(), deceleration, reaction);
        let rest = rig.record().rest_after(begun).unwrap_or_else(|| panic!("{what}: never at rest\n{story}"));
        assert!(rest <= bound, "{what}: {rest:?}, bound {bound:?}\n{story}");
        text = format!("{reason}{} / {} ms", millis(rest), millis(bound));
        if trouble.is_for_good() {
            assert!(!rig.controller.program().0, "{what}: the program has ended\n{story}");
            return text;
        }
        text += "; by word ";
    }
    for action in trouble.mends() {
        rig.controller.act(*action);
        if !trouble.holds() {
            played.run_for(&mut rig, Duration::from_secs(3));
        }
    }
    if !trouble.holds() {
        let stood = rig.controller.truth();
        assert!(stood.at_rest() && played.progress() == Progress::Suspended, "{what}\n{}", rig.record().story());
        rig.input(Input::Acknowledge);
        rig.ready();
        rig.resume();
        rig.run_to(Mode::Command);
    }
    let done = played.run_until(&mut rig, Duration::from_secs(30), |played, _| played.progress() == Progress::Finished);
    assert!(done, "{what}: {:?}, {:?}\n{}", played.progress(), played.refused, rig.record().story());
    played.run_for(&mut rig, Duration::from_millis(300));
    let worst = rig.record().motion.iter().map(|motion| off(&line, &motion.q)).fold(0.0, f64::max);
    let end = off(&line[line.len() - 1..], &rig.controller.truth().q);
    assert!(worst < 0.02 && end < 0.005, "{what}: {worst} {end}\n{}", rig.record().story());
    format!("{text}to its end, {:.1} mrad off its path, {:.1} off its end", worst * 1e3, end * 1e3)
}

#[test]
fn a_motion_of_the_players_is_held_or_stopped_and_goes_on_to_its_end() {
    let rows = in_parallel(&TROUBLES, |(trouble, name)| {
        let cells = SOFTWARE.iter().map(|software| cell(trouble, *software));
        std::iter::once(name.to_owned()).chain(cells).collect()
    });
    let columns: Vec<String> =
        SOFTWARE.iter().map(|software| format!("{}.{}", software.major, software.minor)).collect();
    let columns: Vec<&str> = std::iter::once("what happens").chain(columns.iter().map(String::as_str)).collect();
    hold("player.md", &(HEAD.to_owned() + &markdown(&columns, &rows)));
}

const HEAD: &str = "# A motion that the player makes on the controller

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::player`, in virtual time, seed 1; states over RTDE.

Cubic legs through four waypoints in 3.2 s, 0.7 rad with the base joint, which moves at about 0.3 rad/s when it happens. Each cell:
why commanding ended, the time from the beginning to rest of the *simulated joint*, measured / bound (what it took to be noticed, the time-out of
40 ms of the program's read, v/a, two cycles and the drives' lag). Then all is well again, nothing moves, and somebody acknowledges and
says that it is to go on: how far the arm was from its path at worst, from the beginning to the end, and from its goal at its end.
Without a reason and a word, the controller holds the motion and goes on by itself.

";
