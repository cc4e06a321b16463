//! A slider at 0, a pause and the robot's stops in the middle of a motion, on every path: whether the motion is held
//! or suspended, and the action that continues it. The table is in `port-linux/docs/motions.md`.

use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::engine::ur::CommandPath;
use outrigger_core::mode::Mode;
use outrigger_core::trajectory::{Progress, Tolerances};
use outrigger_sim::controller::Action;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_tests::require::committed;
use outrigger_wire::robot::{JointPositions, SoftwareVersion};

use super::text::{in_parallel, markdown};
use crate::scenarios::motions::{self, MOTION, TOLERANCES, line, off};
use crate::scenarios::played::Played;

/// The newest CB3 software, an e-Series version, and PolyScope X.
const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15), SoftwareVersion::new(10, 11)];

/// The largest movement of an arm at rest \[rad\].
const STANDS: f64 = 2e-3;

/// An interruption in the middle of the motion: by the slider, a pause or a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Slider,
    Pause,
    Protective,
    Emergency,
}

impl Stop {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Slider, "slider at 0 %"),
        (Self::Pause, "pause at the pendant"),
        (Self::Protective, "protective stop"),
        (Self::Emergency, "emergency stop"),
    ];

    fn begin(self) -> Action {
        match self {
            Self::Slider => Action::Slider(0.0),
            Self::Pause => Action::PauseProgram,
            Self::Protective => Action::ProtectiveStop,
            Self::Emergency => Action::EmergencyStop,
        }
    }

    /// Returns the actions of a person at the robot who ends the stop and resumes a program that is still there.
    fn end(self) -> &'static [Action] {
        match self {
            Self::Slider => &[Action::Slider(1.0)],
            Self::Pause => &[Action::ResumeProgram],
            Self::Protective => &[Action::UnlockProtectiveStop, Action::ResumeProgram],
            Self::Emergency => {
                &[Action::ReleaseEmergencyStop, Action::PowerOn, Action::ReleaseBrakes, Action::ResumeProgram]
            }
        }
    }

    /// Returns the durations of the stop: shorter and longer than a motion is held, or longer than a protective stop
    /// is locked.
    fn lasts(self) -> &'static [Duration] {
        const HELD: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(11)];
        const LOCKED: [Duration; 1] = [Duration::from_secs(6)];
        match self {
            Self::Slider | Self::Pause => &HELD,
            Self::Protective | Self::Emergency => &LOCKED,
        }
    }
}

/// The origin of the motion: a law or a program on the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vendor {
    /// A law that commands the motion cycle by cycle.
    Law(Way),
    /// A program on the controller that executes the motion by itself.
    Program(CommandPath),
}

impl Vendor {
    fn all() -> impl Iterator<Item = Self> {
        let programs = [CommandPath::Player, CommandPath::ExternalControl];
        Way::ALL.into_iter().map(Self::Law).chain(programs.map(Self::Program))
    }

    fn name(self) -> String {
        match self {
            Self::Law(way) => {
                format!("`{}`{}", way.path.name(), if way.is_in_registers() { " by registers" } else { "" })
            }
            Self::Program(path) => format!("`{}`, `--mode {}`", path.name(), mode(path)),
        }
    }

    /// Returns the distance to its goal within which the motion must end \[rad\]. External Control makes splines of
    /// speeds without feedback of the position: a loss of distance by braking on the way is not made up for.
    fn exact(self) -> f64 {
        if self == Self::Program(CommandPath::ExternalControl) { 0.1 } else { 0.005 }
    }

    fn setup(self, software: SoftwareVersion) -> Setup {
        let mut setup = match self {
            Self::Law(way) => motions::setup(software, way, &MOTION),
            Self::Program(path) => {
                let mut setup = Setup::new(software);
                setup.config.peer.path = path;
                setup
            }
        };
        setup.config.mode.take_over = setup.config.peer.path == CommandPath::ExternalControl;
        setup
    }
}

const fn mode(path: CommandPath) -> &'static str {
    if matches!(path, CommandPath::Player) { "player" } else { "pass-through" }
}

/// A motion in progress, with the part that sends it leg by leg if a program on the controller executes it.
struct Run<'m> {
    rig: Rig<'m>,
    played: Option<Played>,
    line: Vec<[f64; 6]>,
    vendor: Vendor,
}

impl<'m> Run<'m> {
    fn begin(vendor: Vendor, software: SoftwareVersion, buffers: &'m mut Buffers) -> Self {
        let mut rig = Rig::new(vendor.setup(software), buffers);
        rig.command();
        let line = line(&MOTION, &rig.controller.truth().q);
        let tolerances = Tolerances { goal: JointPositions([vendor.exact() as f32; 6]), ..TOLERANCES };
        let played = matches!(vendor, Vendor::Program(_)).then(|| Played::from_here(&rig, &MOTION, tolerances));
        let mut run = Self { rig, played, line, vendor };
        run.pass(Duration::from_millis(if run.played.is_some() { 2_000 } else { 1_300 }));
        run
    }

    fn pass(&mut self, span: Duration) {
        match &mut self.played {
            Some(played) => played.run_for(&mut self.rig, span),
            None => self.rig.run_for(span),
        }
    }

    fn progress(&self) -> Progress {
        self.played.as_ref().map_or_else(|| self.rig.engine().motion_status().progress, Played::progress)
    }

    fn moved(&self, from: &[f64; 6]) -> f64 {
        off(&[*from], &self.rig.controller.truth().q)
    }

    /// Runs until the motion ends. Checks that the arm stays on its path.
    fn finishes(&mut self, what: &str) {
        for _ in 0..300 {
            if self.progress() == Progress::Finished {
                break;
            }
            self.pass(Duration::from_millis(100));
        }
        self.pass(Duration::from_millis(500));
        let story = self.rig.record().story();
        assert_eq!(self.progress(), Progress::Finished, "{what}\n{story}");
        assert_eq!(self.rig.engine().mode(), Mode::Command, "{what}\n{story}");
        let worst = self.rig.record().motion.iter().map(|motion| off(&self.line, &motion.q)).fold(0.0, f64::max);
        let end = off(&self.line[self.line.len() - 1..], &self.rig.controller.truth().q);
        println!("{what}: {:.1} mrad off its path at worst, {:.1} mrad off its end", worst * 1e3, end * 1e3);
        let exact = self.vendor.exact();
        assert!(
            worst < 0.02_f64.max(exact) && end < exact,
            "{what}: {worst} rad off its path, {end} rad off its end\n{story}"
        );
    }
}

/// Interrupts a motion by this stop, ends the stop after `lasts`, and finishes the motion. Returns in words whether the
/// motion was held or suspended.
fn outcome(vendor: Vendor, stop: Stop, lasts: Duration, software: SoftwareVersion) -> String {
    let what = format!("{software}, {}, {stop:?} for {lasts:?}", vendor.name());
    let mut buffers = Buffers::with_rtde();
    let mut run = Run::begin(vendor, software, &mut buffers);
    assert_eq!(run.progress(), Progress::Running, "{what}\n{}", run.rig.record().story());
    run.rig.controller.act(stop.begin());
    run.pass(lasts);
    let stood = run.rig.controller.truth().q;
    assert!(run.rig.controller.truth().at_rest(), "{what}\n{}", run.rig.record().story());
    let end = stop.end();
    for action in end {
        run.rig.controller.act(*action);
        run.pass(Duration::from_secs(if end.len() > 1 { 3 } else { 1 }));
    }
    if run.rig.engine().mode() == Mode::Command {
        run.finishes(&what);
        assert_eq!(run.rig.record().fallback(), None, "{what}\n{}", run.rig.record().story());
        return "held".to_owned();
    }
    let (_, reason) = run.rig.record().fallback().unwrap_or_else(|| panic!("{what}\n{}", run.rig.record().story()));
    run.pass(Duration::from_secs(1));
    let moved = run.moved(&stood);
    assert!(moved < STANDS, "{what}: {moved} rad by itself\n{}", run.rig.record().story());
    assert_eq!(run.progress(), Progress::Suspended, "{what}\n{}", run.rig.record().story());
    if run.rig.engine().latch().is_some() {
        run.rig.resume();
        assert_eq!(run.rig.engine().mode(), Mode::Monitor, "{what}: not acknowledged\n{}", run.rig.record().story());
        run.rig.input(Input::Acknowledge);
    }
    run.rig.ready();
    run.rig.resume();
    run.rig.run_to(Mode::Command);
    run.finishes(&what);
    format!("suspended (`{}`)", reason.name())
}

/// Returns the outcome of this stop in words, for all software versions that have the path; it must be the same for
/// all.
fn cell(vendor: Vendor, stop: Stop) -> String {
    let fits = |software: &SoftwareVersion| vendor.setup(*software).config.peer.unfit(*software).is_none();
    let each: Vec<(SoftwareVersion, String)> = SOFTWARE
        .into_iter()
        .filter(fits)
        .map(|software| {
            let outcomes: Vec<_> = stop.lasts().iter().map(|lasts| outcome(vendor, stop, *lasts, software)).collect();
            let words = match &outcomes[..] {
                [held, longer] if held == "held" => format!("held; longer than 10 s {longer}"),
                [one, longer] if one == longer => one.clone(),
                [short, longer] => format!("{short}; longer than 10 s {longer}"),
                all => all.concat(),
            };
            (software, words)
        })
        .collect();
    let (_, first) = &each[0];
    assert!(each.iter().all(|(_, words)| words == first), "{}, {stop:?}: {each:?}", vendor.name());
    first.clone()
}

/// Checks that a pause holds the motion wherever a program on the controller carries it, and that no stop loses it.
#[test]
fn a_motion_is_held_or_suspended_and_goes_on_with_the_program_or_by_word() {
    let rows = in_parallel(&Vendor::all().collect::<Vec<_>>(), |vendor| {
        let mut row = vec![vendor.name()];
        row.extend(Stop::ALL.map(|(stop, _)| cell(vendor, stop)));
        let carried = !matches!(vendor, Vendor::Law(Way { path: CommandPath::Text, .. }));
        assert_eq!(row[2].starts_with("held;"), carried, "{row:?}");
        row
    });
    let columns: Vec<&str> = ["path"].into_iter().chain(Stop::ALL.map(|(_, name)| name)).collect();
    committed::hold_part("port-linux/docs/motions.md", "held or suspended", &markdown(&columns, &rows));
}

/// Checks that a law that follows no path continues after a pause as well, once standstill was measured again.
#[test]
fn a_pause_of_a_law_without_a_motion_holds_the_arm_where_it_stands() {
    for software in SOFTWARE {
        for way in Way::ALL.into_iter().filter(|way| way.path != CommandPath::Text) {
            let what = format!("{software}, {}", way.name());
            let mut setup = Setup::sweep(software, 0.3);
            way.choose(&mut setup.config);
            setup.config.mode.take_over = way.path == CommandPath::ExternalControl;
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(setup, &mut buffers);
            rig.command();
            rig.run_for(Duration::from_secs(1));
            let fastest = |rig: &Rig<'_>, since| {
                let motion = rig.record().motion.iter().filter(|motion| motion.at >= since);
                motion.map(|motion| motion.qd[0].abs()).fold(0.0, f64::max)
            };
            let at_first = fastest(&rig, SimTime::ZERO);
            rig.controller.act(Action::PauseProgram);
            rig.run_for(Duration::from_secs(5));
            let stood = rig.controller.truth().q;
            assert!(rig.controller.truth().at_rest(), "{what}\n{}", rig.record().story());
            rig.controller.act(Action::ResumeProgram);
            let resumed = rig.now();
            // Standstill is measured again before the arm moves.
            rig.run_for(Duration::from_millis(180));
            let moved = off(&[stood], &rig.controller.truth().q);
            assert!(moved < STANDS, "{what}: {moved} rad\n{}", rig.record().story());
            rig.run_for(Duration::from_secs(1));
            let qd = rig.controller.truth().qd[0];
            assert!((qd.abs() - 0.3).abs() < 0.02, "{what}: {qd} rad/s\n{}", rig.record().story());
            assert_eq!(rig.record().fallback(), None, "{what}\n{}", rig.record().story());
            let again = fastest(&rig, resumed);
            // A program of positions catches up the delay of its start.
            assert!(again < at_first * 1.15, "{what}: {again} rad/s, {at_first} at the beginning");
        }
    }
}

/// Checks that a motion has ended if it is cancelled while a pause or the slider holds it: the arm stays at rest
/// afterwards.
#[test]
fn a_motion_that_is_cancelled_while_it_is_held_moves_nothing_afterwards() {
    for software in SOFTWARE {
        for way in Way::ALL {
            for stop in [Stop::Pause, Stop::Slider] {
                if way.path == CommandPath::Text && stop == Stop::Pause {
                    continue;
                }
                let what = format!("{software}, {}, {stop:?}", way.name());
                let mut buffers = Buffers::with_rtde();
                let mut run = Run::begin(Vendor::Law(way), software, &mut buffers);
                run.rig.controller.act(stop.begin());
                run.pass(Duration::from_secs(2));
                let stood = run.rig.controller.truth().q;
                let cancelled = run.rig.with_engine(|engine, _| engine.cancel());
                assert!(cancelled.is_ok(), "{what}: {cancelled:?}");
                for action in stop.end() {
                    run.rig.controller.act(*action);
                }
                run.pass(Duration::from_secs(3));
                let moved = off(&[stood], &run.rig.controller.truth().q);
                assert!(moved < STANDS, "{what}: {moved} rad\n{}", run.rig.record().story());
                assert_eq!(run.rig.engine().mode(), Mode::Command, "{what}\n{}", run.rig.record().story());
            }
        }
    }
}
