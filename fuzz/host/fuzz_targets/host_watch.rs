//! Telemetry of a board and pieces of its recordings: nothing of it steers the terminal, and pieces are the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_fuzz_host::{discard_output, limited};

fuzz_target!(init: discard_output(), |bytes: &[u8]| limited(|| outrigger_cli::fuzz_watch(bytes)));
