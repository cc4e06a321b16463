//! Tests of a client with a scripted service: requests, replies and events.

mod bench;
mod flowing;
mod properties;
mod registers;
mod setting_up;
