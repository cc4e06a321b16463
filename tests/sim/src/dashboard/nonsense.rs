//! Wrong answers of a faulty dashboard server: lines that look like replies, and bytes that are no text.

use crate::rng::Rng;

/// Wrong answers of a faulty dashboard server that are text: meaningless lines, and answers to another request.
const LINES: [&str; 9] = [
    "",
    "Robotmode: PURPLE",
    "Safetymode: ",
    "Program running: perhaps",
    "Loading program",
    "PLAYING",
    "URSoftware five",
    "true false",
    "Connected: Universal Robots Dashboard Server",
];
/// The largest length of a random wrong dashboard answer that is not text \[bytes\].
const BYTES: u64 = 80;
/// The divisor of the share of wrong dashboard answers that are not text: on average one in this many is random bytes.
const RAW: u64 = 3;

/// Returns a random wrong answer of the dashboard server with its line feed.
pub(crate) fn nonsense(rng: &mut Rng) -> Vec<u8> {
    let mut line = if rng.up_to(RAW - 1) == 0 {
        (0..rng.up_to(BYTES)).map(|_| rng.up_to(0xFF) as u8).filter(|byte| *byte != b'\n').collect()
    } else {
        let which = rng.up_to(LINES.len() as u64 - 1) as usize;
        LINES.get(which).unwrap_or(&"").as_bytes().to_vec()
    };
    line.push(b'\n');
    line
}
