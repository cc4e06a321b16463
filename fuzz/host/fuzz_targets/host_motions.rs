//! Reads any bytes as a motion in a file, as a table or as JSON. Checks that an accepted motion is finite and ends at
//! rest, and that an error states its position.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_fuzz_host::{discard_output, limited};

fuzz_target!(init: discard_output(), |bytes: &[u8]| limited(|| outrigger_cli::fuzzing::motion(bytes)));
