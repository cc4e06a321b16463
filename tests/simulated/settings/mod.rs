//! Checks every key of every table: setting it changes the run.
//!
//! The list of keys is the reader's own, so a new key without a row fails here. Runs in virtual time are identical if
//! their settings are, so a key that reaches no code makes no difference, and fails here as well.

mod documentation;
mod expert;
mod keys;
#[macro_use]
mod row;
mod krc;
mod laws;
mod process;
mod ranges;
mod scenes;
mod ur;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use outrigger_tests::settings::File;
use row::{Life, Row};

/// Returns the first line in which the results of two runs differ, of each run; `None` if the results are equal.
fn difference(before: &[String], after: &[String]) -> Option<(String, String)> {
    let at = (0..before.len().max(after.len())).find(|at| before.get(*at) != after.get(*at))?;
    let line = |lines: &[String]| lines.get(at).map_or_else(|| "the end".to_owned(), Clone::clone);
    Some((line(before), line(after)))
}

/// The results of the runs with which several rows begin, by configuration file and scene, so that each is run only
/// once.
#[derive(Default)]
struct Played(Mutex<HashMap<(String, &'static str), Vec<String>>>);

impl Played {
    fn of<S: Life>(&self, file: &File, scene: &S) -> Vec<String> {
        let key = (file.text(), scene.name());
        if let Some(lines) = self.0.lock().expect("no row panics here").get(&key) {
            return lines.clone();
        }
        let lines = scene.play(&key.0);
        self.0.lock().expect("no row panics here").insert(key, lines.clone());
        lines
    }
}

/// Checks each row of a table of settings: the run must differ with the row's setting, in the way that the row states.
fn each_shows<S: Life>(rows: &[Row<S>]) {
    let before = Played::default();
    let next = AtomicUsize::new(0);
    let unseen = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(told) = row_shows(row, &before) {
                        unseen.lock().expect("no row panics here").push(told);
                    }
                }
            });
        }
    });
    let unseen = unseen.into_inner().expect("no row panicked");
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

/// Runs the configuration file of a row without its setting and with it. Returns an error text unless the results
/// differ in the way that the row states.
fn row_shows<S: Life>(row: &Row<S>, before: &Played) -> Result<(), String> {
    let Row { key, value, shows, .. } = row;
    let file = File::new(row.file).with_all(row.beside);
    let runs = || difference(&before.of(&file, &row.scene), &row.scene.play(&file.with(key, value).text()));
    let differs = catch_unwind(AssertUnwindSafe(runs)).map_err(|_| format!("{key} = {value} cannot be run"))?;
    let (without, with) = differs.ok_or_else(|| format!("{key} = {value} makes no difference"))?;
    if !without.contains(shows) && !with.contains(shows) {
        return Err(format!("{key} = {value} shows otherwise than by {shows}:\n  {without:.200}\n  {with:.200}"));
    }
    println!("{key} = {value}\n  {without:.160}\n  {with:.160}");
    Ok(())
}

#[test]
fn what_the_engine_is_told_shows_in_a_run() {
    each_shows(ur::ROWS);
}

#[test]
fn what_the_engine_beside_a_krc_is_told_shows_in_a_run() {
    each_shows(krc::ROWS);
}
