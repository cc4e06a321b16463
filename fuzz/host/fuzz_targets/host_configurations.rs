//! Reads any bytes as a configuration. Checks that every problem states its line, and that the engine accepts all
//! configurations that the reader accepts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_fuzz_host::{discard_output, limited};

fuzz_target!(init: discard_output(), |bytes: &[u8]| limited(|| outrigger_cli::fuzzing::configuration(bytes)));
