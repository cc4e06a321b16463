//! Outrigger on Linux.
