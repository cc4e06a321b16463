//! Checks that the pages agree with the reader: every word that they offer as a value, and every range that they
//! state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use outrigger_config::{AnyConfiguration, Key, ValueKind, expert_keys, keys};
use outrigger_core::client::rtde::Claim;
use outrigger_core::law::{AnyLaw, LawConfig};

use super::ranges::{files, numeric};

const PAGES: [&str; 3] = [
    include_str!("../../../port-linux/docs/configuration.md"),
    include_str!("../../../port-linux/docs/expert-examples.md"),
    include_str!("../../../port-linux/docs/kuka-lwr.md"),
];
/// The pages that `OUTRIGGER_BLESS=1` writes anew.
const FILES: [&str; 3] = ["configuration.md", "expert-examples.md", "kuka-lwr.md"];

/// A configuration key as a page of the documentation shows it.
struct Shown {
    /// The full name of the key, as in [`Key::name`].
    name: String,
    /// The value and the comment that the page shows for the key.
    line: String,
    /// The lines of the page's example that show the key.
    at: RangeInclusive<usize>,
}

impl Shown {
    /// Returns the words in quotes in the key's value and comment.
    fn words(&self) -> BTreeSet<String> {
        self.line.split('"').skip(1).step_by(2).map(Into::into).collect()
    }

    /// Returns the word to which the example `block` sets the key; `None` if it shows the key in a comment only.
    fn set(&self, block: &'static str) -> Option<&str> {
        let in_force = !block.lines().nth(*self.at.start())?.starts_with('#');
        self.line.strip_prefix('"').filter(|_| in_force)?.split('"').next()
    }

    /// Returns the texts in parentheses in the key's comment that begin like a range, such as `(0.0 to 1.0 s)`.
    fn ranges(&self) -> Vec<String> {
        let inside = self.line.split('(').skip(1).filter_map(|rest| rest.split(')').next());
        let begins = |text: &&str| {
            let least = text.split(" to ").next().unwrap_or_default();
            text.contains(" to ") && (least.parse::<f32>().is_ok() || least.ends_with('π'))
        };
        inside.filter(begins).map(Into::into).collect()
    }
}

/// Returns the example configurations on a page.
fn blocks(page: &'static str) -> impl Iterator<Item = &'static str> {
    page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next())
}

/// Returns the keys that a configuration shows, with the text about each. Keys in comments that begin in the first
/// column count.
fn shown(block: &str) -> Vec<Shown> {
    let (mut table, mut shown) = (String::new(), Vec::<Shown>::new());
    for (number, line) in block.lines().enumerate() {
        let (assigned, last) = (line.trim_start_matches("# "), shown.last_mut());
        if let Some(header) = line.strip_prefix('[') {
            let name = header.trim_start_matches('[').split(']').next().unwrap_or_default();
            let array = table.split("expert.").next().and_then(|table| table.strip_suffix("[]."));
            let is_of_array = array.is_some_and(|array| name.strip_suffix(".expert") == Some(array));
            table = match name.strip_suffix(".expert").filter(|_| is_of_array) {
                Some(array) => format!("{array}[].expert."),
                None if header.starts_with('[') => format!("{name}[]."),
                None => format!("{name}."),
            };
        } else if let (true, Some(last)) = (line.starts_with(' '), last) {
            last.line.push_str(line);
            last.at = *last.at.start()..=number;
        } else if let Some((key, line)) = assigned.split_once(" = ") {
            shown.push(Shown { name: format!("{table}{key}"), line: line.into(), at: number..=number });
        }
    }
    shown
}

/// Returns every key that may occur in the example `block`, with either impedance control of a KRC.
fn known(block: &str) -> Vec<Key> {
    let other = block.replace("control = \"tool-impedance\"", "control = \"joint-impedance\"");
    [block, &other].into_iter().flat_map(|file| keys(file).expect("a configuration")).collect()
}

/// Returns an error unless both the reader and the core accept a file.
fn accepted(file: &str) -> Result<(), String> {
    let read = AnyConfiguration::parse(file).map_err(|problems| format!("the reader: {problems:?}"))?;
    let (engine, law) = match &read {
        AnyConfiguration::Ur(target) => (target.engine().check(), check(target.law())),
        AnyConfiguration::Krc(target) => (target.engine().check(), check(target.law())),
    };
    engine.map_err(|error| format!("the core: {error}"))?;
    law.map_err(|error| format!("the core's law: {error}"))
}

fn check<const N: usize>(law: &LawConfig<N>) -> Result<(), String> {
    AnyLaw::new(law.clone()).map(drop).map_err(|error| error.to_string())
}

/// Returns the default of every key that a page shows: the value at the beginning of its comment if there is one,
/// otherwise the value shown.
pub(super) fn defaults() -> BTreeMap<String, String> {
    let mut defaults = BTreeMap::new();
    for shown in PAGES.into_iter().flat_map(blocks).flat_map(shown) {
        let (value, comment) = shown.line.split_once('#').unwrap_or((&shown.line, ""));
        let comment = comment.trim();
        let first = comment.split([' ', ';', ':', ',']).next().unwrap_or_default();
        let named = comment.split_once(';').map_or(comment, |(value, _)| value);
        let is_value = named.parse::<f64>().is_ok()
            || matches!(named, "true" | "false")
            || (named.starts_with('"') && named.ends_with('"') && named.matches('"').count() == 2);
        let default = match first {
            "none" | "needed" => "none".to_owned(),
            "required" => "required".to_owned(),
            _ if is_value => named.to_owned(),
            _ => value.trim().to_owned(),
        };
        defaults.entry(shown.name).or_insert(default);
    }
    // This default is not listed as one: there are several possible sources.
    defaults.entry("outputs.expert.force".into()).or_insert_with(|| "none".into());
    defaults
}

#[test]
fn every_word_that_is_offered_is_taken_and_every_word_that_is_taken_is_offered() {
    let (mut wrong, mut offered, mut taken) = (vec![], BTreeSet::new(), BTreeSet::new());
    for block in PAGES.into_iter().flat_map(blocks) {
        let (known, works) = (known(block), accepted(block).is_ok());
        for shown in shown(block) {
            if works && let Some(word) = shown.set(block) {
                taken.insert((shown.name.clone(), word.to_owned()));
            }
            for key in known.iter().filter(|key| key.name == shown.name) {
                let ValueKind::Words(words) = &key.takes else { continue };
                for word in shown.words() {
                    if !words.contains(&word.as_str()) {
                        wrong.push(format!("{} = {word:?} is offered, and no such word is known", key.name));
                    }
                    offered.insert((key.name.clone(), word));
                }
            }
        }
    }
    let mut refused = vec![];
    for file in files() {
        for key in keys(&file.text()).expect("a file of a kind") {
            let ValueKind::Words(words) = key.takes else { continue };
            for word in words {
                match accepted(&file.with(&key.name, &format!("{word:?}")).text()) {
                    Ok(()) => drop(taken.insert((key.name.clone(), word.to_owned()))),
                    Err(error) => refused.push(((key.name.clone(), word.to_owned()), error)),
                }
            }
        }
    }
    for (word, error) in refused.iter().filter(|(word, _)| !taken.contains(word)) {
        wrong.push(format!("{word:?} is refused in every file: {error}"));
    }
    taken.retain(|(name, _)| offered.iter().any(|(offered, _)| offered == name));
    let both: Vec<_> = offered.symmetric_difference(&taken).collect();
    assert!(wrong.is_empty() && both.is_empty(), "{}\noffered or taken, not both: {both:#?}", wrong.join("\n"));
    assert!(taken.len() > 50, "{taken:?}");
}

/// Checks that the examples on `configuration.md` have no expert key, and that each example on `expert-examples.md` has
/// one.
#[test]
fn expert_keys_stand_on_the_page_of_examples_and_ordinary_keys_alone_on_that_of_configurations() {
    for block in blocks(PAGES[0]) {
        let experts: Vec<_> =
            expert_keys(block).expect("a configuration").into_iter().map(|(_, name, _)| name).collect();
        assert!(experts.is_empty() && shown(block).iter().all(|shown| !shown.name.contains("expert")), "{experts:?}");
    }
    assert!(PAGES[0].contains("(expert-keys.md)") && PAGES[0].contains("(expert-examples.md)"));
    assert!(blocks(PAGES[1]).all(|block| expert_keys(block).is_ok_and(|experts| !experts.is_empty())));
}

/// Checks that the page lists every group of RTDE inputs that a file may claim, and that each is accepted.
#[test]
fn every_group_of_claims_is_offered_and_taken() {
    let shown: Vec<_> = PAGES.into_iter().flat_map(blocks).flat_map(shown).collect();
    let claim = shown.iter().find(|shown| shown.name == "outputs.expert.claim").expect("it is shown");
    let list = claim.line.split("meanwhile:").nth(1).and_then(|rest| rest.split(" force = ").next()).expect("a list");
    let offered: BTreeSet<_> = list.split([',', '#', ' ']).filter(|word| !word.is_empty()).collect();
    // The group for a program's orders is claimed automatically.
    let claims = Claim::ALL.into_iter().filter(|claim| *claim != Claim::Program);
    assert_eq!(offered, claims.map(Claim::name).collect());
    let file = files().into_iter().next().expect("a host's file");
    for word in offered {
        assert_eq!(accepted(&file.with("outputs.expert.claim", &format!("{word:?}")).text()), Ok(()), "{word}");
    }
}

/// Returns the ranges that the reader has for a key.
fn ranges_of<'k>(known: &'k [Key], name: &str) -> BTreeSet<&'k str> {
    known.iter().filter(|key| key.name == name).filter_map(|key| Some(key.range.as_ref()?.text.as_str())).collect()
}

/// Returns the example `block` with every range as it is declared, and with the ranges of those keys that are in
/// `missing`.
fn restated(block: &str, missing: &BTreeSet<(String, String)>) -> String {
    let known = known(block);
    let mut lines: Vec<_> = block.lines().map(str::to_owned).collect();
    for shown in shown(block) {
        let texts = ranges_of(&known, &shown.name);
        let (stated, Some(text)) = (shown.ranges(), texts.first()) else { continue };
        let lines = &mut lines[shown.at.clone()];
        for old in stated.iter().filter(|old| !texts.contains(old.as_str())) {
            for line in &mut *lines {
                *line = line.replace(&format!("({old})"), &format!("({text})"));
            }
        }
        if missing.contains(&(shown.name.clone(), (*text).to_owned())) && stated.is_empty() {
            let last = lines.last_mut().expect("its own");
            *last += &if last.contains('#') { format!(" ({text})") } else { format!(" # ({text})") };
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Checks that the pages state the range of every numeric key as it is declared. `OUTRIGGER_BLESS=1` writes them anew.
#[test]
fn every_range_that_is_stated_is_the_range_and_every_range_is_stated() {
    let (mut ranges, mut docs) = (BTreeSet::new(), BTreeMap::new());
    for file in files() {
        for key in keys(&file.text()).expect("a file of a kind").into_iter().filter(numeric) {
            docs.insert(key.name.clone(), key.doc);
            ranges.insert((key.name, key.range.expect("every number has one").text));
        }
    }
    let stated = PAGES.into_iter().flat_map(blocks).flat_map(|block| {
        let known = known(block);
        let stated = shown(block).into_iter().flat_map(|shown| {
            let texts: BTreeSet<_> = ranges_of(&known, &shown.name).into_iter().map(str::to_owned).collect();
            let held: Vec<_> = shown.ranges().into_iter().filter(|range| texts.contains(range)).collect();
            held.into_iter().map(move |range| (shown.name.clone(), range))
        });
        stated.collect::<Vec<_>>()
    });
    let stated: BTreeSet<_> = stated.collect();
    let missing: BTreeSet<_> = ranges.difference(&stated).cloned().collect();
    let mut wrong: Vec<_> = missing
        .iter()
        .map(|(name, range)| {
            format!("{name} is stated nowhere with its range; a page needs\n{name} = … #{} ({range})", docs[name])
        })
        .collect();
    for (page, file) in PAGES.into_iter().zip(FILES) {
        let made = blocks(page).fold(page.to_owned(), |made, block| made.replace(block, &restated(block, &missing)));
        if std::env::var_os("OUTRIGGER_BLESS").is_some_and(|value| value == "1") {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../port-linux/docs").join(file);
            std::fs::write(path, &made).expect("a page to write");
        }
        let lines = (1..).zip(page.lines().zip(made.lines())).filter(|(_, (old, new))| old != new);
        wrong.extend(
            lines.map(|(at, (old, new))| format!("{file}:{at}\n- {old}\n+ {new}\nOUTRIGGER_BLESS=1 writes it anew")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ranges.len() > 100, "{ranges:?}");
}
