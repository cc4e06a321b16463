//! The report page of a run: one HTML file that needs nothing else.

pub mod plot;
