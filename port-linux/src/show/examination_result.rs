//! The result of an examination such as `outrigger doctor`: a verdict, the most important lines, and optional
//! details.

use super::{is_verbose, say};
use crate::exit::{Failure, Outcome};

/// The result of an examination such as `outrigger doctor`, before it is printed.
#[derive(Debug, Default)]
pub struct Sheet {
    fixes: Vec<String>,
    suggestions: Vec<String>,
    lines: Vec<String>,
    verbose: bool,
}

impl Sheet {
    /// Creates an empty result of an examination such as `outrigger doctor`, with details if they were requested.
    pub fn new() -> Self {
        Self { verbose: is_verbose(), ..Self::default() }
    }

    /// Adds the description of a problem that must be fixed before commanding.
    pub fn fix(&mut self, text: impl Into<String>) {
        self.fixes.push(text.into());
    }

    /// Adds advice to the result that is not required for commanding.
    pub fn suggest(&mut self, text: impl Into<String>) {
        self.suggestions.push(text.into());
    }

    /// Adds a line to the result of the examination.
    pub fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Adds lines to the result that are printed only if details were requested.
    pub fn detail(&mut self, text: &str) {
        if self.verbose {
            self.lines.push(text.trim_end().to_owned());
        }
    }

    /// Formats the result of the examination: the verdict, problems to fix, suggestions, then the lines.
    pub fn text(&self) -> String {
        let suggestions = match self.suggestions.as_slice() {
            [] => None,
            [_] => Some("1 suggestion:".to_owned()),
            suggestions => Some(format!("{} suggestions:", suggestions.len())),
        };
        let (verdict, heading) = match (self.fixes.as_slice(), suggestions) {
            ([], None) => ("nothing to fix".to_owned(), None),
            ([], Some(suggestions)) => (format!("nothing to fix; {suggestions}"), None),
            ([_], heading) => ("1 thing to fix before commanding:".to_owned(), heading),
            (fixes, heading) => (format!("{} things to fix before commanding:", fixes.len()), heading),
        };
        let item = |text: &String| format!("\n  - {text}");
        let line = |text: &String| format!("\n{text}");
        let fixes = self.fixes.iter().map(item).chain(heading.iter().map(line));
        let advice = self.suggestions.iter().map(item);
        std::iter::once(verdict).chain(fixes).chain(advice).chain(self.lines.iter().map(line)).collect()
    }

    /// Prints the result of the examination.
    ///
    /// # Errors
    /// Returns [`Failure::Fault`] if there is a problem to fix.
    pub fn show(self) -> Outcome {
        say!("{}", self.text());
        match self.fixes.len() {
            0 => Ok(()),
            count => Err(Failure::Fault(format!("{count} thing(s) to fix"))),
        }
    }

    /// Prints the result of an unfinished examination, without a verdict.
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
        assert_eq!(Sheet::default().text(), "nothing to fix");
    }

    #[test]
    fn a_verdict_without_anything_to_fix_counts_the_suggestions() {
        let mut sheet = Sheet::default();
        sheet.line("host: a machine");
        sheet.suggest("configure robot.model");
        assert_eq!(sheet.text(), "nothing to fix; 1 suggestion:\n  - configure robot.model\nhost: a machine");
        sheet.suggest("look longer");
        sheet.fix("the robot is off");
        let text = "1 thing to fix before commanding:\n  - the robot is off\n2 suggestions:\n  - configure robot.model";
        assert!(sheet.text().starts_with(text), "{}", sheet.text());
    }
}
