//! The templates of Outrigger's own programs in the packed form that a build contains. The compiler already removes all
//! text that a [`ScriptText`] would remove, a quarter of it, and replaces each of the most frequent words by one byte
//! above ASCII.
//!
//! [`ScriptText`]: super::program::ScriptText
#![expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "all of it is evaluated by the compiler")]
#![allow(long_running_const_eval, reason = "the compiler looks for every word at every place of every template")]

/// Defines three constants from the frequent words: `WORDS`, the list that is used at compile time; and for the run
/// time `JOINED`, the text of all words, and `LENGTHS`, the length of each word \[B\].
macro_rules! words {
    ($($word:literal)*) => {
        const WORDS: &[&str] = &[$($word),*];
        const JOINED: &str = concat!($($word),*);
        const LENGTHS: &[u8] = &[$($word.len() as u8),*];
    };
}

// Chosen to minimise templates and words together. A word is listed before any word that is its beginning. A line feed
// can only be the last byte of a word.
words! {
    "motion = run mover()\n" "enter_critical\n" " = get_target_" ", \"outrigger\"" "exit_critical" "kill motion\n"
    "] / 1000000" "_positions(" "ending = 3\n" " + 1048576" "get_actual" " = False\n" " > 0 and " "outrigger"
    " = True\n" " = zero\n" "0.0, 0.0" "_integer" "patience" "refusal(" "send_int" "stiffen(" "what == " "z,z,z,z,"
    " = 0.0\n" " mover(" "0, 0, 0" "0.1, 0." "[joint]" "braking" "counter" "global " "highest" "return " "six(o, "
    "socket_" "sync()\n" "waiting" " < 6:\n" "behind" "contac" "e_mode" "else:\n" "ending" "floor(" "local " "moving"
    "newest" "number" "order[" "pose(o" "silent" "stopj(" "wanted" "while " "yields" " = 0\n" " and " "65536" "], x["
    "ahead" "cycle" "drift" "elif " "fresh" "halt\n" "joint" "norm(" "show(" "shown" "speed" "tell(" "watch" " != "
    " == " " or " "0000" "def " "end\n" "from" "long" "not " "rest" "step" "tion" "what" " % " " * " " + " " - " " / "
    " < " " = " " > " "):\n" "0:\n" "100" "[j]" "ace" "ast" "due" "ead" "est" "et_" "if " "ing" "leg" "low" "way" ")\n"
    ", " "1\n" ":\n" "]\n" "at" "en" "er" "go" "in" "lo" "mo" "ne" "o[" "ol" "or" "st" "to"
}

/// The smallest byte that represents a frequent word; the bytes from it on represent the words in the order of the
/// list.
const FIRST: u8 = 128;
const _: () = assert!(WORDS.len() <= FIRST as usize, "more words than there are bytes for them");

/// Returns whether a byte of a template represents a word.
pub(super) const fn is_word(byte: u8) -> bool {
    byte >= FIRST
}

/// Returns the word that a byte of a template represents, if any.
pub(super) fn word(byte: u8) -> Option<&'static [u8]> {
    let (length, before) = LENGTHS.get(..=usize::from(byte.checked_sub(FIRST)?))?.split_last()?;
    let start = before.iter().fold(0_usize, |sum, length| sum.wrapping_add(usize::from(*length)));
    JOINED.as_bytes().get(start..)?.get(..usize::from(*length))
}

/// The chains of frequent words with the same first byte, in which [`packed`] searches: for each byte of ASCII the
/// index of the first such word, and for each word that of the next one. 255 ends a chain.
const CHAINS: ([u8; 128], [u8; WORDS.len()]) = {
    let (mut heads, mut next) = ([u8::MAX; 128], [u8::MAX; WORDS.len()]);
    let mut index = WORDS.len();
    while index > 0 {
        index -= 1;
        let head = WORDS[index].as_bytes()[0] as usize;
        next[index] = heads[head];
        heads[head] = index as u8;
    }
    (heads, next)
};

/// Returns the byte that represents the first word with which `text[at..end]` begins, and the length of that word;
/// `None` if it begins with no word.
const fn packed(text: &[u8], at: usize, end: usize) -> Option<(u8, usize)> {
    assert!(text[at].is_ascii(), "programs are ASCII");
    let mut number = CHAINS.0[text[at] as usize];
    while number != u8::MAX {
        let word = WORDS[number as usize].as_bytes();
        let mut same = 1;
        while same < word.len() && at + same < end && text[at + same] == word[same] {
            same += 1;
        }
        if same == word.len() {
            return Some((FIRST + number, same));
        }
        number = CHAINS.1[number as usize];
    }
    None
}

/// Writes the packed form of a template to `out`, as far as it fits: without comments and empty lines, with an
/// indentation of one blank at most, and with one byte for each frequent word. Returns its length \[B\].
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
            // The end of the line may be part of a word. Version conditions and placeholders are not part of words.
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
        &BYTES
    }};
}

/// The template of the beginning of every program, before [`SPEEDJ`], [`POSITIONS`], [`TORQUE`] or [`PLAYER`]: the
/// program's name, and the limits of the joints (`urscript/programs/limits.script`).
pub const LIMITS: &[u8] = template!("limits");

/// The template of the program part that executes joint speeds by a thread of `speedj`
/// (`urscript/programs/speedj.script`), written between [`LIMITS`] and [`CONVERSATION`] or [`REGISTERS`].
pub const SPEEDJ: &[u8] = template!("speedj");

/// The template of the program part that executes joint torques by a thread of `direct_torque`
/// (`urscript/programs/torque.script`), written between [`LIMITS`] and [`CONVERSATION`] or [`REGISTERS`].
pub const TORQUE: &[u8] = template!("torque");

/// The template of the code that the two programs for joint positions, [`SERVOJ`] and [`BUFFERED`], have in common: the
/// check of a received position and the step towards it. It is written behind [`LIMITS`]
/// (`urscript/programs/positions.script`).
pub const POSITIONS: &[u8] = template!("positions");

/// The template of the program part that executes joint positions by a thread of `servoj`
/// (`urscript/programs/servoj.script`), written between [`POSITIONS`] and [`CONVERSATION`] or [`REGISTERS`].
pub const SERVOJ: &[u8] = template!("servoj");

/// The template of the program part that executes joint positions, which wait in a ring buffer before a thread of
/// `servoj` uses them (`urscript/programs/buffered.script`). It is written between [`POSITIONS`] and [`CONVERSATION`]
/// or [`REGISTERS`].
pub const BUFFERED: &[u8] = template!("buffered");

/// The template of the program part that communicates by a TCP connection with the computer that sent the program, for
/// all programs other than [`PLAYER`] (`urscript/programs/conversation.script`).
pub const CONVERSATION: &[u8] = template!("conversation");

/// The template of the program part that communicates with the computer through registers of RTDE, an alternative to
/// [`CONVERSATION`] (`urscript/programs/registers.script`).
pub const REGISTERS: &[u8] = template!("registers");

/// The template of the program that executes moves by itself, with its own communication
/// (`urscript/programs/player.script`), written behind [`LIMITS`].
pub const PLAYER: &[u8] = template!("player");
