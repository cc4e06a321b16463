//! The tables `[[variable]]`: names for the variables that the KRL program reads.

use outrigger_core::command::outputs::{VARIABLES, VariableKind, VariableValue};
use outrigger_core::engine::krc::KrcOptions;
use outrigger_wire::fri::KrlIndex;

use crate::reader::Section;

/// A variable of the KRL program on the KRC, as declared by a table `[[variable]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableSettings {
    /// The name by which requests refer to the variable. `None` if requests refer to it by kind and number only.
    pub name: Option<String>,
    /// The kind of value that the KRL variable holds: bool, int or real.
    pub kind: VariableKind,
    /// The number of the KRL variable among those of its kind, from 1.
    pub index: u8,
}

/// The names in configuration files for the kinds of KRL variables.
const KINDS: [(&str, VariableKind); 3] =
    [("bool", VariableKind::Bool), ("int", VariableKind::Int), ("real", VariableKind::Real)];
const AT: &str = "a kind and a number from 1 to 16, such as \"bool.16\", \"int.3\" or \"real.1\"";
const NAME: &str = "letters, digits, '-' and '_', beginning with a letter";
/// The accepted range of the initial value of a KRL variable of the kind real, which has no unit.
const REAL: (std::ops::RangeInclusive<f32>, &str) = (-3.4e38..=3.4e38, "");

impl VariableSettings {
    /// Reads every table `[[variable]]` in the order of the file. Stores in `options` the initial value of each
    /// variable, and the variables whose values the KRL program returns. Names are accepted only if `named` is `true`:
    /// boards have no requests that could use them.
    pub(crate) fn read_all(sections: Vec<Section<'_, '_>>, named: bool, options: &mut KrcOptions) -> Vec<Self> {
        let mut read = Vec::<Self>::new();
        for section in sections {
            read.extend(Self::read(section, named, &read, options));
        }
        read
    }

    fn read(mut section: Section<'_, '_>, named: bool, before: &[Self], options: &mut KrcOptions) -> Option<Self> {
        let name = if named {
            section.text("name", NAME).map(str::to_owned)
        } else {
            section.refuse(
                "name",
                "no such key in a board's file: a board's requests use kind and number, as krl-bool.16=on",
            );
            None
        };
        if let Some(name) = &name {
            let mut letters = name.chars();
            let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
            if !begins || !letters.all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_')) {
                section.complain("name", NAME);
            } else if before.iter().any(|other| other.name.as_ref() == Some(name)) {
                section.complain("name", "a name that no other variable has");
            }
        }
        let text = section.text("at", AT);
        if text.is_none() && !section.has("at") {
            section.complain("at", AT);
        }
        let at = text.and_then(|text| {
            let parsed = parse(text);
            if parsed.is_none() {
                section.complain("at", AT);
            }
            parsed
        });
        let start = match at.map(|(kind, _)| kind) {
            Some(VariableKind::Int) => {
                let range = i64::from(i32::MIN)..=i64::from(i32::MAX);
                let whole = section.integer("start", Some(0), range).and_then(|whole| i32::try_from(whole).ok());
                VariableValue::Int(whole.unwrap_or_default())
            }
            Some(VariableKind::Real) => VariableValue::Real(section.number_or("start", 0.0, REAL)),
            Some(VariableKind::Bool) | None => VariableValue::Bool(section.flag("start", false)),
        };
        let echoed = section.flag("echoed", false);
        if let Some((kind, at)) = at {
            if before.iter().any(|other| (other.kind, other.index) == (kind, at.krl())) {
                section.complain("at", "a variable that occurs once");
            }
            if kind == VariableKind::Int && options.handshake.writes(at) {
                section.complain("at", format!("one that handshake = \"{}\" does not set", options.handshake.name()));
            }
            start.write_to(&mut options.variables, at);
            if echoed {
                options.echoed = options.echoed.with(kind, at);
            }
        }
        section.finish();
        at.map(|(kind, at)| Self { name, kind, index: at.krl() })
    }
}

/// Parses the kind and the number of a KRL variable, such as `bool.16`. Returns `None` if there is no such variable.
fn parse(text: &str) -> Option<(VariableKind, KrlIndex)> {
    let (kind, index) = text.split_once('.')?;
    let (_, kind) = KINDS.into_iter().find(|(word, _)| *word == kind)?;
    let index = index.parse::<u8>().ok().filter(|index| *index <= VARIABLES)?;
    Some((kind, KrlIndex::from_krl(index)?))
}
