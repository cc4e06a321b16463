//! Configuration files as text, with functions that set keys in them.

use std::fmt::Write as _;

/// A table of a configuration file: its header, and its keys with their values.
type Table = (String, Vec<(String, String)>);

/// A configuration file as it is written, with tables and keys in order.
#[derive(Clone, Debug)]
pub struct File(Vec<Table>);

impl File {
    /// Reads a configuration file in the plain form that these tests use: headers in brackets, one `key = value` per
    /// line.
    pub fn new(text: &str) -> Self {
        let mut tables: Vec<Table> = vec![];
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.split_once(" = ") {
                Some((key, value)) if !line.starts_with('[') => {
                    let (_, lines) = tables.last_mut().expect("a header comes first");
                    lines.push((key.into(), value.into()));
                }
                _ => tables.push((line.into(), vec![])),
            }
        }
        Self(tables)
    }

    /// Returns the file with `key` set to `value`. Examples of keys: `limits.velocity`; `source[].name` sets `name`
    /// in the middle table of the array `source`. The middle table is taken because the first and the last of a
    /// motion's waypoints are at rest.
    pub fn with(&self, key: &str, value: &str) -> Self {
        // A key of a table `expert` is written in its section, as `expert.hold`.
        let within = key.find(".expert.").map(|at| (&key[..at], &key[at + 1..]));
        let (table, key) = within.or_else(|| key.rsplit_once('.')).expect("a table and a key");
        let header = table.strip_suffix("[]").map_or_else(|| format!("[{table}]"), |array| format!("[[{array}]]"));
        let mut file = self.clone();
        if !file.0.iter().any(|(known, _)| *known == header) {
            file.0.push((header.clone(), vec![]));
        }
        let count = file.0.iter().filter(|(known, _)| *known == header).count();
        let mut tables = file.0.iter_mut().filter(|(known, _)| *known == header);
        let (_, lines) = tables.nth(count / 2).expect("just made");
        lines.retain(|(known, _)| known != key);
        lines.push((key.into(), value.into()));
        file
    }

    /// Returns the file with every `key = value` of a list separated by semicolons. An empty value removes the key.
    pub fn with_all(&self, settings: &str) -> Self {
        settings.split(';').map(str::trim).filter(|setting| !setting.is_empty()).fold(self.clone(), |file, setting| {
            let (key, value) = setting.split_once(" = ").unwrap_or((setting.trim_end_matches(" ="), ""));
            let mut file = file.with(key, value);
            file.0.iter_mut().for_each(|(_, lines)| lines.retain(|(_, value)| !value.is_empty()));
            file
        })
    }

    /// Returns the configuration file as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (header, lines) in &self.0 {
            let _ = writeln!(text, "{header}");
            for (key, value) in lines {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        text
    }
}
