//! Faults of the states that the board receives by RTDE.

use outrigger_core::engine::LinkId;
use outrigger_core::robot::Reason;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::port::Port;

use super::faults::{falls, moves_only_on_request};
use super::*;

pub(crate) fn tests() -> Vec<Timed> {
    vec![timed("states_by_rtde_that_stall_end_commanding_although_30003_goes_on", BOARD, |machine| {
        let mut bench = commanding(machine, SLOW);
        let at = bench.now();
        let stall = Fault::new(FaultKind::Stall, at, Some(Duration::from_millis(300)));
        bench.controller_mut().inject(Fault { port: Some(Port::Rtde), ..stall });
        falls(&mut bench, at, &[Reason::StateStale, Reason::StatesMissed]);
        moves_only_on_request(&mut bench);
        // By then the recording of the fallback has arrived.
        bench.run_for(Duration::from_secs(3));

        let told = Telemetry::of(&bench.record().datagrams);
        assert_eq!(told.states, [LinkId::RTDE], "one session, which the stall did not end");
        let recordings: Vec<_> = told.recordings.values().filter_map(|(_, recording)| recording.replayed()).collect();
        assert!(recordings.iter().any(Result::is_ok), "{:?}", told.recordings.keys());
        assert!(recordings.iter().all(Result::is_ok), "{recordings:?}");
    })]
}
