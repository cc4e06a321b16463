//! Boards that restart. They log the reason, and nothing moves by itself.

use outrigger_emulated::bench::REST;
use outrigger_emulated::telemetry::Telemetry;

use super::*;

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("a_board_that_stood_still_with_its_host_begins_anew_or_falls_back_and_says_so", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            // Longer than the first half of the watchdog's time, and longer than the whole of it. QEMU decides
            // whether the board or its watchdog runs first afterwards.
            for still in [700, 1_500].map(Duration::from_millis) {
                let at = bench.now();
                bench.stand_still(still).expect("signals");
                let (on, what) = heard(&mut bench, at, &["reset by", "fallback"]);
                if what.starts_with("reset by") {
                    let why = ["the watchdog was not fed because QEMU", "QEMU itself stood still for a second"];
                    assert!(bench.record().said(at, &why).is_some(), "{}", bench.record().story(at));
                    heard(&mut bench, on, &["connected"]);
                } else {
                    assert!(what.contains("LocalStall"), "{}", bench.record().story(at));
                    bench.run_for(Duration::from_millis(500));
                }
                let resting = bench.now();
                bench.acknowledge();
                bench.run_for(Duration::from_secs(1));
                let moved = bench.record().motion(resting, bench.now()).iter().any(|motion| motion.speed > REST);
                assert!(!moved && bench.record().said(on, &["arming"]).is_none(), "{}", bench.record().story(at));
                armed(&mut bench);
            }
            assert_eq!(bench.exit(), None, "{}", bench.complaints());
        }),
        timed("a_board_that_hangs_begins_anew_and_says_so", BOARD, |machine| {
            let mut setup = setup(SLOW);
            setup.options.push("fault=hang".into());
            let mut bench = connected(machine, setup);
            let (_, first) = heard(&mut bench, SimTime::ZERO, &["reset by"]);
            assert_eq!(first, "reset by power; start 1 since power");
            let (anew, text) = heard(&mut bench, SimTime::ZERO, &["reset by the watchdog"]);
            assert_eq!(text, "reset by the watchdog; start 2 since power");
            heard(&mut bench, anew, &["the run before had come to: running"]);
            // The recording of the run before was kept over the reset, and replays to identical bytes.
            let left = |bench: &Bench<'_>| Telemetry::of(&bench.record().datagrams).left.remove(&2)?.replayed();
            assert!(bench.run_until(PATIENCE, |bench| left(bench).is_some()), "{}", bench.record().story(anew));
            let replayed = left(&bench).expect("it came whole").unwrap_or_else(|error| panic!("{error}"));
            assert!(replayed.inputs > 50, "{replayed:?}");
            println!("of the run before: {replayed:?}");
        }),
    ]
}
