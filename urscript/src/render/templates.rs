//! The templates of Outrigger's own programs, as a build carries them: what a [`ScriptText`] leaves out is left out by the
//! compiler already, a quarter of the text.
//!
//! [`ScriptText`]: super::program::ScriptText
#![expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "all of it is evaluated by the compiler")]

/// How many bytes of a template stay, which are written to `out`, as many as it has room for.
const fn strip<const N: usize>(template: &[u8], out: &mut [u8; N]) -> usize {
    let (mut at, mut len) = (0, 0);
    while at < template.len() {
        let indented = template[at] == b' ';
        while at < template.len() && template[at] == b' ' {
            at += 1;
        }
        let mut end = at;
        while end < template.len() && template[end] != b'\n' {
            end += 1;
        }
        if end > at && template[at] != b'#' {
            if indented {
                len = put(b' ', out, len);
            }
            while at < end {
                len = put(template[at], out, len);
                at += 1;
            }
            len = put(b'\n', out, len);
        }
        at = end + 1;
    }
    len
}

const fn put<const N: usize>(byte: u8, out: &mut [u8; N], len: usize) -> usize {
    if len < N {
        out[len] = byte;
    }
    len + 1
}

macro_rules! template {
    ($file:literal) => {{
        const WHOLE: &[u8] = include_bytes!(concat!("../../programs/", $file, ".script"));
        const LEN: usize = strip(WHOLE, &mut [0; 0]);
        const BYTES: [u8; LEN] = {
            let mut bytes = [0; LEN];
            strip(WHOLE, &mut bytes);
            bytes
        };
        match core::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("programs are ASCII"),
        }
    }};
}

/// The beginning of [`SPEEDJ`], [`SERVOJ`], [`BUFFERED`] and [`PLAYER`]: name and limits of the joints
/// (`urscript/programs/limits.script`).
pub const LIMITS: &str = template!("limits");

/// The joint speeds by a thread of `speedj` (`urscript/programs/speedj.script`), between [`LIMITS`] and [`CONVERSATION`].
pub const SPEEDJ: &str = template!("speedj");

/// The steps of the two programs of joint positions, behind [`LIMITS`] (`urscript/programs/positions.script`).
pub const POSITIONS: &str = template!("positions");

/// The joint positions by a thread of `servoj` (`urscript/programs/servoj.script`), between [`POSITIONS`] and
/// [`CONVERSATION`].
pub const SERVOJ: &str = template!("servoj");

/// The joint positions that wait in a ring before a thread of `servoj` takes them (`urscript/programs/buffered.script`),
/// between [`POSITIONS`] and [`CONVERSATION`].
pub const BUFFERED: &str = template!("buffered");

/// What each of the other three says to the computer that sent it, and hears from it
/// (`urscript/programs/conversation.script`).
pub const CONVERSATION: &str = template!("conversation");

/// The same in registers of RTDE, in place of [`CONVERSATION`] (`urscript/programs/registers.script`).
pub const REGISTERS: &str = template!("registers");

/// The moves that the controller makes by itself, with their own conversation (`urscript/programs/player.script`), behind
/// [`LIMITS`].
pub const PLAYER: &str = template!("player");
