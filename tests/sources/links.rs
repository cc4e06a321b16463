//! Tests that links between pages point to files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use outrigger_require::workspace;

/// The names of the folders that are not part of the repository, so that their pages are not checked.
const FOREIGN: &[&str] = &["target", ".git"];

/// Returns every Markdown page below `folder`, except those in the folders [`FOREIGN`].
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut pages = vec![];
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && !FOREIGN.iter().any(|foreign| name == *foreign) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

/// Returns the files to which a Markdown page links, as they are written, but without the place inside the file. Links
/// to other sites and to items of Rust are left out.
fn linked(page: &str) -> impl Iterator<Item = &str> {
    let links = page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    let files =
        links.filter(|link| link.contains(['/', '.']) && !link.contains("::") && !link.contains(char::is_whitespace));
    files.filter(|link| !link.contains("://") && !link.starts_with("mailto:")).filter_map(|link| {
        let file = link.split('#').next().unwrap_or_default();
        (!file.is_empty()).then_some(file)
    })
}

#[test]
fn every_link_of_a_page_leads_to_a_file() {
    let pages = pages(workspace());
    assert!(pages.len() > 40, "{} pages", pages.len());
    let mut broken = vec![];
    for page in &pages {
        let text = fs::read_to_string(page).expect("UTF-8");
        let folder = page.parent().expect("a folder");
        broken.extend(
            linked(&text)
                .filter(|file| !folder.join(file).exists())
                .map(|file| format!("{}: {file}", page.strip_prefix(workspace()).unwrap_or(page).display())),
        );
    }
    assert!(broken.is_empty(), "{} links lead nowhere:\n{}", broken.len(), broken.join("\n"));
}

/// The folders whose pages belong to the book of documentation, so that its table of contents must list each of them.
const OF_THE_BOOK: &[&str] = &["core/docs", "port-embassy/docs", "port-linux/docs", "tests/sim/docs", "tests/tables"];

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    let file = workspace().join("port-linux/docs/SUMMARY.md");
    let summary = fs::read_to_string(&file).expect("UTF-8");
    let folder = file.parent().expect("a folder");
    let listed: Vec<_> = linked(&summary).filter_map(|page| folder.join(page).canonicalize().ok()).collect();
    let missing: Vec<_> = OF_THE_BOOK
        .iter()
        .flat_map(|folder| pages(&workspace().join(folder)))
        .filter(|page| *page != file && !page.canonicalize().is_ok_and(|page| listed.contains(&page)))
        .collect();
    assert!(missing.is_empty(), "not in port-linux/docs/SUMMARY.md: {missing:#?}");
    assert!(listed.len() > 50, "{} pages", listed.len());
}

#[test]
fn links_to_other_sites_and_items_are_no_files() {
    let page = "[a](b.md#c) [d](#e) [f](https://example.org/g) [`h`](core::law) [i](../j/) [k](mailto:l@m.org) [n](o)";
    assert_eq!(linked(page).collect::<Vec<_>>(), ["b.md", "../j/"]);
}
