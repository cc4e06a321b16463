//! Tests that read sources and pages and run nothing of them.

mod citations;
mod clocks;
mod examples;
mod layering;
mod links;
mod makers;
mod packages;
mod reading;
