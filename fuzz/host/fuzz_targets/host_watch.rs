//! Reads any bytes as telemetry of a board and as pieces of its recordings. Checks that none of it controls the
//! terminal, and that the pieces add up to the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_fuzz_host::{discard_output, limited};

fuzz_target!(init: discard_output(), |bytes: &[u8]| limited(|| outrigger_cli::fuzz_watch(bytes)));
