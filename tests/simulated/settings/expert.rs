//! The keys of tables `expert`: the limit on the number of other keys, the former place of each, and the page that
//! lists them all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use outrigger_config::{AnyConfiguration, EXPERT, ExpertKey, Key, keys, placed};
use outrigger_core::engine::krc::KrcConfig;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::mode::ModeTuning;
use outrigger_emulated::require::committed;
use outrigger_wire::time::Duration;

use super::documentation::defaults;
use super::{keys as known, ranges};

/// The largest number of configuration keys that may be outside the tables `expert`.
const MOST: usize = 60;

/// The keys whose default the page of expert keys shows in words or as an example, each with the text shown there.
const IN_WORDS: &[(&str, &str)] = &[
    ("limits.expert.braking", "`2.0`"),
    ("limits.expert.torque", "half of what a UR3 has"),
    ("limits.expert.tracking_error", "0.1, 0.3 with impedance"),
    ("robot.expert.control", "`\"position\"`"),
    ("robot.expert.stiffness", "1000, of the tool 2000 and 200"),
    ("robot.expert.left_to_krl", "none"),
    ("law.expert.twist", "none"),
    ("session.expert.own_stop", "2.0"),
    ("source[].expert.rate", "200, of a board's `adc` 500 and `ads131m06` 1000"),
    ("variable[].expert.name", "none"),
];

fn in_words(key: &str) -> Option<&'static str> {
    IN_WORDS.iter().find(|(name, _)| *name == key).map(|(_, words)| *words)
}

fn all() -> BTreeSet<Key> {
    let files = ranges::files().into_iter().chain(known::files());
    files.flat_map(|file| keys(&file.text()).expect("a file of a kind")).collect()
}

/// Checks that few configuration keys are outside the tables `expert`, and that no example file sets an expert key.
/// `cargo test -p outrigger-tests --test runs -- --nocapture at_most_sixty_keys` prints the numbers of keys.
#[test]
fn at_most_sixty_keys_stand_in_no_table_expert() {
    let all: BTreeSet<_> = all().into_iter().map(|key| key.name).collect();
    let (expert, others): (BTreeSet<_>, BTreeSet<_>) = all.iter().partition(|name| name.contains(".expert."));
    println!("{} keys, and {} in tables `expert`", others.len(), expert.len());
    assert!(others.len() <= MOST, "{others:?}");
    let listed: BTreeSet<_> = EXPERT.iter().map(ExpertKey::place).collect();
    assert_eq!(expert.into_iter().cloned().collect::<BTreeSet<_>>(), listed);
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../port-linux/cli/examples");
    for entry in std::fs::read_dir(examples).expect("the examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).expect("an example");
            assert!(!text.contains("expert"), "{}", path.display());
        }
    }
}

#[test]
fn a_key_in_its_old_place_is_refused_with_its_line_and_its_new_name() {
    let mut tried = BTreeSet::new();
    for (key, value, file) in known::rows() {
        let Some(expert) = ExpertKey::named(key) else { continue };
        assert_eq!(key, expert.place());
        // The key is set at its new place as well, so that no other key is missing.
        let text = file.with(key, value).with(expert.name, value).text();
        let problems = AnyConfiguration::parse(&text).expect_err("its old place");
        let moved = problems.iter().find(|problem| {
            problem.found == "a key that has moved" && without_indices(&problem.expected) == expert.place()
        });
        let moved = moved.unwrap_or_else(|| panic!("{key}: {problems:?}\n{text}"));
        let line = text.lines().nth(moved.line - 1).expect("a line");
        let name = expert.name.rsplit('.').next().expect("a name");
        assert!(line.contains(name), "{line}\n{moved}");
        tried.insert(expert.name);
    }
    let all: BTreeSet<_> = EXPERT.iter().map(|key| key.name).collect();
    assert_eq!(tried, all);
}

/// Checks that an expert key set to the default that its page states has the same effect as the key left out. The
/// defaults of `[session.expert]` depend on the controller's period and are checked by the tests of the documentation.
#[test]
fn a_default_on_the_page_changes_nothing() {
    let (defaults, mut wrong) = (defaults(), BTreeSet::new());
    for (key, _, file) in known::rows() {
        let default = defaults.get(key).filter(|default| !["none", "required"].contains(&default.as_str()));
        let Some(default) =
            default.filter(|_| key.contains(".expert.") && !key.starts_with("session.") && in_words(key).is_none())
        else {
            continue;
        };
        let bare = file.with_all(&format!("{key} ="));
        let meaning = |text: &str| AnyConfiguration::parse(text).map(|read| format!("{read:?}")).ok();
        let (without, with) = (meaning(&bare.text()), meaning(&bare.with(key, default).text()));
        if without.is_some() && with.is_some() && without != with {
            wrong.insert(format!("{key} = {default}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the thresholds of link and mode, the peer settings, the limits and the law that a configuration file gives
/// for a controller with a period of 8 ms, as text; `None` if the file is rejected.
fn thresholds(text: &str) -> Option<String> {
    let period = Duration::from_millis(8);
    let mode = |mode: &ModeTuning| format!("{:?} {:?} {:?}", mode.of(period), mode.following.of(period), mode.scaling);
    match AnyConfiguration::parse(text).ok()? {
        AnyConfiguration::Ur(target) => {
            let (UrConfig { link, mode: judged, peer, limits, .. }, law) = (target.engine(), target.law());
            target.engine().check().ok()?;
            Some(format!("{:?} {} {peer:?} {limits:?} {law:?}", link.stream(period), mode(&judged)))
        }
        AnyConfiguration::Krc(target) => {
            let (KrcConfig { link, mode: judged, peer, limits, .. }, law) = (target.engine(), target.law());
            target.engine().check().ok()?;
            Some(format!("{:?} {} {peer:?} {limits:?} {law:?}", link.datagram(period), mode(&judged)))
        }
    }
}

/// The numbers at which a test sets a key in addition to those of `ranges::steps`.
const BETWEEN: [&str; 5] = ["0.02", "0.05", "2.0", "20.0", "5000"];

/// Checks each expert key whose default follows another key: with some value of the other key, the file is accepted,
/// and with the stated default added as well it is rejected or has another meaning.
#[test]
fn a_default_that_follows_another_key_is_another_one_beside_it() {
    let (defaults, mut found) = (defaults(), BTreeSet::new());
    let mut files = ranges::files();
    files.push(files[0].with_all("session.software = \"5.15\"; session.expert.form = \"self-ending\""));
    for file in files {
        let known = keys(&file.text()).expect("a file of a kind");
        for key in EXPERT.iter().filter(|key| known.iter().any(|known| known.name == key.place())) {
            for other in key.follows() {
                let Some(of) = known.iter().find(|known| known.name == placed(other)) else { continue };
                let values = ranges::steps(of.range.as_ref().expect("a number's"));
                let mut values = values.iter().map(String::as_str).chain(BETWEEN);
                let follows = values.any(|number| {
                    let beside = file.with(&of.name, &ranges::value(of, number)[0]);
                    let with = || thresholds(&beside.with(&key.place(), &defaults[&key.place()]).text());
                    thresholds(&beside.text()).is_some_and(|alone| with() != Some(alone))
                });
                if follows {
                    found.insert((key.name, *other));
                }
            }
        }
    }
    let listed = EXPERT.iter().flat_map(|key| key.follows().iter().map(|other| (key.name, *other)));
    let wrong: Vec<_> = listed.filter(|pair| !found.contains(pair)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(found.len() > 40, "{found:?}");
}

fn without_indices(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_ascii_digit() || !name.contains('[')).collect()
}

/// The page is generated from the declarations by `OUTRIGGER_BLESS=1`.
#[test]
fn the_page_of_expert_keys_is_made_of_their_declarations() {
    let mut ranges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for key in all() {
        let range = key.range.map(|range| range.text);
        ranges.entry(key.name).or_default().extend(range);
    }
    let defaults = defaults();
    let mut page = String::from(
        "# Expert keys\n\nKeys that few files need, each in the table `expert` of its section, with its default, what a number there may \
         be, and what a wrong value can break. What each is for stands in [expert-examples.md](expert-examples.md) and, beside a KRC, in \
         [kuka-lwr.md](kuka-lwr.md). `outrigger check-config FILE` prints a warning for each that is set.\n\n\
         *follows X*: where a file gives X and not this key, the default is raised or lowered as far as X needs. The number is the one where \
         neither is given.\n\nThis page is made of the \
         declarations in the code: `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs -- settings::expert`.\n\n\
         | key | default | range, unit | what it can break |\n|---|---|---|---|\n",
    );
    for key in EXPERT {
        let place = key.place();
        let range = ranges.get(&place).map(|ranges| ranges.iter().cloned().collect::<Vec<_>>().join("; "));
        let default = defaults.get(&place).unwrap_or_else(|| panic!("{place} has no default on a page"));
        let default = if default == "none" || default == "required" { default.clone() } else { format!("`{default}`") };
        let default = in_words(&place).map_or(default, str::to_owned);
        let others: Vec<_> = key.follows().iter().map(|other| format!("`{}`", placed(other))).collect();
        let default = if others.is_empty() { default } else { format!("{default}, follows {}", others.join(", ")) };
        let _ = writeln!(page, "| `{place}` | {default} | {} | {} |", range.unwrap_or_default(), key.breaks);
    }
    committed::hold("port-linux/docs/expert-keys.md", &page);
}
