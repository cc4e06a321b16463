//! Contacts of an operator at a board: what each is, and levels that bounce.

use embassy_time::{Duration, Ticker};
use outrigger_core::mode::{Contact, Debounce, OperatorConfig};
use outrigger_embassy::{Handle, now};

/// How often contacts are looked at. Looking costs the same however much they bounce; interrupts of a long cable beside a
/// welding torch would cost the control loop its time.
const PERIOD: Duration = Duration::from_millis(5);

/// The contacts of a board, and whether each is closed; `None` where the board has none.
///
/// A wire that breaks must read as open: of a stop contact that stops, of a held request contact it releases.
#[derive(Debug)]
pub struct Contacts<S, A, R> {
    /// Normally closed.
    pub stop: S,
    /// Closing it acknowledges.
    pub acknowledge: A,
    /// Closing it requests.
    pub request: R,
}

impl<S: FnMut() -> bool, A: FnMut() -> bool, R: FnMut() -> bool> Contacts<S, A, R> {
    /// Tells `robot` how those contacts stand that are configured, once and whenever that changes, for ever.
    pub async fn watch(mut self, config: &OperatorConfig, robot: Handle<'_>) -> ! {
        let debounce = Debounce::new(config.pin_filter);
        let (mut stop, mut acknowledge, mut request) = (debounce, debounce, debounce);
        let mut ticker = Ticker::every(PERIOD);
        loop {
            ticker.next().await;
            let at = now();
            // In the order in which they count.
            if config.stop_pin
                && let Some(closed) = stop.look((self.stop)(), at)
            {
                robot.pin(Contact::Stop, closed);
            }
            if config.acknowledge_pin
                && let Some(closed) = acknowledge.look((self.acknowledge)(), at)
            {
                robot.pin(Contact::Acknowledge, closed);
            }
            if config.request_pin
                && let Some(closed) = request.look((self.request)(), at)
            {
                robot.pin(Contact::Request, closed);
            }
        }
    }
}
