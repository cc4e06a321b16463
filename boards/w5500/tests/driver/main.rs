//! The driver on a modelled chip, in virtual time.

// The critical sections of everything that runs here.
use critical_section as _;

mod faults;
mod floods;
mod frames;
mod released;
mod restart;
mod stack;
mod station;
