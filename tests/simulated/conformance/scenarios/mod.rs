//! The scenarios that every port must pass, whatever its sockets are.

pub(crate) mod commanding;
pub(crate) mod links;
pub(crate) mod streams;
