//! Requests over a network, authenticated with a key that both sides have: datagrams in, requests out.
//!
//! [`Service`] is the side that commands a robot, [`Caller`] its client. Neither uses a socket or reads a clock; random
//! numbers are passed in. The layout, and the attacks that it has to resist, are in
//! `core/docs/protocol/outrigger-requests.md`.
//!
//! ```
//! use outrigger_core::mode::Epoch;
//! use outrigger_remote::request::keyed::{Caller, Event, Key, Reply, Service};
//! use outrigger_remote::request::{ClientRequest, Message};
//! use outrigger_wire::time::Instant;
//!
//! # // Real keys and seeds are random numbers.
//! let (now, epoch) = (Instant::ZERO, Epoch::from_number(3));
//! let mut service = Service::<&str>::new(Key::new(&[7; 32]), [1; 32]);
//! let mut caller = Caller::new(Key::new(&[7; 32]), [2; 16], now);
//!
//! // What one sends, the other one is given; here nothing is lost.
//! let hello = caller.poll_output().expect("a hello");
//! service.receive_window()[..hello.len()].copy_from_slice(hello);
//! service.commit(now, hello.len(), "from here", epoch);
//! let (to, welcome) = service.poll_output().expect("a welcome");
//! caller.receive_window()[..welcome.len()].copy_from_slice(welcome);
//! caller.commit(now, welcome.len());
//! assert_eq!((to, caller.poll_event()), ("from here", Some(Event::Open(epoch))));
//!
//! // A request that causes motion carries the challenge of a recent answer, which a status brings.
//! caller.ask(now, epoch, Message { id: None, challenge: None, ask: ClientRequest::Status }).expect("it is short enough");
//! let request = caller.poll_output().expect("a request");
//! service.receive_window()[..request.len()].copy_from_slice(request);
//! service.commit(now, request.len(), "from here", epoch);
//! let asked = service.poll_request(epoch).expect("it is of this session, new, and whole");
//! assert_eq!(asked.ask, Ok(ClientRequest::Status));
//! # let ticket = asked.ticket;
//! service.answer(now, ticket, epoch, &Reply::default());
//! ```

mod authentication_tag;
mod datagram_layout;
mod keyed_client;
mod reply;
mod service;
#[cfg(test)]
mod tests;

pub use authentication_tag::Key;
pub use datagram_layout::{ANSWER_LEN, BODY_MAX, DATAGRAM_MAX, HELLO_LEN};
pub use keyed_client::{Caller, Event, TooLong};
pub use reply::{OutputOutcome, Reply, Verdict};
pub use service::{Counts, KeyedRequest, Service, Ticket};
