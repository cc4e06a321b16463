//! Checks each setting of the process and of its sensors: the program, or its sensors, run over loopback with and
//! without the setting, and must behave differently.

#[path = "../../simulated/settings/process.rs"]
mod process;
mod seen;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::tries::{attempt_first, in_time};
use outrigger_sim::time::SimTime;

#[test]
fn what_the_process_and_its_sensors_are_told_shows() {
    attempt_first(|| {
        for row in process::ROWS {
            let clock = Clock::start();
            let file = process::base(row.key).with_all(row.beside);
            let (without, with) = (seen::seen(row.shown, &file), seen::seen(row.shown, &file.with(row.key, row.value)));
            println!("{} = {}\n  {without}\n  {with}", row.key, row.value);
            // In real time, a machine that stood still may have ended one of the two runs early.
            in_time(clock.window(SimTime::ZERO, clock.now()), without != with, || {
                format!("{} = {} makes no difference: {with}", row.key, row.value)
            });
        }
    });
}
