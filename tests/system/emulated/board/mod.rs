//! The emulated board in closed loop, and everything that can go wrong around it. In real time, on each machine one
//! test after the other.

mod faults;
mod hostile;
mod krc;
mod log;
mod motion;
mod provision;
mod requests;
mod resets;
mod reverse;
mod rtde;
mod stack;
mod standoff;
mod steady;
mod tap;

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_emulated::bench::{Armed, Bench, Setup};
use outrigger_emulated::closed_loop::{self, Plan};
use outrigger_emulated::qemu::{Exit, Firmware, Machine};
use outrigger_emulated::require::{self, Need, test};
use outrigger_wire::robot::SoftwareVersion;

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

/// The machines that every test runs on, each with what its name says of it: a Cortex-M4F and a Cortex-M33.
const MACHINES: [(Machine, &str); 2] = [(Machine::An386, ""), (Machine::An505, "_on_a_cortex_m33")];
/// So many tests at once: on each machine one. A board waits most of its time.
const AT_ONCE: usize = MACHINES.len();

/// A test in real time, for each of the machines.
struct Timed {
    name: &'static str,
    needs: &'static [Need],
    body: fn(Machine),
}

fn timed(name: &'static str, needs: &'static [Need], body: fn(Machine)) -> Timed {
    Timed { name, needs, body }
}

impl Timed {
    fn trials(self) -> impl Iterator<Item = Trial> {
        let Self { name, needs, body } = self;
        MACHINES.into_iter().map(move |(machine, words)| {
            let named = format!("{name}{words}");
            test(&named.clone(), needs, move || together(name, || attempt(&named, || body(machine))))
        })
    }
}

/// Tests called `name` run at once, and none of another name with them. What a test does to its board, a stalled wire above all,
/// makes a burst of work, which no other board is to be late for; on the other machine the same happens at the same moment.
fn together(name: &'static str, body: impl FnOnce()) {
    struct Place;
    static RUNNING: Mutex<(&str, usize)> = Mutex::new(("", 0));
    static ENDED: Condvar = Condvar::new();
    impl Drop for Place {
        fn drop(&mut self) {
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).1 -= 1;
            ENDED.notify_all();
        }
    }
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut running =
        ENDED.wait_while(running, |(of, count)| *count > 0 && *of != name).unwrap_or_else(PoisonError::into_inner);
    *running = (name, running.1 + 1);
    drop(running);
    let _place = Place;
    body();
}

/// The firmware of `machine` for controllers of this software.
fn firmware(machine: Machine, software: SoftwareVersion) -> &'static Firmware {
    let configuration = closed_loop::configuration(software);
    built(machine, &configuration.display().to_string(), || {
        Firmware::build(machine, Some(&configuration), false).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// The firmware of `machine` that is called `name`: made once, and for each machine at its own time.
fn built(machine: Machine, name: &str, make: impl FnOnce() -> Firmware) -> &'static Firmware {
    type Built = Mutex<BTreeMap<String, &'static Firmware>>;
    static BUILT: [Built; Machine::NAMED.len()] = [const { Mutex::new(BTreeMap::new()) }; Machine::NAMED.len()];
    let mut built = BUILT[machine as usize].lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(name.into()).or_insert_with(|| Box::leak(Box::new(make())))
}

/// What is around a board of the closed loop.
fn setup(software: SoftwareVersion) -> Setup {
    closed_loop::setup(&Plan { software, span: Duration::from_secs(60), seed: 1 })
}

/// A board that is on, and connected.
fn connected(machine: Machine, setup: Setup) -> Bench<'static> {
    let firmware = firmware(machine, setup.controller.software);
    let mut bench = Bench::start(firmware, setup).expect("QEMU starts");
    heard(&mut bench, SimTime::ZERO, &["connected"]);
    bench
}

/// A board that commands.
fn commanding(machine: Machine, software: SoftwareVersion) -> Bench<'static> {
    let mut bench = connected(machine, setup(software));
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

/// All of them, and how many at once.
pub(crate) fn tests() -> (Vec<Trial>, usize) {
    let parts = [
        standoff::tests,
        faults::tests,
        hostile::tests,
        krc::tests,
        log::tests,
        motion::tests,
        provision::tests,
        requests::tests,
        resets::tests,
        reverse::tests,
        rtde::tests,
        stack::tests,
        steady::tests,
        tap::tests,
    ];
    let both = parts.iter().flat_map(|tests| tests()).flat_map(Timed::trials);
    (both.chain([standoff::on_a_cortex_m7()]).collect(), AT_ONCE)
}
