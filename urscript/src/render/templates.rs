//! The templates of Outrigger's own programs, as a build carries them: what a [`ScriptText`] leaves out is left out by the
//! compiler already, a quarter of the text, and a byte stands for each of the most frequent words (`word`).
//!
//! [`ScriptText`]: super::program::ScriptText
#![expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "all of it is evaluated by the compiler")]

/// Makes of the frequent words a list for the compiler and one text that a build carries.
macro_rules! words {
    ($($word:literal)*) => {
        const WORDS: &[&str] = &[$($word),*];
        const JOINED: &str = concat!($($word, "\0"),*);
    };
}

// Control characters other than tab, line feed and carriage return. A longer word is listed before its beginning.
words! {
    "socket_send_int(" "0.0, 0.0, 0.0" "_positions(" " / 1000000" "_critical\n" "z,z,z,z," "global " "return "
    "False\n" "local " "while " " and " "joint" "norm(" "shown" " == " "end\n" "what" " * " " + " " - " " = "
    "if " "ing" ")\n" ", " ":\n" "er" "st"
}

// As many as there are bytes for them.
const _: () = assert!(WORDS.len() == 29);

/// Returns the word that a byte of a template stands for, if any.
pub(super) fn word(byte: u8) -> Option<&'static [u8]> {
    let index = match byte {
        1..=8 => byte.checked_sub(1)?,
        11..=12 => byte.checked_sub(3)?,
        14..=31 => byte.checked_sub(4)?,
        127 => 28,
        _ => return None,
    };
    JOINED.as_bytes().split(|b| *b == 0).nth(index.into())
}

/// Returns the byte for the first of the words that `text[at..end]` begins with, and the length of that word.
const fn packed(text: &[u8], at: usize, end: usize) -> Option<(u8, usize)> {
    let mut index = 0;
    while index < WORDS.len() {
        let word = WORDS[index].as_bytes();
        let mut same = 0;
        while same < word.len() && at + same < end && text[at + same] == word[same] {
            same += 1;
        }
        if same == word.len() {
            let byte = match index as u8 {
                number @ 0..=7 => number + 1,
                number @ 8..=9 => number + 3,
                number @ 10..=27 => number + 4,
                _ => 127,
            };
            return Some((byte, same));
        }
        index += 1;
    }
    None
}

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
            // The end of the line may belong to a word; conditions on the software and places for values belong to none.
            let after = if end < template.len() { end + 1 } else { end };
            let (mut gate, mut place) = (template[at] == b'$', false);
            while at < after {
                place = place || template[at] == b'{';
                let word = if gate || place { None } else { packed(template, at, after) };
                let (byte, taken) = match word {
                    Some(word) => word,
                    None => (template[at], 1),
                };
                gate = gate && !(byte == b' ' && template[at + 1] != b'$');
                place = place && byte != b'}';
                len = put(byte, out, len);
                at += taken;
            }
            if after == end {
                len = put(b'\n', out, len);
            }
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
