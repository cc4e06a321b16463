//! The columns of a table, by name or by count: time, joint positions, and optionally joint speeds and accelerations.
//!
//! | times | positions | speeds | accelerations |
//! |---|---|---|---|
//! | `t`, `time` | `q0` … | `qd0` … | `qdd0` … |
//! | `timestamp` (clock time) | `q_0` … | `qd_0` … | `qdd_0` … |
//! | | `actual_q_0` … | `actual_qd_0` … | |
//! | | `target_q_0` … | `target_qd_0` … | `target_qdd_0` … |
//!
//! All columns are of one source: `actual_…`, `target_…`, or neither. Joints are numbered from 0 or from 1. Case and
//! quotation marks are ignored. The suffix `_deg` means degrees.
//!
//! The names may also be in a `#` comment. [`Comment`] decides which comments are headers, and which are remarks.

use std::collections::BTreeSet;

use super::read_options::quoted;

/// The meaning of the columns of a table with a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Columns {
    /// The number of columns of the motion's table.
    pub(super) count: usize,
    /// `true` if times are clock times. The motion then starts at the first one.
    pub(super) is_clock: bool,
    /// Three flags, for positions, speeds and accelerations: `true` for degrees, `false` for radians.
    pub(super) is_degrees: [bool; 3],
}

/// The number of the faulty column of a motion's table, from 1, and the error text.
pub(super) type Wrong = (usize, String);

const TIMES: [&str; 3] = ["t", "time", CLOCK];
/// The name of the controller's clock in files of UR's `record.py`.
const CLOCK: &str = "timestamp";
/// The prefixes of column names before the joint's number: positions, speeds, accelerations.
const PREFIXES: [&[&str]; 3] = [
    &["q", "q_", "actual_q_", "target_q_"],
    &["qd", "qd_", "actual_qd_", "target_qd_"],
    &["qdd", "qdd_", "target_qdd_"],
];
/// The words for degrees in comments of a motion's table. See also [`mentions_degrees`].
const DEGREES: [&str; 4] = ["deg", "degs", "degree", "degrees"];
/// The words for radians in comments of a motion's table.
const RADIANS: [&str; 3] = ["rad", "radian", "radians"];
/// The degree sign, and two other characters that look like it.
const DEGREE_SIGNS: [char; 3] = ['°', 'º', '˚'];
/// Units that are not supported, as they appear in remarks and names of columns.
const OTHER_UNITS: [&str; 32] = [
    "ms",
    "msec",
    "msecs",
    "millis",
    "millisecond",
    "milliseconds",
    "millisekunden",
    "usec",
    "usecs",
    "microsecond",
    "microseconds",
    "µs",
    "μs",
    "nsec",
    "nanosecond",
    "nanoseconds",
    "mrad",
    "mrads",
    "milliradian",
    "milliradians",
    "urad",
    "µrad",
    "μrad",
    "mdeg",
    "millidegree",
    "millidegrees",
    "arcmin",
    "arcsec",
    "arcminutes",
    "arcseconds",
    "gon",
    "rpm",
];
/// Unsupported units that are also words of a text. They count as units only in brackets, or after "in", `/` or `_`.
const UNITS_IN_PLACE: [&str; 9] =
    ["us", "ns", "minutes", "minuten", "hours", "stunden", "revolutions", "turns", "umdrehungen"];
/// The first words of unsupported units that are written as two words, such as `milli second`.
const MULTIPLES: [&str; 3] = ["milli", "micro", "nano"];
/// The second words of unsupported units that are written as two words, such as `milli second`.
const MULTIPLIED: [&str; 11] =
    ["second", "seconds", "sec", "secs", "sekunden", "radian", "radians", "rad", "degree", "degrees", "deg"];
/// The advice for numbers that are cut in two by decimal commas.
pub(super) const DECIMAL_COMMAS: &str = "; for decimal commas, separate columns by semicolons or tabs";
/// The advice for an empty last column of a table, which has no name or number.
pub(super) const NO_SEPARATOR: &str = "; remove the separator at the end of the line";
const REMEDY: &str = "a header is t, q0 to the last joint, optionally qd0 ... and qdd0 ..., with the suffix _deg for degrees; \
                      remove other columns, or leave out the header";
/// The advice for a first column name that may be a time in another unit, such as `timeMs`.
const OF_TIME: &str = "times are read in s: convert the numbers if they are in another unit, and name the column t";

/// The advice for a column name with another unit. Without its header the numbers would be interpreted in the wrong
/// unit.
pub(super) const OF_UNIT: &str =
    "times are read in s, angles in rad, or in degrees with the suffix _deg: convert the numbers";

impl Columns {
    /// Returns the columns of a motion's table without a header, from their number `count`.
    ///
    /// # Errors
    /// Returns an error if the count does not fit.
    pub(super) fn unnamed<const N: usize>(count: usize) -> Result<Self, Wrong> {
        check_count::<N>(count)?;
        Ok(Self { count, is_clock: false, is_degrees: [false; 3] })
    }

    /// Returns the columns of a motion's table with these `names` in its header.
    ///
    /// # Errors
    /// Returns the first unknown or misplaced name.
    pub(super) fn named<const N: usize>(names: &[&str]) -> Result<Self, Wrong> {
        let names: Vec<String> = names.iter().map(|name| name.trim_matches('"').trim().to_ascii_lowercase()).collect();
        let mut columns = Self { count: names.len(), is_clock: false, is_degrees: [false; 3] };
        let (mut first_number, mut source) = (0, "");
        for (place, name) in names.iter().enumerate() {
            let is_last = place + 1 == names.len();
            let wrong = |expected: String| {
                if name.is_empty() && is_last && may_be::<N>(place) {
                    return (place + 1, format!("found no name for the last column{NO_SEPARATOR}"));
                }
                let remedy = match other_unit(name) {
                    Some(_) => OF_UNIT,
                    None if place == 0 && name.starts_with('t') => OF_TIME,
                    None => REMEDY,
                };
                (place + 1, format!("found column '{}', expected {expected}; {remedy}", quoted(name, 40)))
            };
            if place == 0 && (name.is_empty() || name.starts_with("unnamed:")) {
                let what = "found no name for the first column, expected 't', 'time' or 'timestamp': pandas writes its index \
                            there; write the table with to_csv(index=False), or remove the column";
                return Err((1, what.into()));
            }
            let Some(place) = place.checked_sub(1) else {
                if !TIMES.contains(&name.as_str()) {
                    return Err(wrong("'t', 'time' or 'timestamp'".into()));
                }
                columns.is_clock = name == CLOCK;
                continue;
            };
            let (group, joint) = (place / N, place % N);
            let Some((slot, prefixes)) = columns.is_degrees.get_mut(group).zip(PREFIXES.get(group)) else {
                return Err(wrong("no further column".into()));
            };
            let (stem, is_degrees) = name.strip_suffix("_deg").map_or((name.as_str(), false), |stem| (stem, true));
            let (prefix, number) = stem.split_at(stem.trim_end_matches(|c: char| c.is_ascii_digit()).len());
            let number = number.parse::<usize>().ok();
            if place == 0 {
                first_number = usize::from(number == Some(1));
                source = source_of(prefix);
            }
            let fits =
                prefixes.contains(&prefix) && source_of(prefix) == source && number == Some(joint + first_number);
            if joint == 0 && fits {
                *slot = is_degrees;
            }
            if !fits || *slot != is_degrees {
                let Some(prefix) = prefixes.iter().find(|prefix| source_of(prefix) == source) else {
                    return Err(wrong(format!("no further column with columns named {source}q_")));
                };
                let unit = if *slot && joint > 0 { "_deg" } else { "" };
                return Err(wrong(format!("'{prefix}{}{unit}'", joint + first_number)));
            }
        }
        check_count::<N>(names.len()).map(|()| columns)
    }
}

/// The meaning of a `#` comment in a table with a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comment {
    /// A header line that names the columns of the table.
    Header(Columns),
    /// A text that mentions degrees, and names no columns or other unit.
    Degrees,
    /// A remark, which has no effect on the meaning of the table.
    Remark,
}

impl Comment {
    /// Returns the meaning of a comment with this `text`, and these `names` if it is a header.
    ///
    /// # Errors
    /// Returns an error if the comment mentions another unit, or if it seems to be a header and is not a valid one.
    /// It seems to be a header if it names two joints, or has as many parts as a header.
    pub(super) fn of<const N: usize>(text: &str, names: &[&str]) -> Result<Self, Wrong> {
        let wrong = match Columns::named::<N>(names) {
            Ok(columns) => return Ok(Self::Header(columns)),
            Err(wrong) => wrong,
        };
        // A single joint name may be a word of a text, such as the name of a robot or a quarter of a year.
        let joints: BTreeSet<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| names_joint(word)).collect();
        let begins_with_time =
            names.first().is_some_and(|name| TIMES.iter().any(|time| name.eq_ignore_ascii_case(time)));
        let has_parts = (begins_with_time || text.contains([',', ';', '\t'])) && may_be::<N>(names.len());
        if has_parts || joints.len() > 1 {
            return Err((wrong.0, format!("{}, or remove the comment", wrong.1)));
        }
        if let Some(unit) = other_unit(text) {
            let what = format!(
                "found a comment that mentions {unit}, expected times in s, and angles in rad or degrees: convert the numbers, \
                 or remove the comment"
            );
            return Err((1, what));
        }
        Ok(if mentions_degrees(text) { Self::Degrees } else { Self::Remark })
    }
}

/// Returns the first unsupported unit in the text of a table's comment or column name. A unit after a number is a
/// quantity, and says nothing about the columns.
fn other_unit(text: &str) -> Option<String> {
    let words = words(text);
    words.iter().enumerate().find_map(|(place, word)| {
        let unit = word.text.to_lowercase();
        let before = place.checked_sub(1).and_then(|place| words.get(place));
        let is_apart = || {
            let first = before.filter(|_| [" ", "-"].contains(&word.between)).map(|before| before.text.to_lowercase());
            first.filter(|first| MULTIPLES.contains(&first.as_str()) && MULTIPLIED.contains(&unit.as_str()))
        };
        if word.is_behind_number {
            return None;
        }
        if let Some(first) = is_apart() {
            return Some(format!("{first}{}{unit}", word.between));
        }
        // "US" is a country.
        let is_in_place = || UNITS_IN_PLACE.contains(&unit.as_str()) && word.text != "US" && word.is_in_place();
        let is_minutes = || unit == "min" && (word.is_in_brackets || word.between.ends_with('/'));
        (OTHER_UNITS.contains(&unit.as_str()) || is_in_place() || is_minutes()).then_some(unit)
    })
}

/// Returns `true` if the text of a table's comment seems to say that angles are in degrees.
fn mentions_degrees(text: &str) -> bool {
    let words = words(text);
    let has_radians = words.iter().any(|word| RADIANS.contains(&word.text.to_lowercase().as_str()));
    let behind = |place: usize| words.get(place + 1).map_or("", |next| next.text);
    let before = |place: usize| place.checked_sub(1).and_then(|place| words.get(place)).map_or("", |word| word.text);
    let is_unit = |place: usize, word: &TextWord<'_>| {
        let unit = word.text.to_lowercase();
        let is_named = DEGREES.contains(&unit.as_str()) && !(behind(place) == "of" && behind(place + 1) == "freedom");
        // "Grad" is degrees in German, but also the gradient of a learned policy.
        is_named || word.text == "Grad" || (unit == "grad" && (word.is_in_brackets || word.is_behind_in))
    };
    // The text may say "in rad, not degrees", or "rad, converted from degrees".
    let is_excluded = |place: usize| {
        let place = if before(place).eq_ignore_ascii_case("in") { place.saturating_sub(1) } else { place };
        has_radians && ["not", "no", "nicht", "than", "of", "from"].contains(&before(place).to_lowercase().as_str())
    };
    let has_sign = text.match_indices(DEGREE_SIGNS).any(|(place, _)| {
        let before = text.get(..place).unwrap_or_default().trim_end();
        !before.ends_with(|c: char| c.is_ascii_digit())
    });
    has_sign
        || words
            .iter()
            .enumerate()
            .any(|(place, word)| is_unit(place, word) && !word.is_behind_number && !is_excluded(place))
}

/// A word in a comment of a table, with its context.
struct TextWord<'a> {
    text: &'a str,
    /// The text between this word and the word before.
    between: &'a str,
    is_in_brackets: bool,
    is_behind_in: bool,
    is_behind_number: bool,
}

impl TextWord<'_> {
    /// Returns `true` if a word that has other meanings, too, is used as a unit.
    fn is_in_place(&self) -> bool {
        self.is_in_brackets || self.is_behind_in || self.between.ends_with(['/', '_'])
    }
}

/// Returns the words of a comment's text: letters and digits, without underscores.
fn words(text: &str) -> Vec<TextWord<'_>> {
    let mut words: Vec<TextWord<'_>> = vec![];
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let (between, from) = rest.split_at(start);
        let (word, behind) = from.split_at(from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len()));
        let before = words.last().map_or("", |before| before.text);
        let is_number = before.starts_with(|c: char| c.is_ascii_digit())
            && before.bytes().all(|byte| byte.is_ascii_digit() || byte.eq_ignore_ascii_case(&b'e'));
        words.push(TextWord {
            text: word,
            between,
            is_in_brackets: between.trim_end().ends_with(['[', '(']) && behind.trim_start().starts_with([']', ')']),
            is_behind_in: before.eq_ignore_ascii_case("in") && between.trim().is_empty(),
            is_behind_number: is_number && [" ", "-", ""].contains(&between),
        });
        rest = behind;
    }
    words
}

/// Returns the part of a prefix that names the source of the numbers: measured (`actual_`), commanded (`target_`), or
/// none.
fn source_of(prefix: &str) -> &'static str {
    ["actual_", "target_"].into_iter().find(|source| prefix.starts_with(source)).unwrap_or_default()
}

/// Returns `true` for a word that can only be the name of a joint's column, such as `q3`, `qd_1_rad`, `J1` or
/// `elbow_joint`.
fn names_joint(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let stem = ["actual_", "target_"].into_iter().find_map(|before| word.strip_prefix(before)).unwrap_or(&word);
    let letters = stem.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let kind = &stem[..stem.len() - letters.len()];
    let number = letters.strip_prefix('_').unwrap_or(letters);
    let is_kind = ["q", "qd", "qdd", "j", "joint", "axis", "a", "e", "theta"].contains(&kind);
    word.ends_with("_joint") || (is_kind && number.starts_with(|c: char| c.is_ascii_digit()))
}

fn check_count<const N: usize>(count: usize) -> Result<(), Wrong> {
    let fits = |count: usize| [1 + N, 1 + 2 * N, 1 + 3 * N].contains(&count);
    if fits(count) {
        return Ok(());
    }
    // Each decimal comma has split a number in two.
    let halves = if count.is_multiple_of(2) && fits(count / 2) { DECIMAL_COMMAS } else { "" };
    Err((
        count.max(1),
        format!(
            "found {count} columns, expected {} (t and {N} angles), {} (and {N} speeds) or {} (and {N} accelerations){halves}",
            1 + N,
            1 + 2 * N,
            1 + 3 * N
        ),
    ))
}

/// Returns `true` if a table of a motion for `N` joints can have `count` columns.
pub(super) fn may_be<const N: usize>(count: usize) -> bool {
    check_count::<N>(count).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &str) -> Result<Columns, Wrong> {
        Columns::named::<2>(&names.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn names_of_other_programs_are_known_with_their_units() {
        let radians = Columns { count: 3, is_clock: false, is_degrees: [false; 3] };
        for names in ["t q0 q1", "time q1 q2", "Time Q1 Q2", "\"t\" \"q0\" \"q1\"", "t target_q_0 target_q_1"] {
            assert_eq!(named(names), Ok(radians), "{names}");
        }
        assert_eq!(named("timestamp actual_q_0 actual_q_1"), Ok(Columns { is_clock: true, ..radians }));
        assert_eq!(named("t q0_deg q1_deg"), Ok(Columns { is_degrees: [true, false, false], ..radians }));
        let mixed = Columns { count: 7, is_degrees: [false, true, false], ..radians };
        assert_eq!(named("t q1 q2 qd1_deg qd2_deg qdd1 qdd2"), Ok(mixed));
    }

    #[test]
    fn a_name_that_is_another_is_told_with_its_column_and_what_to_do() {
        for (names, column, said) in [
            ("x q0 q1", 1, "found column 'x', expected 't', 'time' or 'timestamp'; "),
            ("t q1 q0", 3, "found column 'q0', expected 'q2'; "),
            ("t q0 q2", 3, "found column 'q2', expected 'q1'; "),
            ("t joint_a q1", 2, "found column 'joint_a', expected 'q0'; "),
            ("t q0_deg q1", 3, "found column 'q1', expected 'q1_deg'; "),
            ("t q0 q1 qdd0 qdd1", 4, "found column 'qdd0', expected 'qd0'; "),
            ("t q1 q2 qd0 qd1", 4, "found column 'qd0', expected 'qd1'; "),
            ("t q0 q1 qd0 qd1 qdd0 qdd1 mode", 8, "found column 'mode', expected no further column; "),
            ("t q0 q99999999999999999999", 3, "found column 'q99999999999999999999', expected 'q1'; "),
        ] {
            let (at, what) = named(names).expect_err(names);
            assert!(
                at == column && what.starts_with(said) && what.ends_with("or leave out the header"),
                "{names}: {at} {what}"
            );
        }
        assert_eq!(named("t q0").expect_err("too few").0, 2);
        assert!(named("t q0 q1 qd0").expect_err("too few").1.starts_with("found 4 columns, expected 3"));
        let halves = Columns::unnamed::<2>(6).expect_err("cut in two").1;
        assert!(halves.ends_with("; for decimal commas, separate columns by semicolons or tabs"), "{halves}");
        assert!(!Columns::unnamed::<2>(4).expect_err("too many").1.contains("commas"));
    }
}
