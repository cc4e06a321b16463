//! Methods of objects that a host hands out: the object is their first argument (`core/docs/protocol/ros2-surface.md` 4.1).
//!
//! A program may keep an object of any kind in a variable, so that a method is known by its name alone, and the host says whether
//! the object has it. A method that is not here is one of a server elsewhere, behind a handle that is not simulated: it
//! compiles, and ends the program that comes to call it.

use super::table::{host, opt, req};
use super::{Param, Signature};

const fn method(name: &'static str, params: &'static [Param]) -> Signature {
    host(name, params).since(10, 7)
}

const HANDLE: Param = req("handle");

/// Every method, with a dot before its name.
pub(super) static METHODS: &[Signature] = &[
    // Of a publisher: two names of the same.
    method(".write", &[HANDLE, req("message")]),
    method(".publish", &[HANDLE, req("message")]),
    // Of a subscriber.
    method(".read", &[HANDLE]),
    method(".read_history", &[HANDLE, opt("count")]),
    method(".wait", &[HANDLE, req("timeout")]),
    // Of a service's client.
    method(".call", &[HANDLE, req("request"), opt("timeout")]),
    method(".wait_for_service", &[HANDLE, opt("timeout")]),
    // Of a message, or any other value.
    method(".to_string", &[HANDLE]),
    // Of each.
    method(".close", &[HANDLE]),
];
