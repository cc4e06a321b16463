//! The check whether the arm is at the start of the law's motion.

use outrigger_wire::robot::JointPositions;

/// Returns a message with the joint that is farthest from the start of the motion, if its distance is larger than
/// `most` \[rad\].
pub(super) fn away_from<const N: usize>(
    start: &JointPositions<N>,
    at: &JointPositions<N>,
    most: f32,
) -> Option<String> {
    let off = start.zip_with(at.as_array(), |start, at| (at - start).abs());
    let (joint, off) = off.iter().enumerate().reduce(|worst, next| if next.1 > worst.1 { next } else { worst })?;
    let (start, at) = (start.as_array().get(joint)?, at.as_array().get(joint)?);
    (off > most).then(|| {
        format!(
            "a start would be refused: joint {} is at {at:.3} rad, {off:.3} rad from the start of the motion \
             ({start:.3} rad), and law.path_tolerance allows {most:.3}; move the arm there, or set law.relative = \
             true to start from the current position",
            joint + 1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_away_from_the_start_is_named_with_joint_distance_and_tolerance() {
        let at = JointPositions([0.1, -1.57, 0.0, 0.0, 0.0, 0.0]);
        let text = away_from(&JointPositions([0.0; 6]), &at, 0.2).expect("it is far away");
        let expected = "joint 2 is at -1.570 rad, 1.570 rad from the start of the motion (0.000 rad)";
        assert!(text.contains(expected) && text.contains("path_tolerance allows 0.200"), "{text}");
        assert_eq!(away_from(&at, &at, 0.2), None);
        // Of several joints with the same distance the first one is reported.
        let text = away_from(&JointPositions([1.0; 6]), &JointPositions([0.0; 6]), 0.2).expect("it is far away");
        assert!(text.contains("joint 1 is at 0.000 rad, 1.000 rad from"), "{text}");
    }
}
