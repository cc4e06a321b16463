//! Compares the core with the oracle: both read the same bytes.

mod against_core;
mod dashboard_against_core;
mod fri_against_core;
mod primary_against_core;
mod readings_against_core;
mod rtde_against_core;
mod rtde_simulated;
mod simulated_traffic;
mod tables_are_whole;
