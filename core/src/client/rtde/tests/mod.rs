//! A client opposite a scripted service: what is asked, what is taken, what is told.

mod bench;
mod flowing;
mod properties;
mod registers;
mod setting_up;
