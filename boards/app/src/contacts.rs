//! The operator's contacts at a board: their meanings, and debouncing.

use embassy_time::{Duration, Ticker};
use outrigger_core::client::dashboard::BrakeLine;
use outrigger_core::engine::Controller;
use outrigger_core::mode::{Contact, Debounce, OperatorConfig};
use outrigger_embassy::{Handle, now};

use crate::log_event::PeerEvent;
use crate::shared::Shared;

/// The period in which contacts are read. The cost of reading does not depend on bouncing; interrupts from a long cable
/// next to a welding torch would take time from the control loop.
const PERIOD: Duration = Duration::from_millis(5);

/// The contacts of a board, each with a function that returns whether it is closed.
///
/// A broken wire must read as open: an open stop contact stops the arm, and an open request contact ends the request.
#[derive(Debug)]
pub struct Contacts<S, A, R, B> {
    /// The stop contact, normally closed; opening it stops the arm.
    pub stop: S,
    /// The acknowledge contact: closing it acknowledges the fault for which commanding ended, which otherwise prevents
    /// commanding.
    pub acknowledge: A,
    /// The request contact: closing it requests to command the arm, opening it withdraws the request.
    pub request: R,
    /// The brake contact: closing it requests the release of the arm's brakes.
    pub brake_release: B,
}

impl<S: FnMut() -> bool, A: FnMut() -> bool, R: FnMut() -> bool, B: FnMut() -> bool> Contacts<S, A, R, B> {
    /// Reports the states of the configured contacts to `robot`, once and after each change; never returns. The brake
    /// contact, if configured, is reported to `shared`.
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
            // In the order of their importance.
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
