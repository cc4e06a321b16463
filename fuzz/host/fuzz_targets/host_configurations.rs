//! A configuration: every problem names a line, and the engine accepts what the reader accepts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_fuzz_host::{discard_output, limited};

fuzz_target!(init: discard_output(), |bytes: &[u8]| limited(|| outrigger_cli::fuzzing::configuration(bytes)));
