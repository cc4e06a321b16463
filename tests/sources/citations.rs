//! Tests that the citations in the code are valid: each page `core/docs/NAME.md` and its sections exist.
//! `core/docs/protocol/README.md` describes the form. Also tests that the tests named in `SECURITY.md` and
//! `port-linux/docs/sources.md` exist.
//!
//! A section is a numbered heading (`## 4.2 …`, `## A10. …`), or item n of the numbered list in it (`A10.2`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use outrigger_require::workspace;

/// The folder with the pages that are cited, from the root of the repository.
const PAGES: &str = "core/docs/";
const PROTOCOLS: &str = "core/docs/protocol/";
const READ: &[&str] = &["rs", "md", "tsv", "toml", "py", "sh"];

/// The pages of `core/docs` by their path from the root, with their sections in order.
type Pages = BTreeMap<String, Vec<String>>;

/// A citation, or text that looks like an old form of one.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Page { path: String, sections: Vec<String> },
    Old(String),
}

/// Collects the paths from the root and the contents of all files that may cite a page of `core/docs`.
fn files(folder: &Path, root: &Path, into: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files(&path, root, into);
            }
        } else if path.extension().is_some_and(|e| READ.iter().any(|read| e == *read)) {
            let from_root = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
            into.push((from_root, fs::read_to_string(&path).expect("UTF-8")));
        }
    }
}

/// Returns the section number at the start of `text`: `4`, `4.3.1`, `A10.2`.
fn section(text: &str) -> Option<&str> {
    let letter = usize::from(text.starts_with(['A', 'B', 'C']));
    let digits = text[letter..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len() - letter);
    let number = text[..letter + digits].trim_end_matches('.');
    number[letter..].starts_with(|c: char| c.is_ascii_digit()).then_some(number)
}

/// Returns the sections of a page. Items of a list are sections only if they are cited.
fn sections(page: &str) -> Vec<String> {
    let (mut all, mut fenced) = (Vec::new(), false);
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if !fenced && line.starts_with('#') {
            all.extend(section(line.trim_start_matches('#').trim_start()).map(str::to_owned));
        }
    }
    all
}

/// Returns whether section `number` of `page`, such as `A10.2`, is an item of a numbered list: a line `2. …` in `A10`.
fn has_item(page: &str, number: &str) -> bool {
    let Some((parent, item)) = number.rsplit_once('.') else { return false };
    let own = |line: &&str| line.starts_with('#') && section(line.trim_start_matches('#').trim_start()) == Some(parent);
    let lines = page.lines().skip_while(|line| !own(line)).skip(1);
    lines.take_while(|line| !line.starts_with('#')).any(|line| line.starts_with(&format!("{item}. ")))
}

/// Returns the sections of a range: `6–8` are 6, 7 and 8. `4.1–4.4` and `A1–A8` are read in the same way.
fn range(from: &str, to: &str) -> Vec<String> {
    let number = |text: &str| {
        let at = text.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        (text[..at].to_owned(), text[at..].parse::<u32>().expect("a number"))
    };
    let ((before, first), (same, last)) = (number(from), number(to));
    assert!(before == same && first < last, "{from}–{to} is no range of sections");
    (first..=last).map(|n| format!("{before}{n}")).collect()
}

/// Returns the sections listed at the start of `text`: `4`, `6–8`, `A10, A15`.
fn listed(mut text: &str) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(number) = section(text) {
        text = &text[number.len()..];
        let end = text.strip_prefix('–').and_then(section);
        match end {
            Some(end) => {
                text = &text['–'.len_utf8() + end.len()..];
                all.extend(range(number, end));
            }
            None => all.push(number.to_owned()),
        }
        let Some(rest) = text.strip_prefix(", ") else { break };
        text = rest;
    }
    all
}

/// Returns the citations in a line. `names` are the names of the pages, without `.md`.
fn cited(line: &str, names: &[&str]) -> Vec<Found> {
    let in_a_name = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
    let mut found = Vec::new();
    for (at, _) in line.match_indices(PAGES) {
        let rest = &line[at..];
        let path = &rest[..rest.find(|c: char| !in_a_name(c)).unwrap_or(rest.len())];
        let Some(end) = path.find(".md") else { continue };
        let sections = rest[end + 3..].strip_prefix(' ').map_or_else(Vec::new, listed);
        found.push(Found::Page { path: path[..end + 3].to_owned(), sections });
    }
    for name in names {
        for (at, _) in line.match_indices(name) {
            let part_of_a_longer_name = line[..at].ends_with(|c: char| in_a_name(c) && c != '/')
                || line[at + name.len()..].starts_with(|c: char| in_a_name(c) && c != '.');
            let whole = line[..at].ends_with("protocol/") && line[at + name.len()..].starts_with(".md");
            if !part_of_a_longer_name && !whole {
                found.push(Found::Old((*name).to_owned()));
            }
        }
    }
    for word in ["spec ", "design ", "ection "] {
        for (at, _) in line.match_indices(word) {
            let before = line[..at].chars().next_back();
            let begins = word == "ection " || !before.is_some_and(char::is_alphanumeric);
            if begins && line[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()) {
                found.push(Found::Old(line[at..].split(['.', ',', ';', ')']).next().unwrap_or_default().to_owned()));
            }
        }
    }
    found
}

/// Returns the faults in the citations of `files`, and every cited section with the path of its page.
fn check(files: &[(String, String)]) -> (Vec<String>, BTreeSet<(String, String)>) {
    let texts: BTreeMap<&str, &str> =
        files.iter().filter(|(path, _)| path.starts_with(PAGES)).map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let pages: Pages = texts.iter().map(|(path, text)| ((*path).to_owned(), sections(text))).collect();
    let names: Vec<&str> = pages.keys().filter_map(|p| p.strip_prefix(PROTOCOLS)?.strip_suffix(".md")).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| *name != "README").collect();
    let (mut wrong, mut all) = (Vec::new(), BTreeSet::new());
    for (file, text) in files {
        let of_a_protocol = file.starts_with(PROTOCOLS);
        for (number, line) in text.lines().enumerate() {
            let mut broken = |what: String| wrong.push(format!("{file}:{}: {what}", number + 1));
            for found in cited(line, &names) {
                match found {
                    Found::Old(old) if !of_a_protocol && file != "tests/sources/citations.rs" => broken(format!(
                        "`{old}`: write the path of the page and the section, as core/docs/protocol/README.md shows"
                    )),
                    Found::Page { path, sections } if file != "tests/sources/citations.rs" => {
                        let Some(known) = pages.get(&path) else {
                            broken(format!("there is no page {path}"));
                            continue;
                        };
                        for section in sections {
                            if !known.contains(&section) && !has_item(texts[path.as_str()], &section) {
                                broken(format!("{path} has no section {section}"));
                            } else if path != *file && !file.ends_with("protocol/README.md") {
                                all.insert((path.clone(), section));
                            }
                        }
                    }
                    _ => {}
                }
            }
            // References of a page to its own sections, and to another page's: `ur-rtde.md`, §5.1.
            for (at, _) in line.match_indices('§').filter(|_| file.starts_with(PAGES)) {
                let other = line[..at].strip_suffix("`, ").and_then(|before| before.rsplit('`').next());
                let page = other.map_or_else(|| file.clone(), |name| format!("{PROTOCOLS}{name}"));
                let listed = listed(&line[at + '§'.len_utf8()..]);
                let known = pages.get(&page).is_some_and(|known| listed.iter().all(|s| known.contains(s)));
                if !line[..at].ends_with("RFC 3550 ") && !known {
                    broken(format!("{page} has no section {listed:?}"));
                }
            }
        }
    }
    (wrong, all)
}

/// Returns the sections of the protocols that are not cited, neither by their own number nor by that of a surrounding
/// or inner section.
fn uncited(pages: &Pages, cited: &BTreeSet<(String, String)>) -> Vec<String> {
    let inside = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let mut all = Vec::new();
    for (page, sections) in pages.iter().filter(|(page, _)| page.starts_with(PROTOCOLS)) {
        let cites = |s: &str| cited.iter().any(|(p, c)| p == page && (inside(c, s) || inside(s, c)));
        let rest: Vec<&str> = sections.iter().map(String::as_str).filter(|s| !cites(s)).collect();
        if !rest.is_empty() {
            all.push(format!("{page} {}", rest.join(", ")));
        }
    }
    all
}

#[test]
fn every_page_and_section_that_is_cited_exists() {
    let mut all = Vec::new();
    files(workspace(), workspace(), &mut all);
    let (wrong, cited) = check(&all);
    assert!(wrong.is_empty(), "{} citations are broken:\n{}", wrong.len(), wrong.join("\n"));
    let pages = all.iter().filter(|(path, _)| path.starts_with(PAGES)).map(|(p, t)| (p.clone(), sections(t))).collect();
    println!("{} sections are cited; nothing cites", cited.len());
    uncited(&pages, &cited).iter().for_each(|line| println!("  {line}"));
    assert!(cited.len() > 60, "the search for citations finds only {cited:?}");
}

#[test]
fn a_broken_citation_and_an_old_form_are_found_with_their_place() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let page =
        file("core/docs/protocol/ur-x.md", "# T\n## 1. A\n1. one\n2. two\n### 1.1 B\n## 2. C\n§1.1\n§3 `ur-x.md`, §2");
    let good = "`core/docs/protocol/ur-x.md`, `core/docs/protocol/ur-x.md 1–2` (core/docs/protocol/ur-x.md 1.1, 1.2)";
    let bad = "//! x\n// core/docs/protocol/ur-x.md 1, 4\n// core/docs/ur-y.md 1\n// `ur-x` 1\n// spec 2\n// Section 7.\n\
               // design 5's\n// core/docs/protocol/ur-x.md 1.3 and specifications 2 of designs 3, for-ur-x-1";
    let (wrong, cited) = check(&[page, file("good.rs", good), file("bad.rs", bad)]);
    let places: Vec<&str> = wrong.iter().map(String::as_str).collect();
    let [own, four, no_page, name, spec, section, design, item] = places.as_slice() else { panic!("{wrong:#?}") };
    assert!(own.starts_with("core/docs/protocol/ur-x.md:8: ") && own.contains("no section [\"3\"]"), "{own}");
    assert!(four.starts_with("bad.rs:2: ") && four.ends_with("ur-x.md has no section 4"), "{four}");
    assert_eq!(*no_page, "bad.rs:3: there is no page core/docs/ur-y.md");
    for (found, start) in [(name, "bad.rs:4: `ur-x`"), (spec, "bad.rs:5: `spec 2`"), (section, "bad.rs:6: `ection 7`")]
    {
        assert!(found.starts_with(start), "{found}");
    }
    assert!(design.starts_with("bad.rs:7: `design 5's`"), "{design}");
    assert_eq!(*item, "bad.rs:8: core/docs/protocol/ur-x.md has no section 1.3");
    let cited: Vec<&str> = cited.iter().map(|(_, section)| section.as_str()).collect();
    assert_eq!(cited, ["1", "1.1", "1.2", "2"]);
    let pages = Pages::from([("core/docs/protocol/ur-x.md".to_owned(), ["1", "1.1", "2"].map(str::to_owned).to_vec())]);
    let one = BTreeSet::from([("core/docs/protocol/ur-x.md".to_owned(), "1.1".to_owned())]);
    assert_eq!(uncited(&pages, &one), ["core/docs/protocol/ur-x.md 2"]);
}

/// Returns the faults in the tables of the page at `path`, and the number of rows of each table. The last column must
/// name the tests of each row. A test is a path of modules and a function, or the name in a suite that creates its own
/// list of tests. `none: …` states why there is no test.
fn untested(path: &str, page: &str, files: &[(String, String)]) -> (Vec<String>, Vec<usize>) {
    let exists = |test: &str| {
        let (modules, name) = test.rsplit_once("::").expect("a path");
        let begins = [format!("fn {name}("), format!("(\"{name}\"")];
        files.iter().filter(|(path, _)| path.ends_with(".rs")).any(|(path, text)| {
            let lies_in = |module: &str| module == "tests" || path.split(['/', '.']).any(|part| part == module);
            modules.split("::").all(lies_in) && begins.iter().any(|begin| text.contains(begin))
        })
    };
    let (mut wrong, mut rows, mut columns) = (Vec::new(), Vec::new(), 0);
    for (number, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let mut broken = |what: String| wrong.push(format!("{path}:{}: {what}", number + 1));
        if !line.starts_with('|') {
            columns = 0;
        } else if columns == 0 {
            columns = cells.len();
            rows.push(0);
            if !line.ends_with("| test |") {
                broken("the last column of a table is `test`".to_owned());
            }
        } else if !line.starts_with("|---") {
            *rows.last_mut().expect("a table") += 1;
            let test = if cells.len() == columns { cells[columns - 2] } else { "" };
            let cited: Vec<&str> = test.split('`').skip(1).step_by(2).filter(|code| code.contains("::")).collect();
            if cited.is_empty() && !test.starts_with("none: ") {
                broken("a row names its tests in the last column, or says `none: ` and why".to_owned());
            }
            cited.iter().filter(|test| !exists(test)).for_each(|test| broken(format!("there is no test {test}")));
        }
    }
    (wrong, rows)
}

#[test]
fn every_row_of_the_pages_of_tests_names_one_that_exists_or_says_why_there_is_none() {
    let mut all = Vec::new();
    files(workspace(), workspace(), &mut all);
    for path in ["SECURITY.md", "port-linux/docs/sources.md"] {
        let (_, page) = all.iter().find(|(named, _)| named == path).expect("the page");
        let (wrong, rows) = untested(path, page, &all);
        assert!(wrong.is_empty(), "{} rows are broken:\n{}", wrong.len(), wrong.join("\n"));
        assert!(!rows.is_empty() && !rows.contains(&0), "tables with no row: {rows:?}");
    }
}

#[test]
fn a_row_without_a_test_and_one_whose_test_is_gone_are_found() {
    let files = [("core/src/a.rs".to_owned(), "fn holds() {}\ntimed(\"in_a_list\", BOARD, held)".to_owned())];
    let of = |rows: &str| untested("A.md", &format!("| what | test |\n|---|---|\n{rows}"), &files);
    let good = "| x | `a::tests::holds`, none for y |\n| x | `a::in_a_list` |\n| x | none: another user is needed |";
    assert_eq!((of(good), of("").1), ((vec![], vec![3]), vec![0]));
    for bad in ["| x |", "| x | |", "| x | none |", "| x | `holds` |", "| x | `a::gone` |", "| x | `b::holds` |"] {
        assert!(matches!(&of(bad).0[..], [wrong] if wrong.starts_with("A.md:3: ")), "{bad}: {:?}", of(bad));
    }
    assert_eq!(untested("A.md", "| what |\n|---|\n| `a::holds` |", &files).0.len(), 1);
}
