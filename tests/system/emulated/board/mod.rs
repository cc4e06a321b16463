//! The tests of the emulated board in closed loop, with faults of everything around it. They run in real time, one
//! after the other on each machine.

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

/// The software version of a CB2, without RTDE. It sends a state every 8 ms, and the board has the default thresholds.
const OLD: SoftwareVersion = SoftwareVersion::new(1, 8);
/// The software version of a CB3. It sends a state every 8 ms, and the board has the default thresholds.
const SLOW: SoftwareVersion = SoftwareVersion::new(3, 15);
/// The software version of an e-Series. It sends a state every 2 ms, and the board has wider thresholds than by
/// default.
const FAST: SoftwareVersion = SoftwareVersion::new(5, 15);
/// The default time limit of a wait in these tests.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time limit for a board to start commanding, even if standstills of the computer that runs the test repeatedly
/// end its attempts.
const ARMING: Duration = Duration::from_secs(20);

/// The emulated machines that each [`Timed`] test runs on, a Cortex-M4F and a Cortex-M33, with a suffix for the names
/// of the tests.
const MACHINES: [(Machine, &str); 2] = [(Machine::An386, ""), (Machine::An505, "_on_a_cortex_m33")];
/// The number of tests that run at once, one on each machine. A board waits most of its time.
const AT_ONCE: usize = MACHINES.len();

/// A test in real time that runs on each of the emulated machines.
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

/// Runs `body` at the same time as other tests called `name`, and never together with a test of another name. Some
/// tests, above all a stalled wire, cause a burst of work that would make another board late. Tests of the same name
/// cause it at the same moment on the other machine.
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

/// Returns the firmware of `machine` for controllers of this software.
fn firmware(machine: Machine, software: SoftwareVersion) -> &'static Firmware {
    let configuration = closed_loop::configuration(software);
    built(machine, &configuration.display().to_string(), || {
        Firmware::build(machine, Some(&configuration), false).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Returns the firmware `name` of `machine`, which is built by `make` at the first call only. Different machines do not
/// wait for each other.
fn built(machine: Machine, name: &str, make: impl FnOnce() -> Firmware) -> &'static Firmware {
    type Built = Mutex<BTreeMap<String, &'static Firmware>>;
    static BUILT: [Built; Machine::NAMED.len()] = [const { Mutex::new(BTreeMap::new()) }; Machine::NAMED.len()];
    let mut built = BUILT[machine as usize].lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(name.into()).or_insert_with(|| Box::leak(Box::new(make())))
}

/// Returns the simulated surroundings of a board in closed loop: controller, sensor and workpiece.
fn setup(software: SoftwareVersion) -> Setup {
    closed_loop::setup(&Plan { software, span: Duration::from_secs(60), seed: 1 })
}

/// Starts a board and waits until it is connected to the simulated controller.
fn connected(machine: Machine, setup: Setup) -> Bench<'static> {
    let firmware = firmware(machine, setup.controller.software);
    let mut bench = Bench::start(firmware, setup).expect("QEMU starts");
    heard(&mut bench, SimTime::ZERO, &["connected"]);
    bench
}

/// Starts a board and waits until it has commanded undisturbed for 1.5 s.
fn commanding(machine: Machine, software: SoftwareVersion) -> Bench<'static> {
    let mut bench = connected(machine, setup(software));
    let asked = armed(&mut bench).asked;
    bench.run_for(Duration::from_millis(1_500));
    undisturbed(&bench, software, asked);
    bench
}

/// Checks that commanding has not ended since `since`. If a standstill of the computer that runs the test ended it, the
/// test is repeated, because nothing is left to be tested.
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

/// Makes the board command. Returns the times of the request and of the begin of commanding.
fn armed(bench: &mut Bench<'_>) -> Armed {
    bench
        .arm(ARMING)
        .unwrap_or_else(|| panic!("not armed:\n{}{}", bench.record().story(SimTime::ZERO), bench.complaints()))
}

/// Waits for the first line of the board's log, from `since` on, that begins with one of `words`.
fn heard(bench: &mut Bench<'_>, since: SimTime, words: &[&str]) -> (SimTime, String) {
    let line = bench
        .hear(since, words, PATIENCE)
        .unwrap_or_else(|| panic!("no {words:?}:\n{}{}", bench.record().story(since), bench.complaints()));
    (line.at, line.text)
}

/// Checks that the board still runs, and that it has started only once.
fn never_reset(bench: &mut Bench<'_>) {
    let boots = bench.record().log.iter().filter(|line| line.text.starts_with("boot")).count();
    let exit: Option<Exit> = bench.exit();
    assert_eq!((boots, exit), (1, None), "{}{}", bench.record().story(SimTime::ZERO), bench.complaints());
}

/// Returns the tests of the emulated board, and the number of them that run at once.
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
