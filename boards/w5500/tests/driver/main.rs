//! Tests of the driver on a modelled chip, in virtual time.

// Provides the critical sections of the tests.
use critical_section as _;

mod faults;
mod floods;
mod frames;
mod released;
mod restart;
mod stack;
mod station;
