//! Completions for shells, and manual pages, from the definitions that `--help` shows.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use outrigger::exit::{Failure, Outcome, output_closed};

/// `outrigger completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArgs {
    /// For which shell
    shell: Shell,
}

/// `outrigger manual`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ManualArgs {
    /// The directory, which must exist; pages that are there already are replaced
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Prints what lets a shell complete the words of `command`.
///
/// # Errors
/// [`Failure::BadInput`] where standard output takes nothing.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Outcome {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    let mut out = std::io::stdout();
    out.write_all(&script).and_then(|()| out.flush()).or_else(|error| output_closed(&error))
}

/// Writes a manual page, as those of commands, for `command` and for each of its own.
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

/// One page. What stands below the options in `--help` keeps its lines where they are indented: tables and examples.
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

/// Text of `--help`: indented lines stay as they are, the others are filled up to where a sentence ends a line.
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

/// So that roff takes none of it for its own.
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
