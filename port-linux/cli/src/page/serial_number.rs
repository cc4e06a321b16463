//! Asks a controller for the serial number of its arm, for the head of the live page.

use std::time::Duration;

use outrigger::dashboard::connection::{Connection, LINE_MEMORY};
use outrigger::dashboard::reply_text::readable;
use outrigger::dashboard::transport::{Transport as _, software};
use outrigger::host::clock::Clock;
use outrigger::host::target::Target;
use outrigger_core::client::dashboard::{Client, Timeouts};
use outrigger_wire::dashboard::{PORT, Reply, Request, Support};
use outrigger_wire::robot::SoftwareVersion;

/// The number of attempts to connect to the dashboard server, which may start later than the session.
const ATTEMPTS: usize = 6;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_secs(10);
/// The largest number of characters of a serial number that is shown.
const MOST: usize = 32;

/// Returns `true` if the dashboard server of a controller with this software may report the arm's serial number: from
/// 3.12 and 5.6 on, never with PolyScope X.
pub(super) fn is_reported(software: SoftwareVersion) -> bool {
    matches!(Request::SerialNumber.kind().support(software), Support::Yes | Support::Perhaps)
}

/// Returns the arm's serial number, as the controller's dashboard server reports it. `None` if it does not report one,
/// or after six attempts, 10 s apart, in which it did not answer.
pub(super) async fn serial_number(target: Target, clock: Clock) -> Option<String> {
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let mut memory = vec![0; LINE_MEMORY];
        let client = Client::new(&mut memory, Timeouts::default());
        let mut dashboard = Connection::new(target.socket(PORT), clock, client);
        if dashboard.connect().await.is_err() {
            continue;
        }
        let Ok(software) = software(&mut dashboard).await else { continue };
        if !is_reported(software) {
            return None;
        }
        let read = |reply: &Reply<'_>| match reply {
            Reply::SerialNumber(number) => Some(readable(*number).chars().take(MOST).collect()),
            _ => None,
        };
        if let Ok(number) = dashboard.execute(Request::SerialNumber, read).await {
            return number;
        }
    }
    None
}
