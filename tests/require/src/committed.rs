//! Files that are made by code and committed: compared with what is made now, or written anew.

use std::path::Path;

use super::workspace;

/// The variable that has files written instead of compared, where it is `1`.
const BLESS: &str = "OUTRIGGER_BLESS";
/// Lines shown before and after the first one that differs.
const CONTEXT: usize = 2;
/// The most characters that are shown of a line.
const WIDTH: usize = 300;
/// Characters shown before the first one that differs in a longer line.
const AROUND: usize = 100;

/// Compares `made` with the file at `path` from the root of the workspace, or writes it with `OUTRIGGER_BLESS=1`.
///
/// # Panics
/// Where they differ, with the first line that does and a few lines around it.
pub fn hold(path: impl AsRef<Path>, made: &str) {
    let path = path.as_ref();
    if let Some(difference) = read(path, made).and_then(|committed| difference(&committed, made)) {
        panic!("{} differs from what is made now, first in {difference}{BLESS}=1 writes it anew", path.display());
    }
}

/// Compares `made` with the part of the page at `path` that stands between `<!-- name -->` and `<!-- end -->`, or writes it there with
/// `OUTRIGGER_BLESS=1`.
///
/// # Panics
/// Where they differ, and where the page has no such part.
pub fn hold_part(path: impl AsRef<Path>, name: &str, made: &str) {
    let path = path.as_ref();
    let mut page =
        std::fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let begin = format!("<!-- {name} -->\n");
    let at = page.find(&begin).unwrap_or_else(|| panic!("{} has no {begin}", path.display())) + begin.len();
    let end = at + page[at..].find("<!-- end -->").unwrap_or_else(|| panic!("{}: {begin} has no end", path.display()));
    page.replace_range(at..end, made);
    hold(path, &page);
}

/// Returns the text of the file at `path` from the root of the workspace, or `None` where `OUTRIGGER_BLESS=1` has written `made` to it.
///
/// # Panics
/// Where it cannot be read, or written.
pub fn read(path: &Path, made: &str) -> Option<String> {
    let file = workspace().join(path);
    if std::env::var_os(BLESS).is_some_and(|value| value == "1") {
        std::fs::write(&file, made).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return None;
    }
    Some(
        std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}; {BLESS}=1 makes it", path.display())),
    )
}

/// Returns the first line in which two texts differ, with its number and a few lines around it: `-` for `old`, `+` for `new`.
#[must_use]
pub fn difference(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let [old, new] = [old, new].map(|text| text.split('\n').collect::<Vec<_>>());
    let first = (0..).find(|at| old.get(*at) != new.get(*at))?;
    let [before, after] = [&old, &new].map(|lines| lines.get(first).copied().unwrap_or_default());
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    let left = if same < WIDTH - AROUND { 0 } else { same - AROUND };
    let around = |sign, lines: &[&str], from: usize, count: usize| -> String {
        lines
            .iter()
            .enumerate()
            .skip(from)
            .take(count)
            .map(|(at, line)| shown(sign, line, if at == first { left } else { 0 }))
            .collect()
    };
    let context = first.min(CONTEXT);
    Some(format!(
        "line {}:\n{}{}{}",
        first + 1,
        around(' ', &old, first - context, context),
        around('-', &old, first, 1 + CONTEXT),
        around('+', &new, first, 1 + CONTEXT),
    ))
}

/// Returns a line, of a long one the part that begins with the character `left`.
fn shown(sign: char, line: &str, left: usize) -> String {
    let begins = if left > 0 { "… " } else { "" };
    let ends = if line.chars().nth(left + WIDTH).is_some() { " …" } else { "" };
    format!("{sign} {begins}{}{ends}\n", line.chars().skip(left).take(WIDTH).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_shown_with_those_around_it() {
        let (old, new) = ("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nD\ne\nf\nG\nh\n");
        assert_eq!(difference(old, new).unwrap(), "line 4:\n  b\n  c\n- d\n- e\n- f\n+ D\n+ e\n+ f\n");
        assert_eq!(difference(old, old), None);
    }

    #[test]
    fn a_text_that_ends_early_differs_where_the_other_one_goes_on() {
        assert_eq!(difference("a\n", "a\nb\n").unwrap(), "line 2:\n  a\n- \n+ b\n+ \n");
        assert_eq!(difference("", "a").unwrap(), "line 1:\n- \n+ a\n");
        assert_eq!(difference("a", "a\n").unwrap(), "line 2:\n  a\n+ \n");
    }

    #[test]
    fn of_a_long_text_and_of_a_long_line_little_is_shown() {
        let long = |first: &str| format!("{first}{}\n", "x".repeat(10_000)).repeat(1_000);
        let shown = difference(&long("a"), &long("b")).unwrap();
        assert!(shown.len() < 2_500 && shown.lines().count() == 7, "{shown}");
        let [old, new] = ["old", "new"].map(|word| "x".repeat(1_000) + word);
        let same = "x".repeat(100);
        assert_eq!(difference(&old, &new).unwrap(), format!("line 1:\n- … {same}old\n+ … {same}new\n"));
    }
}
