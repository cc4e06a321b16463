//! The methods of objects that a host creates. The object is the first argument (`core/docs/protocol/ros2-surface.md`
//! 4.1).
//!
//! A program may store an object of any kind in a variable. Therefore the compiler knows a method only by its name, and
//! the host decides whether the object has it. A method that is not in this list belongs to a remote server, behind a
//! handle that is not simulated: it compiles, and ends the program that calls it.

use super::table::{host, opt, req};
use super::{Param, Signature};

const fn method(name: &'static str, params: &'static [Param]) -> Signature {
    host(name, params).since(10, 7)
}

const HANDLE: Param = req("handle");

/// The methods of objects that a host creates, each with the first software that has it, and a dot before its name.
pub(super) static METHODS: &[Signature] = &[
    // Publisher: two names of the same method.
    method(".write", &[HANDLE, req("message")]),
    method(".publish", &[HANDLE, req("message")]),
    // Subscriber.
    method(".read", &[HANDLE]),
    method(".read_history", &[HANDLE, opt("count")]),
    method(".wait", &[HANDLE, req("timeout")]),
    // Service client.
    method(".call", &[HANDLE, req("request"), opt("timeout")]),
    method(".wait_for_service", &[HANDLE, opt("timeout")]),
    // Message, or any other value.
    method(".to_string", &[HANDLE]),
    // All objects.
    method(".close", &[HANDLE]),
];
