//! The comparison of a measured table with the committed one.

/// The divisor of a committed number that gives the tolerance of a larger measured number: one percent.
const SLACK: u64 = 100;
/// The difference of two numbers that is always tolerated \[bytes\]. In folders with other names the compiler inlines
/// other functions (a task's stack differed by 104 B).
const SLACK_BYTES: u64 = 256;
/// The divisor of a committed number that gives the tolerance of a smaller measured number: five percent. It is wider
/// than [`SLACK`], because a smaller cost is no fault.
const GAIN: u64 = 20;

/// Returns the lines in which a measured table differs from the committed one. A number may be larger by [`SLACK`] or
/// smaller by [`GAIN`], and in either case differ by [`SLACK_BYTES`].
pub(crate) fn differences(committed: &str, measured: &str) -> Vec<String> {
    let near = |a: &str, b: &str| match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(committed), Ok(measured)) => {
            let part = if measured > committed { SLACK } else { GAIN };
            committed.abs_diff(measured) <= SLACK_BYTES.max(committed / part)
        }
        _ => a == b,
    };
    let alike = |a: &str, b: &str| {
        let (a, b): (Vec<_>, Vec<_>) = (a.split_whitespace().collect(), b.split_whitespace().collect());
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| near(a, b))
    };
    let (mut old, mut new) = (committed.lines(), measured.lines());
    let mut differences = Vec::new();
    loop {
        match (old.next(), new.next()) {
            (None, None) => return differences,
            (Some(a), Some(b)) if alike(a, b) => {}
            (a, b) => {
                differences.extend(a.map(|line| format!("- {line}")));
                differences.extend(b.map(|line| format!("+ {line}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn a_smaller_number_passes_where_an_equally_larger_one_fails() {
        let (small, large) = ("| stack | 37644 |", "| stack | 38188 |");
        assert_eq!(differences(large, small), Vec::<String>::new());
        assert_eq!(differences(small, large), [format!("- {small}"), format!("+ {large}")]);
    }

    #[test]
    fn a_number_that_fell_by_a_tenth_is_reported() {
        let (small, large) = ("| stack | 34000 |", "| stack | 38188 |");
        assert_eq!(differences(large, small).len(), 2);
    }

    #[test]
    fn other_words_and_missing_lines_are_reported() {
        assert_eq!(differences("| core | 1 |", "| urscript | 1 |").len(), 2);
        assert_eq!(differences("| core | 1 |\n| app | 2 |", "| core | 1 |"), ["- | app | 2 |"]);
    }
}
