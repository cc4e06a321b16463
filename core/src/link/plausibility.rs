//! A plausibility check of states, before they are used: can they be states of this arm?

use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::Duration;

/// An upper bound of joint speeds \[rad/s\]: twice the highest rating of all supported arms, the 2π of a UR3's wrists.
pub const FASTEST_JOINT: f32 = 4.0 * core::f32::consts::PI;
/// An upper bound of joint angles \[rad\]: even a wrist without end stops needs minutes to turn so far.
const FURTHEST: f32 = 1_000.0;

/// The fields of one state that are checked for plausibility.
#[derive(Clone, Copy, Debug)]
pub struct Content<'s, const N: usize> {
    /// The time of the state on the controller's clock.
    pub at: ControllerTime,
    /// The measured joint angles \[rad\].
    pub positions: &'s [f32; N],
    /// The measured joint speeds \[rad/s\]; zeros if the controller sends none.
    pub velocities: &'s [f32; N],
    /// The controller's target angles \[rad\] and speeds \[rad/s\], which must be finite.
    pub targets: [&'s [f32; N]; 2],
}

/// The result of checking whether a state is plausible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The state may be used: each joint can have moved to it from the previous state. A state that is not newer than
    /// a confirmed one (reordered, or the clock has restarted) counts as such without a comparison.
    Agrees,
    /// No recent state exists to compare with, or only an unconfirmed one that differs or is not older: the next
    /// state has to agree with this one before either is used.
    Awaits,
    /// The state cannot be one of this arm: a value is not finite or too large, or a joint is further from its
    /// confirmed position than it can have moved.
    Impossible,
}

impl<const N: usize> Content<'_, N> {
    /// Compares the state with the one `before` it. `agreed` is `true` if the one before was confirmed by another
    /// state. The one before is ignored if it is older than `gap`. The angles may have been measured up to a `period`
    /// from the time stamp.
    pub(super) fn judge(
        &self,
        before: Option<(ControllerTime, &[f32; N])>,
        agreed: bool,
        period: Duration,
        gap: Duration,
    ) -> Verdict {
        let Self { at, positions, velocities, targets: [angles, speeds] } = self;
        let numbers = nothing_of(angles) + nothing_of(speeds) == 0.0;
        if !numbers || largest(positions) > bits(FURTHEST) || largest(velocities) > bits(FASTEST_JOINT) {
            return Verdict::Impossible;
        }
        let Some((then, angles)) = before else { return Verdict::Awaits };
        if *at <= then {
            // A reordered state, or a restarted clock: the sequence judge decides which.
            return if agreed { Verdict::Agrees } else { Verdict::Awaits };
        }
        let passed = at.since(then);
        if passed > gap {
            return Verdict::Awaits;
        }
        let most = FASTEST_JOINT * (passed + period).as_secs_f32();
        let furthest =
            positions.iter().zip(angles).fold(0.0, |furthest: f32, (now, then)| (now - then).abs().max(furthest));
        if furthest <= most {
            Verdict::Agrees
        } else if agreed {
            Verdict::Impossible
        } else {
            Verdict::Awaits
        }
    }
}

/// Returns the bits of a number's magnitude: in the order of the numbers, with infinity and NaN above all of them.
const fn bits(value: f32) -> u32 {
    value.to_bits() << 1
}

/// Returns zero if each of the joints' values is a finite number, otherwise NaN.
fn nothing_of<const N: usize>(values: &[f32; N]) -> f32 {
    values.iter().fold(0.0, |nothing, value| nothing + value * 0.0)
}

/// Returns the bits of the largest magnitude among the joints' values.
fn largest<const N: usize>(values: &[f32; N]) -> u32 {
    values.iter().fold(0, |largest, value| bits(*value).max(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(2);
    const GAP: Duration = Duration::from_millis(40);
    const STILL: [f32; 6] = [0.0; 6];
    const POSE: [f32; 6] = [0.0, -1.57, 1.57, -1.57, -1.57, 0.3];

    fn judge(at: u64, positions: &[f32; 6], before: Option<(u64, &[f32; 6])>, agreed: bool) -> Verdict {
        let at = ControllerTime::from_micros(at);
        let before = before.map(|(then, angles)| (ControllerTime::from_micros(then), angles));
        let content = Content { at, positions, velocities: &STILL, targets: [positions, &STILL] };
        content.judge(before, agreed, PERIOD, GAP)
    }

    #[test]
    fn a_state_agrees_that_a_joint_could_have_come_to_in_the_time_since() {
        let moved = |by: f32| POSE.map(|q| q + by);
        for (passed, most) in [(2_000, 0.050), (8_000, 0.125), (40_000, 0.527)] {
            assert_eq!(judge(passed, &moved(most), Some((0, &POSE)), true), Verdict::Agrees, "{passed}");
            assert_eq!(judge(passed, &moved(-most), Some((0, &POSE)), true), Verdict::Agrees, "{passed}");
            assert_eq!(judge(passed, &moved(most + 0.002), Some((0, &POSE)), true), Verdict::Impossible, "{passed}");
        }
    }

    #[test]
    fn the_first_state_and_the_first_after_a_gap_wait_for_a_second_that_agrees() {
        assert_eq!(judge(0, &POSE, None, false), Verdict::Awaits);
        assert_eq!(judge(2_000, &POSE, Some((0, &POSE)), false), Verdict::Agrees);
        assert_eq!(judge(40_001, &POSE, Some((0, &POSE)), true), Verdict::Awaits);
        // A wrong first state does not block the following ones: the next replaces it.
        assert_eq!(judge(2_000, &POSE, Some((0, &STILL)), false), Verdict::Awaits);
        // A clock that restarted, or a reordered state.
        assert_eq!(judge(0, &STILL, Some((2_000, &POSE)), true), Verdict::Agrees);
        assert_eq!(judge(0, &STILL, Some((2_000, &POSE)), false), Verdict::Awaits);
    }

    #[test]
    fn no_field_may_be_no_number_or_out_of_range() {
        let bad = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1_000.1, -1_000.1, f32::MAX];
        for (joint, value) in (0..6).flat_map(|joint| bad.map(|value| (joint, value))) {
            let mut hurt = POSE;
            hurt[joint] = value;
            let at = ControllerTime::from_micros(2_000);
            let before = Some((ControllerTime::from_micros(0), &POSE));
            let good = Content { at, positions: &POSE, velocities: &STILL, targets: [&POSE, &STILL] };
            assert_eq!(good.judge(before, true, PERIOD, GAP), Verdict::Agrees);
            for content in [
                Content { positions: &hurt, ..good },
                Content { velocities: &hurt, ..good },
                Content { targets: [&hurt, &STILL], ..good },
                Content { targets: [&POSE, &hurt], ..good },
            ] {
                // Targets are only required to be finite.
                if value.is_finite() && content.targets != good.targets {
                    continue;
                }
                assert_eq!(content.judge(before, true, PERIOD, GAP), Verdict::Impossible, "{content:?}");
                assert_eq!(content.judge(None, false, PERIOD, GAP), Verdict::Impossible, "{content:?}");
            }
        }
        let fast = [12.6, 0.0, 0.0, 0.0, 0.0, 0.0];
        let content = Content {
            at: ControllerTime::from_micros(0),
            positions: &POSE,
            velocities: &fast,
            targets: [&POSE, &STILL],
        };
        assert_eq!(content.judge(None, false, PERIOD, GAP), Verdict::Impossible);
    }
}
