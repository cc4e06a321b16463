//! A companion of a session, written outside of the library: it prints each change of mode, and releases the arm
//! after a time.
//!
//! ```text
//! cargo run --release -p outrigger --example companion -- 127.0.0.1 10
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use outrigger::companion::{Companion, Needs, Session, Started};
use outrigger::feed::{EntryContent, Item};
use outrigger::{Checkpoint, Duration as Step, Failure, JointVelocities, Law, Reason, Robot, Samples, State};

/// A companion, which runs beside the thread that commands. It prints changes of mode, and releases the arm after this
/// number of seconds.
struct Timekeeper(u64);

impl Companion<6> for Timekeeper {
    fn needs(&self) -> Needs {
        Needs { commands: true, ..Needs::default() }
    }

    fn start(&self, session: Session<6>) -> Result<Started, Failure> {
        let Session { mut feed, client, remarks, clock, .. } = session;
        let mut client = client.ok_or_else(|| Failure::BadInput("this session takes no requests".into()))?;
        let over = Arc::new(AtomicBool::new(false));
        let deadline = clock.now() + Step::from_secs(self.0);
        let ends = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let (mut transitions, mut released) = (0, false);
            loop {
                // The end is checked first, so that everything before it is printed.
                let ended = over.load(Ordering::Relaxed) || feed.is_over();
                while let Some(item) = feed.next_now() {
                    match item {
                        Item::Entry(entry) => {
                            if let EntryContent::Notice(notice) = &entry.what
                                && notice.kind == "transition"
                            {
                                println!("{}", notice.text);
                                transitions += 1;
                            }
                        }
                        Item::Lost(count) => println!("{count} events were lost"),
                    }
                }
                if ended {
                    break;
                }
                if !released && clock.now() >= deadline {
                    remarks.say("the time is over: the arm is released");
                    released = client.release();
                }
                thread::sleep(Duration::from_millis(10));
            }
            transitions
        });
        Ok(Started::default().ending(move |_| {
            ends.store(true, Ordering::Relaxed);
            let transitions = thread.join().map_err(|_| Failure::Fault("the companion panicked".into()))?;
            println!("{transitions} changes of mode");
            Ok(None)
        }))
    }
}

/// A control law that commands zero velocity, so that the arm stays at its position.
struct Still;

impl Checkpoint for Still {}

impl Law<6> for Still {
    fn step(&mut self, _: &State<6>, _: &Samples<'_>, _: Step) -> Result<JointVelocities<6>, Reason> {
        Ok(JointVelocities::ZERO)
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let robot = arguments.next().unwrap_or_else(|| "192.168.56.101".into());
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10);
    Robot::ur(&robot)?.with_companion(Timekeeper(seconds)).run(Still, None)?;
    Ok(())
}
