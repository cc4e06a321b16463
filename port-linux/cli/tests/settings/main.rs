//! Every key of every table: it is set, and what runs differs.
//!
//! The list of keys is the reader's own, so a new key without a row fails here; and runs in virtual time are the same
//! where their settings are, so a key that nothing is told of makes no difference, and fails here too.

mod keys;
mod krc;
mod process;
mod scenes;
mod ur;

use std::collections::HashMap;
use std::sync::Mutex;

use outrigger_tests::settings::File;

/// The first lines in which two runs differ.
fn difference(before: &[String], after: &[String]) -> Option<(String, String)> {
    let at = (0..before.len().max(after.len())).find(|at| before.get(*at) != after.get(*at))?;
    let line = |lines: &[String]| lines.get(at).map_or_else(|| "the end".to_owned(), Clone::clone);
    Some((line(before), line(after)))
}

/// What came of each file and scene that several rows begin with.
#[derive(Default)]
struct Played(Mutex<HashMap<(String, &'static str), Vec<String>>>);

impl Played {
    fn of(&self, file: &File, scene: &'static str, play: impl FnOnce(&str) -> Vec<String>) -> Vec<String> {
        let key = (file.text(), scene);
        if let Some(lines) = self.0.lock().expect("no row panics here").get(&key) {
            return lines.clone();
        }
        let lines = play(&key.0);
        self.0.lock().expect("no row panics here").insert(key, lines.clone());
        lines
    }
}

/// The rows that show nothing, or another thing than they say; `play` is of a row's file without its setting, or with.
fn unseen<R: Sync>(
    rows: &[R],
    names: impl Fn(&R) -> (&'static str, &'static str, &'static str) + Sync,
    played: impl Fn(&R, bool) -> Vec<String> + Sync,
) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let unseen = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let (key, value, shows) = names(row);
                    let runs = || difference(&played(row, false), &played(row, true));
                    let Ok(differs) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(runs)) else {
                        unseen.lock().expect("no row panics here").push(format!("{key} = {value} cannot be run"));
                        continue;
                    };
                    let told = match differs {
                        None => format!("{key} = {value} makes no difference"),
                        Some((without, with)) if !without.contains(shows) && !with.contains(shows) => {
                            format!("{key} = {value} shows otherwise than by {shows}:\n  {without:.200}\n  {with:.200}")
                        }
                        Some((without, with)) => {
                            println!("{key} = {value}\n  {without:.160}\n  {with:.160}");
                            continue;
                        }
                    };
                    unseen.lock().expect("no row panics here").push(told);
                }
            });
        }
    });
    unseen.into_inner().expect("no row panicked")
}

#[test]
fn what_the_engine_is_told_shows_in_a_run() {
    let before = Played::default();
    let unseen = unseen(
        ur::ROWS,
        |row| (row.key, row.value, row.shows),
        |row, set| {
            let file = File::new(row.file).with_all(row.beside);
            if set {
                return scenes::play(&row.scene, &file.with(row.key, row.value).text());
            }
            before.of(&file, row.scene.name, |text| scenes::play(&row.scene, text))
        },
    );
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

#[test]
fn what_the_engine_beside_a_krc_is_told_shows_in_a_run() {
    let before = Played::default();
    let unseen = unseen(
        krc::ROWS,
        |row| (row.key, row.value, row.shows),
        |row, set| {
            let file = File::new(process::SWING).with_all(row.beside);
            if set {
                return scenes::play_krc(&row.scene, &file.with(row.key, row.value).text());
            }
            before.of(&file, row.scene.name, |text| scenes::play_krc(&row.scene, text))
        },
    );
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}
