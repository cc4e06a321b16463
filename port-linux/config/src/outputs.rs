//! `[outputs]`: how outputs of the controller are set, and which sensor is its force.

use outrigger_core::client::rtde::{Claim, Claims};
use outrigger_core::engine::ur::OutputsBy;
use outrigger_wire::sensor::SourceId;

use crate::law::{Surroundings, source};
use crate::reader::Section;

/// How outputs of the controller are set; absent is by text, with nothing claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OutputsSettings {
    /// By which interface.
    pub by: OutputsBy,
    /// Inputs of RTDE that are claimed.
    pub claims: Claims,
    /// The source of six values that a program gets as its force.
    pub force: Option<SourceId>,
}

/// How outputs are set, by its word.
///
/// # Errors
/// What would have been one.
pub fn parse_outputs_by(word: &str) -> Result<OutputsBy, String> {
    let known = OutputsBy::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, by)| *by).ok_or_else(|| "expected auto, text, rtde or off".into())
}

impl OutputsSettings {
    pub(crate) fn read(mut section: Section<'_, '_>, around: &Surroundings<'_, 6>) -> Self {
        let by = section.choice("by", OutputsBy::WORDS, OutputsBy::Auto);
        let claims = section.text("claim", "groups of RTDE inputs, e.g. \"digital-out,speed-slider\"").map(str::parse);
        let claims = claims.map_or(Claims::NONE, |claims| {
            claims.unwrap_or_else(|expected| {
                section.complain("claim", expected);
                Claims::NONE
            })
        });
        let force = if section.has("force") { source(&mut section, "force", 6, around) } else { None };
        section.finish();
        // Without its input a force would go nowhere.
        let claims = if force.is_some() { claims.with(Claim::Force) } else { claims };
        Self { by, claims, force }
    }
}
