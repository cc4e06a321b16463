//! A motion with more waypoints than the engine holds. The board feeds it from its flash while it runs.

use std::fmt::Write as _;

use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_emulated::bench::REST;
use outrigger_remote::request::ClientRequest;
use outrigger_remote::request::keyed::{Event, Verdict};

use super::faults::falls;
use super::requests::{KEY, Teller, with_a_port};
use super::*;

/// The angle by which the base joint turns \[rad\].
const WAY: f64 = 0.8;
/// The time in which the base joint turns by [`WAY`] \[s\].
const SECONDS: f64 = 8.0;
/// The number of waypoints of the motion after its first one: more than twice the number that the engine holds.
const WAYPOINTS: u32 = 40;

/// Returns the wanted angle of the base joint at this time after the begin \[s\], relative to its first angle
/// \[rad\].
fn planned(at: f64) -> f64 {
    let share = (at / SECONDS).clamp(0.0, 1.0);
    WAY * 0.5 * (1.0 - (share * std::f64::consts::PI).cos())
}

pub(crate) fn tests() -> Vec<Timed> {
    vec![timed("a_streamed_motion_is_suspended_by_a_cable_and_goes_on_by_word_alone", BOARD, |machine| {
        let firmware = with_a_port(machine, &configuration());
        let mut setup = setup(SLOW);
        setup.sensor = None;
        let mut bench = Bench::start(&firmware, setup).expect("QEMU starts");
        heard(&mut bench, SimTime::ZERO, &["connected"]);
        // The grade of the link takes seconds to rise.
        bench.run_for(Duration::from_secs(4));
        let begin = base(&bench);
        let mut teller = Teller::new(&bench, KEY, 1);
        let Some(Event::Open(epoch)) = teller.event(&mut bench, PATIENCE) else { panic!("no session") };
        let asked = bench.now();
        granted(&mut teller, &mut bench, ClientRequest::Request(epoch));
        let (began, _) = heard(&mut bench, asked, &["armed"]);

        // By then the first waypoints of the engine have been passed, and waypoints that were fed are played.
        bench.run_for(Duration::from_millis(4_500));
        undisturbed(&bench, SLOW, asked);
        let passed = bench.now().since(began).as_secs_f64();
        let off = base(&bench) - begin - planned(passed);
        assert!(off.abs() < 0.06, "{off} rad off after {passed} s\n{}", bench.record().story(asked));

        let at = bench.now();
        let back = at + Duration::from_secs(1);
        bench.up.cut(at, back);
        bench.down.cut(at, back);
        falls(&mut bench, at, &[Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged]);
        heard(&mut bench, back, &["connected"]);
        let stands = base(&bench) - begin;
        assert!((0.2..0.7).contains(&stands), "in the middle: {stands} rad");

        // Nothing continues by itself, nor after an acknowledgement.
        bench.run_for(Duration::from_secs(4));
        let (_, _) = teller.ask(&mut bench, ClientRequest::Acknowledge);
        bench.run_for(Duration::from_secs(2));
        let moved = bench.record().motion(back, bench.now()).iter().any(|motion| motion.speed > REST);
        assert!(!moved && (base(&bench) - begin - stands).abs() < 1e-3, "{}", bench.record().story(at));

        // After the request to resume the motion continues from its position to its original end.
        let (epoch, status) = teller.ask(&mut bench, ClientRequest::Status);
        assert_eq!(status.mode, Mode::Monitor);
        let resumed = bench.now();
        granted(&mut teller, &mut bench, ClientRequest::Resume(epoch));
        heard(&mut bench, resumed, &["armed"]);
        bench.run_for(Duration::from_millis(6_500));
        undisturbed(&bench, SLOW, resumed);
        let end = base(&bench) - begin;
        assert!((end - WAY).abs() < 2e-3, "{end} rad of {WAY}\n{}", bench.record().story(resumed));
        never_reset(&mut bench);
    })]
}

/// Returns the true angle of the base joint \[rad\].
fn base(bench: &Bench<'_>) -> f64 {
    bench.controller().truth().q[0]
}

/// Repeats the request `ask` until the board grants it. A standstill of the computer that runs the test may have kept
/// the quality of the link to the controller below the one that commanding requires.
fn granted(teller: &mut Teller, bench: &mut Bench<'_>, ask: ClientRequest<'_>) {
    let begun = bench.now();
    let mut ask = ask;
    let mut said = vec![];
    while bench.now().since(begun) < ARMING {
        let (_, reply) = teller.ask(bench, ask);
        if reply.verdict == Verdict::Done {
            return;
        }
        said.push(reply.verdict);
        bench.run_for(Duration::from_secs(1));
        let (epoch, _) = teller.ask(bench, ClientRequest::Status);
        ask = if matches!(ask, ClientRequest::Resume(_)) {
            ClientRequest::Resume(epoch)
        } else {
            ClientRequest::Request(epoch)
        };
    }
    late(bench.window(begun, bench.now()), format!("{said:?}\n{}", bench.record().story(begun)));
}

/// Returns the configuration of a board whose motion turns the base joint by [`WAY`] in [`SECONDS`], with many
/// waypoints, from the position of the arm at the start.
fn configuration() -> String {
    let mut text = String::from(
        "[robot]\naddress = \"10.0.2.2\"\n\n[law]\nkind = \"joint-servo\"\nrelative = true\n\n\
         [device]\naddress = \"10.0.2.15/24\"\ntelemetry = \"10.0.2.2:47000\"\n",
    );
    let device = text.split_off(text.find("[device]").expect("it is there"));
    for number in 0..=WAYPOINTS {
        let at = SECONDS * f64::from(number) / f64::from(WAYPOINTS);
        let turn = std::f64::consts::PI / SECONDS;
        let speed = if number == 0 || number == WAYPOINTS { 0.0 } else { WAY * 0.5 * turn * (turn * at).sin() };
        writeln!(
            text,
            "[[law.waypoint]]\nat = {at:.3}\njoints = [{:.6}, 0, 0, 0, 0, 0]\nexpert.velocities = [{speed:.6}, 0, 0, 0, 0, 0]\n",
            planned(at)
        )
        .expect("room");
    }
    text + &device
}
