//! Requests with a key, as a board receives them.

use outrigger_core::mode::Epoch;
use outrigger_remote::request::keyed::{Key, Reply, Service};
use outrigger_wire::time::Instant;

use crate::{any, any_bytes, any_text, used};

/// Calls the board's service for authenticated requests with inputs that are opaque to the optimiser: the program links
/// only if no call can panic.
pub fn probe() {
    used(Key::bytes_of(any_text()));
    let mut service = Service::new(Key::new(&any([0; 32])), any([0; 32]));
    let epoch = || Epoch::from_number(any(1));
    while any(true) {
        for (to, from) in service.receive_window().iter_mut().zip(any_bytes()) {
            *to = *from;
        }
        service.commit(Instant::from_micros(any(7)), any(64), any(5_u8), epoch());
        let ticket = service.poll_request(epoch()).map(|asked| {
            used(asked.ask);
            asked.ticket
        });
        if let Some(ticket) = ticket {
            service.answer(Instant::from_micros(any(7)), ticket, epoch(), &any(Reply::default()));
        }
        if let Some((to, datagram)) = service.poll_output() {
            used((to, datagram.len(), datagram.first()));
        }
        used(service.counts().sum());
    }
}
