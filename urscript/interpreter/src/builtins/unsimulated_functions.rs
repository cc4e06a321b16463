//! Functions of the manual that are not simulated: a program that contains one compiles, and ends when it calls it.
//!
//! They are the lines of `manual.tsv` that are in no table of this module's siblings. Their parameters are not checked.

use std::sync::LazyLock;

use super::{ALL, FIRST, Run, SETUP, Signature};
use outrigger_urscript::Version;

/// The functions of `manual.tsv`, of any software, that are in neither [`ALL`] nor [`SETUP`]. They are known but not
/// simulated.
pub(super) static NAMED: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    let executed = |name: &str| ALL.iter().chain(SETUP).any(|signature| signature.name == name);
    let lines = include_str!("../../manual.tsv").lines();
    lines.filter_map(signature).filter(|signature| !executed(signature.name)).collect()
});

/// Reads a line of `manual.tsv` and returns the function that it lists; `None` for a comment.
fn signature(line: &'static str) -> Option<Signature> {
    let mut cells = line.split('\t').filter(|_| !line.starts_with('#'));
    let name = cells.next()?;
    let [cb, e_series, polyscope_x] = [FIRST, Version::new(5, 0), Version::new(10, 0)]
        .map(|generation| cells.next().and_then(|cell| first_software(cell, generation)));
    Some(Signature {
        since: cb.or(e_series).or(polyscope_x)?,
        e_series_since: e_series,
        polyscope_x_since: polyscope_x,
        ..Signature::new(name, &[], Run::NotSimulated).taking_any()
    })
}

/// Reads a cell of `manual.tsv` and returns the first software of `generation` that has the function. If that is not
/// published, returns the first software of the generation. `None` if no source lists the function for the
/// generation.
fn first_software(cell: &str, generation: Version) -> Option<Version> {
    if cell == "-" {
        return None;
    }
    // The first of `5.20..5.24`: the function was added between these two.
    let (major, minor) = cell.split("..").next().and_then(|first| first.split_once('.')).unwrap_or_default();
    match (major.parse(), minor) {
        (Ok(major), "?") => Some(Version::new(major, 0)),
        (Ok(major), minor) => minor.parse().ok().map(|minor| Version::new(major, minor)),
        (Err(_), _) => Some(generation),
    }
}
