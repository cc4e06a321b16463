//! Reads any bytes as a recording in MCAP: as a motion, as a table, decoded and replayed. Checks that an error states
//! the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_fuzz_host::{discard_output, limited};

fuzz_target!(init: discard_output(), |bytes: &[u8]| limited(|| outrigger_cli::fuzzing::recording(bytes)));
