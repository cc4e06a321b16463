//! The table `[outputs]`: the interface that sets the controller's outputs, and the sensor that supplies its force.

use outrigger_core::client::rtde::{Claim, Claims};
use outrigger_core::engine::ur::OutputsBy;
use outrigger_wire::sensor::SourceId;

use crate::law::{Surroundings, source};
use crate::reader::Section;

/// The settings for setting outputs of the controller, and for passing a sensor's force to a program on it. By
/// default no RTDE input is reserved, so outputs are set by script text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OutputsSettings {
    /// The interface by which the controller's outputs are set: RTDE, script text or none.
    pub by: OutputsBy,
    /// The groups of RTDE inputs that the session reserves: to set outputs of the controller or its speed slider, or
    /// to pass a force to a program.
    pub claims: Claims,
    /// The sensor whose six values are passed to a program on the controller as its measured force. `None` passes
    /// none.
    pub force: Option<SourceId>,
}

/// Parses the name of the interface that sets the controller's outputs, such as `rtde`.
///
/// # Errors
/// Returns a text with the accepted names.
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
        // A force needs its RTDE input to reach the program.
        let claims = if force.is_some() { claims.with(Claim::Force) } else { claims };
        Self { by, claims, force }
    }
}
