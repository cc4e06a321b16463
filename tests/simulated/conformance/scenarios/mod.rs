//! What every port must do, whatever its sockets are.

pub(crate) mod commanding;
pub(crate) mod links;
pub(crate) mod streams;
