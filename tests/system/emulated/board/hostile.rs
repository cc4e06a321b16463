//! Unsolicited traffic on the board's network, some of it to its open sockets.

use outrigger_emulated::hostile::Nuisance;
use outrigger_sim::fault::{Fault, FaultKind};

use super::*;

/// The size of a message that exceeds the board's buffers \[bytes\]. Receiving ten times as much through windows of 1
/// to 4 KiB would take the board most of a cycle.
const OVERSIZE: usize = 4_000;

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("floods_and_forgeries_do_not_reset_the_board_and_it_commands_again_afterwards", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            for nuisance in Nuisance::ALL {
                let at = bench.now();
                bench.flood(nuisance, 1_500, Duration::from_millis(1_500));
                never_reset(&mut bench);
                bench.run_for(Duration::from_millis(500));
                if bench.record().said(at, &["fallback"]).is_some() {
                    heard(&mut bench, at, &["at rest", "connected"]);
                    bench.run_for(Duration::from_millis(1_500));
                    bench.acknowledge();
                    bench.run_for(Duration::from_millis(400));
                    armed(&mut bench);
                }
            }
            assert!(bench.down.counts().sent > 4_000, "{:?}", bench.down.counts());
        }),
        timed("another_that_claims_the_robots_address_is_named_and_commanding_goes_on", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            let at = bench.now();
            bench.flood(Nuisance::Claim, 50, Duration::from_secs(2));
            bench.run_for(Duration::from_secs(1));
            undisturbed(&bench, SLOW, at);
            let told = bench.record().log.iter().filter(|line| line.at >= at && line.text.contains("not believed"));
            // The board reports the 1st, the 2nd, the 4th claim and so on, out of a hundred.
            let told = told.count();
            assert!((5..=7).contains(&told), "{told} lines\n{}", bench.record().story(at));
            never_reset(&mut bench);
        }),
        timed("messages_of_unknown_kinds_and_of_any_size_are_passed_over_while_commanding", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            for kind in
                [FaultKind::Unknown, FaultKind::Oversize(OVERSIZE), FaultKind::Polluted(7), FaultKind::Split(100)]
            {
                let at = bench.now();
                bench.controller_mut().inject(Fault::new(kind, at, Some(Duration::from_millis(1_500))));
                bench.run_for(Duration::from_secs(2));
                println!("{kind:?}");
                undisturbed(&bench, SLOW, at);
            }
            never_reset(&mut bench);
        }),
    ]
}
