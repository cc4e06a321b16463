//! Generates completions for shells, and manual pages, from the definitions that `--help` shows.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use outrigger::exit::{Failure, Outcome, output_closed};

/// The arguments of `outrigger completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate completions for
    shell: Shell,
}

/// The arguments of `outrigger manual`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ManualArgs {
    /// Directory for the pages, which must exist; existing pages are replaced
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Prints the completion script of `command` for a shell.
///
/// # Errors
/// [`Failure::BadInput`] if standard output cannot be written.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Outcome {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    let mut out = std::io::stdout();
    out.write_all(&script).and_then(|()| out.flush()).or_else(|error| output_closed(&error))
}

/// Writes a manual page for `command` and for each of its subcommands.
///
/// # Errors
/// [`Failure::BadInput`] naming the file that cannot be written.
pub(crate) fn manual(args: &ManualArgs, mut command: Command) -> Outcome {
    command = command.disable_help_subcommand(true);
    command.build();
    pages(&args.directory, command.get_name(), &command)
}

fn pages(directory: &Path, name: &str, command: &Command) -> Outcome {
    let path = directory.join(format!("{name}.1"));
    let failed = |error| Failure::BadInput(format!("cannot write {}: {error}", path.display()));
    page(name, command).and_then(|page| std::fs::write(&path, page)).map_err(failed)?;
    shown(command).try_for_each(|part| pages(directory, &format!("{name}-{}", part.get_name()), part))
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|part| !part.is_hide_set())
}

/// Returns the manual page of `command`, called `name`, as roff. Indented lines of the text below the options, such as
/// tables and examples, are kept as they are.
fn page(name: &str, command: &Command) -> std::io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .title(name)
        .source(concat!("outrigger ", env!("CARGO_PKG_VERSION")))
        .manual("Outrigger");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if shown(command).next().is_some() {
        page.extend_from_slice(b".SH COMMANDS\n");
        for part in shown(command) {
            let about = part.get_about().map(ToString::to_string).unwrap_or_default();
            let line = format!("{name}-{}", part.get_name());
            page.extend_from_slice(format!(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(&line), escaped(&about)).as_bytes());
        }
    }
    if let Some(text) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        page.extend_from_slice(b".SH DETAILS\n");
        page.extend_from_slice(as_roff(&text.to_string()).as_bytes());
    }
    Ok(page)
}

/// Converts text of `--help` to roff. Indented lines are kept as they are; the others are joined to paragraphs, with a
/// line break after a line that ends with a period or a colon.
fn as_roff(text: &str) -> String {
    let mut roff = String::new();
    let (mut indented, mut ended) = (false, false);
    for line in text.lines() {
        let indents = line.starts_with(' ') || (indented && line.is_empty());
        if indents != indented {
            roff.push_str(if indents { ".nf\n" } else { ".fi\n" });
            indented = indents;
        }
        if ended && !indented && !line.is_empty() {
            roff.push_str(".br\n");
        }
        ended = line.ends_with(['.', ':']);
        roff.push_str(&if line.is_empty() { ".PP".into() } else { escaped(line) });
        roff.push('\n');
    }
    if indented {
        roff.push_str(".fi\n");
    }
    roff
}

/// Escapes the characters of a line that roff, the format of manual pages, would interpret.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_roff_would_take_for_its_own_is_text_and_examples_keep_their_lines() {
        let text = ".hidden 'quoted' back\\slash\ngoes on.\nAnd on\n\nExamples:\n  one --two\n  three\nEnd";
        let expected = "\\&.hidden \\(aqquoted\\(aq back\\eslash\ngoes on.\n.br\nAnd on\n.PP\nExamples:\n.nf\n  one \\-\\-two\n  three\n.fi\nEnd\n";
        assert_eq!(as_roff(text), expected);
    }
}
