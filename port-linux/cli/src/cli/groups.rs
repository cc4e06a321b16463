//! The groups of commands in `outrigger --help`.

use std::fmt::Write as _;

use clap::Command;

/// The titles of the groups in `outrigger --help`, in their order, each with the names of its commands.
const GROUPS: &[(&str, &[&str])] = &[
    ("Without a robot", &["demo", "sim", "example"]),
    ("Observe a robot; nothing moves", &["monitor", "view", "doctor", "record"]),
    ("Configure a run", &["init", "check-config"]),
    ("Move a robot", &["run", "move", "ctl", "script"]),
    ("Operate its controller", &["dashboard", "io", "tool"]),
    ("ROS 2 and boards", &["ros2", "watch", "board"]),
    ("Recordings", &["replay", "export", "decode"]),
    ("Installation", &["completions", "manual"]),
];

/// Lists the commands of `command` in groups in its help text.
pub(super) fn grouped(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let about = |name: &str| {
        let part = command.get_subcommands().find(|part| part.get_name() == name)?;
        Some(part.get_about().map(ToString::to_string).unwrap_or_default())
    };
    let width = command.get_subcommands().map(|part| part.get_name().len()).max().unwrap_or_default();
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        let lines: Vec<_> = names.iter().filter_map(|name| Some((name, about(name)?))).collect();
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(template, "\n{header}{title}:{header:#}");
        for (name, about) in lines {
            let _ = writeln!(template, "  {literal}{name}{literal:#}{:1$}  {about}", "", width - name.len());
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Cli;
    use super::*;

    #[test]
    fn each_command_is_in_exactly_one_group() {
        let command = Cli::command();
        for part in command.get_subcommands() {
            let name = part.get_name();
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&name)).count();
            assert_eq!(groups, 1, "{name}");
        }
        let help = grouped(Cli::command()).render_help().to_string();
        for part in command.get_subcommands() {
            let about = part.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("  {}", part.get_name())) && help.contains(&about), "{help}");
        }
        let known: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        let missing: Vec<_> =
            GROUPS.iter().flat_map(|(_, names)| *names).filter(|name| !known.contains(name)).collect();
        assert!(missing.iter().all(|name| **name == "ros2" && !cfg!(feature = "ros2")), "{missing:?}");
    }
}
