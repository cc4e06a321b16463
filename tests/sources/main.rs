//! Tests that read sources and pages and execute no part of them.

mod citations;
mod clocks;
mod examples;
mod layering;
mod links;
mod packages;
mod prose;
mod reading;
mod vendors;
