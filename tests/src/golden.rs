//! Committed texts, compared byte for byte with those that the code makes.

use std::path::Path;

/// The variable that is `1` to write committed texts anew instead of comparing them.
const BLESS: &str = "OUTRIGGER_BLESS";

/// Compares `made` with the committed text at `path`, or writes it there where `OUTRIGGER_BLESS` is `1`.
///
/// # Panics
/// Where they differ, with the first line that does.
pub fn hold(path: impl AsRef<Path>, made: &str) {
    let path = path.as_ref();
    if std::env::var_os(BLESS).is_some_and(|value| value == "1") {
        std::fs::write(path, made).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    if committed == made {
        return;
    }
    let mut lines = (1..).zip(committed.lines().zip(made.lines())).filter(|(_, (old, new))| old != new);
    let (at, (old, new)) = lines.next().unwrap_or((0, ("(as many lines as the shorter)", "(ends elsewhere)")));
    panic!("{} differs from line {at} on:\n- {old}\n+ {new}\n{BLESS}=1 writes it anew", path.display());
}
