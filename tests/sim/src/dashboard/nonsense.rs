//! What a server says that has lost its mind: lines that look like replies, and lines that look like nothing.

use crate::rng::Rng;

/// Lines that are well formed and mean nothing, or are the answer to something else.
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
/// Longest line of bytes that are no text.
const BYTES: u64 = 80;
/// One in so many lines is of such bytes.
const RAW: u64 = 3;

/// A line with its line feed.
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
