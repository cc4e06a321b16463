//! Contacts of an operator at a board: what each is, and levels that bounce.

use embassy_time::{Duration, Ticker};
use outrigger_core::client::dashboard::BrakeLine;
use outrigger_core::engine::Controller;
use outrigger_core::mode::{Contact, Debounce, OperatorConfig};
use outrigger_embassy::{Handle, now};

use crate::log_event::PeerEvent;
use crate::shared::Shared;

/// The period in which contacts are read. Reading costs the same however much they bounce; interrupts of a long cable beside a
/// welding torch would cost the control loop its time.
const PERIOD: Duration = Duration::from_millis(5);

/// The contacts of a board, and whether each is closed; `None` where the board has none.
///
/// A wire that breaks must read as open: of a stop contact that stops, of a held request contact it releases.
#[derive(Debug)]
pub struct Contacts<S, A, R, B> {
    /// Normally closed.
    pub stop: S,
    /// Closing it acknowledges.
    pub acknowledge: A,
    /// Closing it requests.
    pub request: R,
    /// Closing it asks for the arm's brakes to be released.
    pub brake_release: B,
}

impl<S: FnMut() -> bool, A: FnMut() -> bool, R: FnMut() -> bool, B: FnMut() -> bool> Contacts<S, A, R, B> {
    /// Tells `robot` how those contacts stand that are configured, once and whenever that changes, for ever; the one for the brakes,
    /// where that is, is told to `shared`.
    pub async fn watch<const N: usize, P: Controller<N, Event: PeerEvent>>(
        mut self,
        config: &OperatorConfig,
        brake_release: bool,
        robot: Handle<'_>,
        shared: &Shared<N, P>,
    ) -> ! {
        let debounce = Debounce::new(config.pin_filter);
        let (mut stop, mut acknowledge, mut request, mut brakes) = (debounce, debounce, debounce, debounce);
        let mut line = BrakeLine::new(config);
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
            if brake_release && let Some(closed) = brakes.look((self.brake_release)(), at) {
                shared.see_brake_line(&mut line, closed, at);
            }
        }
    }
}
