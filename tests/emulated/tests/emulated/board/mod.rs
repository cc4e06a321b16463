//! The emulated board in closed loop, and everything that can go wrong around it. In real time, one test after the other.

mod faults;
mod hostile;
mod krc;
mod log;
mod motion;
mod provision;
mod requests;
mod reverse;
mod rtde;
mod standoff;
mod steady;
mod tap;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_core::robot::SoftwareVersion;
use outrigger_emulated::bench::{Armed, Bench, Setup};
use outrigger_emulated::closed_loop::{self, Plan};
use outrigger_emulated::qemu::{Exit, Firmware, Machine};
use outrigger_emulated::require::{self, Need, test};

use outrigger_emulated::tries::{Verdict, attempt, falls_back_for, late, within};
use outrigger_sim::time::SimTime;

use super::BOARD;

/// CB2, without RTDE: a state every 8 ms, and the shipped thresholds.
const OLD: SoftwareVersion = SoftwareVersion::new(1, 8);
/// CB3: the same pace and thresholds.
const SLOW: SoftwareVersion = SoftwareVersion::new(3, 15);
/// e-Series: a state every 2 ms, and wider thresholds.
const FAST: SoftwareVersion = SoftwareVersion::new(5, 15);
/// Anything that is waited for without saying how long happens within this.
const PATIENCE: Duration = Duration::from_secs(10);
/// A board commands within this, however often its machine keeps it from that.
const ARMING: Duration = Duration::from_secs(20);

/// A test in real time.
fn timed(name: &'static str, needs: &'static [Need], body: fn()) -> Trial {
    test(name, needs, move || attempt(name, body))
}

/// The firmware for controllers of this software; built once per configuration.
fn firmware(machine: Machine, software: SoftwareVersion) -> &'static Firmware {
    static BUILT: LazyLock<Mutex<BTreeMap<(PathBuf, &'static str), &'static Firmware>>> = LazyLock::new(Mutex::default);
    let configuration = closed_loop::configuration(software);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.entry((configuration.clone(), machine.name())).or_insert_with(|| {
        let firmware = Firmware::build(machine, Some(&configuration), false).unwrap_or_else(|error| panic!("{error}"));
        Box::leak(Box::new(firmware))
    })
}

/// What is around a board of the closed loop.
fn setup(software: SoftwareVersion) -> Setup {
    closed_loop::setup(&Plan { software, span: Duration::from_secs(60), seed: 1 })
}

/// A board that is on, and connected.
fn connected(setup: Setup) -> Bench<'static> {
    let firmware = firmware(Machine::An386, setup.controller.software);
    let mut bench = Bench::start(firmware, setup).expect("QEMU starts");
    heard(&mut bench, SimTime::ZERO, &["connected"]);
    bench
}

/// A board that commands.
fn commanding(software: SoftwareVersion) -> Bench<'static> {
    let mut bench = connected(setup(software));
    let asked = armed(&mut bench).asked;
    bench.run_for(Duration::from_millis(1_500));
    undisturbed(&bench, software, asked);
    bench
}

/// Commanding has gone on since `since`; where this machine kept it from that, there is nothing to try out.
fn undisturbed(bench: &Bench<'_>, software: SoftwareVersion, since: SimTime) {
    let Some(line) = bench.record().said(since, &["fallback"]) else { return };
    let story = bench.record().story(since);
    let verdict = closed_loop::unplanned(bench, software, line.at, &line.text);
    assert_ne!(verdict, Verdict::Fails, "a fallback that nobody caused\n{story}");
    late(
        bench.window_before(line.at, closed_loop::looked_back(software)),
        format!("disturbed: {}\n{story}", line.text),
    );
}

/// Makes the board command.
fn armed(bench: &mut Bench<'_>) -> Armed {
    bench
        .arm(ARMING)
        .unwrap_or_else(|| panic!("not armed:\n{}{}", bench.record().story(SimTime::ZERO), bench.complaints()))
}

/// What the board said first, from `since` on, that begins with one of `words`.
fn heard(bench: &mut Bench<'_>, since: SimTime, words: &[&str]) -> (SimTime, String) {
    let line = bench
        .hear(since, words, PATIENCE)
        .unwrap_or_else(|| panic!("no {words:?}:\n{}{}", bench.record().story(since), bench.complaints()));
    (line.at, line.text)
}

/// The board still runs, and has since it was switched on: it never started anew.
fn never_reset(bench: &mut Bench<'_>) {
    let boots = bench.record().log.iter().filter(|line| line.text.starts_with("boot")).count();
    let exit: Option<Exit> = bench.exit();
    assert_eq!((boots, exit), (1, None), "{}{}", bench.record().story(SimTime::ZERO), bench.complaints());
}

/// All of them.
pub(crate) fn tests() -> Vec<Trial> {
    let parts = [
        standoff::tests,
        faults::tests,
        hostile::tests,
        krc::tests,
        log::tests,
        motion::tests,
        provision::tests,
        requests::tests,
        reverse::tests,
        rtde::tests,
        steady::tests,
        tap::tests,
    ];
    parts.iter().flat_map(|tests| tests()).collect()
}
