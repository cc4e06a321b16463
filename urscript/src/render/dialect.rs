//! The URScript forms that a controller accepts, determined by its full software version.

use super::error::RenderError;
use super::version::Version;

/// The controller software versions from which each form of a URScript call applies. The defaults follow the drivers
/// that are in use (`core/docs/protocol/ur-client-interfaces.md`, 5.4 to 6). Those that no document states are fields,
/// so that a measurement can change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundaries {
    /// The first version in which `speedj` may be called without `t`, and a stream of commands works better without it.
    /// Default 3.1; the exact release is unconfirmed (announced in the notes of 3.2).
    pub speedj_time_omitted: Version,
    /// The first version in which `t` must be written in every `speedj` again. Default 3.3; the change was made in
    /// 3.3.1 or 3.3.2.
    pub speedj_time_given_again: Version,
    /// The first version in which `servoj` accepts `lookahead_time` and `gain`. Default 3.1.
    pub servoj_lookahead: Version,
    /// The first version with separate functions for standard, configurable and tool outputs. Default 3.0.
    pub named_outputs: Version,
    /// The first version in which mass and centre of gravity of the payload can be set separately. Default 3.3.
    pub payload_parts: Version,
    /// The first version in which `set_target_payload` accepts an inertia and a transition time. Default 5.10; no
    /// manual of a 3.x release has the function.
    pub target_payload: Version,
    /// The first version in which the force-torque sensor can be zeroed. Default 5.0, with the first arms that have the
    /// sensor. It is unconfirmed that no release of 3.x has the function.
    pub zero_ftsensor: Version,
    /// The first version in which the tool has a serial line. Default 5.0.
    pub tool_communication: Version,
}

impl Default for Boundaries {
    fn default() -> Self {
        Self {
            speedj_time_omitted: Version::new(3, 1),
            speedj_time_given_again: Version::new(3, 3),
            servoj_lookahead: Version::new(3, 1),
            named_outputs: Version::new(3, 0),
            payload_parts: Version::new(3, 3),
            target_payload: Version::new(5, 10),
            zero_ftsensor: Version::new(5, 0),
            tool_communication: Version::new(5, 0),
        }
    }
}

/// The presence of the time argument `t` in a call of `speedj`, which is its third argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeArgument {
    /// The time argument of `speedj` is written in every call.
    Given,
    /// The time argument of `speedj` is left out. If it is written, 3.1 and 3.2 execute a stream of commands with a
    /// large delay.
    Omitted,
}

/// The form of a call of `servoj`, by its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServoJArguments {
    /// The arguments of `servoj` are position, two ignored zeros, and time.
    Time,
    /// The arguments of `servoj` are position, two ignored zeros, time, `lookahead_time` and `gain`.
    TimeLookaheadGain,
}

/// The names of URScript's functions that set outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputNames {
    /// The functions of CB2: `set_digital_out(0..=9)`, where outputs 8 and 9 are at the tool, and `set_analog_out`.
    Numbered,
    /// The functions `set_standard_digital_out`, `set_configurable_digital_out`, `set_tool_digital_out`,
    /// `set_standard_analog_out`.
    Named,
}

/// The forms of URScript calls that one controller accepts. Create it once per connection from the controller's
/// [`Version`]. Every method `render` accepts a `Dialect` or a `Version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The controller's software version.
    pub version: Version,
    /// The form of `speedj`: with or without its time argument.
    pub speedj_time: TimeArgument,
    /// The form of `servoj`: with or without look-ahead time and gain.
    pub servoj: ServoJArguments,
    /// The first software version with named output functions, see [`Boundaries::named_outputs`].
    pub named_outputs: Version,
    /// The first version that sets the parts of a payload separately, see [`Boundaries::payload_parts`].
    pub payload_parts: Version,
    /// The first version with inertia and transition time of a payload, see [`Boundaries::target_payload`].
    pub target_payload: Version,
    /// The first version that can zero the force-torque sensor, see [`Boundaries::zero_ftsensor`].
    pub zero_ftsensor: Version,
    /// The first version whose tool has a serial line, see [`Boundaries::tool_communication`].
    pub tool_communication: Version,
}

impl Dialect {
    /// Returns the URScript dialect of software `version` with the given boundaries.
    #[must_use]
    pub fn new(version: Version, boundaries: &Boundaries) -> Self {
        let omitted = version >= boundaries.speedj_time_omitted && version < boundaries.speedj_time_given_again;
        Self {
            version,
            speedj_time: if omitted { TimeArgument::Omitted } else { TimeArgument::Given },
            servoj: if version >= boundaries.servoj_lookahead {
                ServoJArguments::TimeLookaheadGain
            } else {
                ServoJArguments::Time
            },
            named_outputs: boundaries.named_outputs,
            payload_parts: boundaries.payload_parts,
            target_payload: boundaries.target_payload,
            zero_ftsensor: boundaries.zero_ftsensor,
            tool_communication: boundaries.tool_communication,
        }
    }

    /// Returns the names of the output functions that this controller has.
    #[must_use]
    pub fn outputs(&self) -> OutputNames {
        if self.version >= self.named_outputs { OutputNames::Named } else { OutputNames::Numbered }
    }

    /// Checks that this controller has a feature of URScript that was added in version `since`.
    pub(super) fn has(&self, since: Version) -> Result<(), RenderError> {
        if self.version >= since { Ok(()) } else { Err(RenderError::Unsupported { version: self.version, since }) }
    }
}

impl From<Version> for Dialect {
    fn from(version: Version) -> Self {
        Self::new(version, &Boundaries::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_speedj_is_omitted_on_3_1_and_3_2_only() {
        let omitted = |major, minor| Dialect::from(Version::new(major, minor)).speedj_time == TimeArgument::Omitted;
        assert!(omitted(3, 1) && omitted(3, 2));
        for (major, minor) in [(1, 5), (1, 8), (3, 0), (3, 3), (3, 15), (5, 0), (5, 1), (5, 2), (5, 15), (10, 1)] {
            assert!(!omitted(major, minor), "{major}.{minor}");
        }
    }

    #[test]
    fn a_measured_boundary_moves_the_form() {
        let boundaries = Boundaries { speedj_time_omitted: Version::new(3, 2), ..Boundaries::default() };
        assert_eq!(Dialect::new(Version::new(3, 1), &boundaries).speedj_time, TimeArgument::Given);
        assert_eq!(Dialect::new(Version::new(3, 2), &boundaries).speedj_time, TimeArgument::Omitted);
    }

    #[test]
    fn lookahead_and_named_outputs_do_not_reach_back_to_cb2() {
        let cb2 = Dialect::from(Version::new(1, 8));
        assert_eq!((cb2.servoj, cb2.outputs()), (ServoJArguments::Time, OutputNames::Numbered));
        let first_cb3 = Dialect::from(Version::new(3, 0));
        assert_eq!((first_cb3.servoj, first_cb3.outputs()), (ServoJArguments::Time, OutputNames::Named));
        assert_eq!(Dialect::from(Version::new(5, 0)).servoj, ServoJArguments::TimeLookaheadGain);
    }
}
