//! The result of an examination: a verdict, the lines that matter, and details for those who ask for everything.

use super::{is_verbose, say};
use crate::exit::{Failure, Outcome};

/// The result of an examination, until it is shown.
#[derive(Debug, Default)]
pub struct Sheet {
    fixes: Vec<String>,
    suggestions: Vec<String>,
    lines: Vec<String>,
    verbose: bool,
}

impl Sheet {
    /// An empty one, with details where they were asked for.
    pub fn new() -> Self {
        Self { verbose: is_verbose(), ..Self::default() }
    }

    /// Adds a thing to fix.
    pub fn fix(&mut self, text: impl Into<String>) {
        self.fixes.push(text.into());
    }

    /// Adds advice that commanding does not depend on.
    pub fn suggest(&mut self, text: impl Into<String>) {
        self.suggestions.push(text.into());
    }

    /// Adds a line.
    pub fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Adds lines that only matter to those who ask for everything.
    pub fn detail(&mut self, text: &str) {
        if self.verbose {
            self.lines.push(text.trim_end().to_owned());
        }
    }

    /// Returns the whole: verdict first, things to fix, suggestions, then the lines.
    pub fn text(&self) -> String {
        let suggestions = match self.suggestions.as_slice() {
            [] => None,
            [_] => Some("1 suggestion:".to_owned()),
            suggestions => Some(format!("{} suggestions:", suggestions.len())),
        };
        let (verdict, heading) = match (self.fixes.as_slice(), suggestions) {
            ([], None) => ("nothing has to be fixed".to_owned(), None),
            ([], Some(suggestions)) => (format!("nothing has to be fixed; {suggestions}"), None),
            ([_], heading) => ("1 thing to fix before commanding:".to_owned(), heading),
            (fixes, heading) => (format!("{} things to fix before commanding:", fixes.len()), heading),
        };
        let item = |text: &String| format!("\n  - {text}");
        let line = |text: &String| format!("\n{text}");
        let fixes = self.fixes.iter().map(item).chain(heading.iter().map(line));
        let advice = self.suggestions.iter().map(item);
        std::iter::once(verdict).chain(fixes).chain(advice).chain(self.lines.iter().map(line)).collect()
    }

    /// Shows it.
    ///
    /// # Errors
    /// [`Failure::Fault`] where there is something to fix.
    pub fn show(self) -> Outcome {
        say!("{}", self.text());
        match self.fixes.len() {
            0 => Ok(()),
            count => Err(Failure::Fault(format!("{count} thing(s) to fix"))),
        }
    }

    /// Shows what is known where the examination could not be finished: no verdict.
    pub fn show_unfinished(self) {
        for line in self.lines {
            say!("{line}");
        }
        for fix in self.fixes {
            say!("to fix: {fix}");
        }
        for suggestion in self.suggestions {
            say!("suggestion: {suggestion}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_comes_first_and_details_only_where_asked_for() {
        let filled = |verbose| {
            let mut sheet = Sheet { verbose, ..Sheet::default() };
            sheet.line("host: a machine");
            sheet.detail("    2 ms ████\n");
            sheet.fix("the robot is off");
            sheet.text()
        };
        assert_eq!(filled(false), "1 thing to fix before commanding:\n  - the robot is off\nhost: a machine");
        assert!(filled(true).ends_with("host: a machine\n    2 ms ████"));
        assert_eq!(Sheet::default().text(), "nothing has to be fixed");
    }

    #[test]
    fn a_verdict_without_anything_to_fix_counts_the_suggestions() {
        let mut sheet = Sheet::default();
        sheet.line("host: a machine");
        sheet.suggest("configure robot.model");
        assert_eq!(sheet.text(), "nothing has to be fixed; 1 suggestion:\n  - configure robot.model\nhost: a machine");
        sheet.suggest("look longer");
        sheet.fix("the robot is off");
        let text = "1 thing to fix before commanding:\n  - the robot is off\n2 suggestions:\n  - configure robot.model";
        assert!(sheet.text().starts_with(text), "{}", sheet.text());
    }
}
