use super::*;
use crate::kinematics::{DhParameters, KinematicChain};
use outrigger_wire::math::{norm, subtract};
use outrigger_wire::robot::{JointPositions, Pose, RobotModel};
use proptest::prelude::*;

fn jacobian(q: [f32; 6]) -> Jacobian<6> {
    let chain = KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default());
    chain.posture(&JointPositions(q)).jacobian
}

/// An ordinary working pose: elbow and wrist are well bent.
const BENT: [f32; 6] = [0.2, -1.3, 1.6, -1.9, -1.5, 0.4];

fn twist(values: [f32; 6]) -> Twist {
    let [vx, vy, vz, wx, wy, wz] = values;
    Twist { linear: [vx, vy, vz], angular: [wx, wy, wz] }
}

fn size(t: &Twist) -> f32 {
    norm(t.linear).hypot(norm(t.angular))
}

#[test]
fn no_twist_needs_no_motion() {
    let solution = DampedLeastSquares::default().solve(&jacobian(BENT), &Twist::default());
    assert_eq!(solution, Solution { velocities: JointVelocities::ZERO, unreached: 0.0 });
}

#[test]
fn a_twist_that_a_straight_wrist_cannot_make_is_told_and_stays_bounded() {
    // Wrist 2 at zero: axes 4 and 6 are parallel, and no joint turns the tool about the missing direction.
    let straight = [0.2, -1.3, 1.6, -1.9, 0.0, 0.4];
    let solver = DampedLeastSquares::default();
    let j = jacobian(straight);
    let mut worst = 0.0_f32;
    for axis in 0..6 {
        let mut wanted = [0.0; 6];
        wanted[axis] = 0.2;
        let solution = solver.solve(&j, &twist(wanted));
        worst = worst.max(solution.unreached);
        let bound = 0.4 / (2.0 * solver.damping);
        assert!(solution.velocities.max_abs() <= bound, "{:?}", solution.velocities);
    }
    assert!(worst > 0.3, "some direction cannot be made: {worst}");
}

#[test]
fn numbers_that_are_none_come_out_as_such() {
    let solver = DampedLeastSquares::default();
    let solution = solver.solve(&jacobian(BENT), &twist([0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0]));
    assert!(!solution.velocities.is_finite());
    assert!(!solver.solve(&jacobian([f32::NAN; 6]), &twist([0.1; 6])).velocities.is_finite());
}

#[test]
fn a_seventh_joint_is_used_to_move_less() {
    let six = jacobian(BENT);
    let mut columns = [Twist::default(); 7];
    columns[..6].copy_from_slice(&six.0);
    columns[6] = six.0[5];
    let wanted = twist([0.0, 0.0, 0.0, 0.0, 0.1, 0.3]);
    let solver = DampedLeastSquares::default();
    let seven = solver.solve(&Jacobian(columns), &wanted).velocities;
    let alone = solver.solve(&six, &wanted).velocities;
    assert!((seven.0[5] - seven.0[6]).abs() < 1e-5, "twins share the work");
    assert!(seven.0[5].abs() < alone.0[5].abs());
}

/// Solves the same six equations in `f64` by an independent method: Cramer's rule with recursively expanded
/// determinants.
fn solve_by_cramer(m: [[f64; 6]; 6], right: [f64; 6]) -> [f64; 6] {
    fn determinant(rows: &[Vec<f64>]) -> f64 {
        let Some((first, rest)) = rows.split_first() else { return 1.0 };
        let minor = |skip: usize| -> Vec<Vec<f64>> {
            let keep = |row: &Vec<f64>| row.iter().enumerate().filter(|(i, _)| *i != skip).map(|(_, v)| *v).collect();
            rest.iter().map(keep).collect()
        };
        let signed = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        first.iter().enumerate().map(|(i, v)| signed(i) * v * determinant(&minor(i))).sum()
    }
    let rows = |replaced: Option<usize>| -> Vec<Vec<f64>> {
        let row = |r: usize| (0..6).map(|c| if Some(c) == replaced { right[r] } else { m[r][c] }).collect();
        (0..6).map(row).collect()
    };
    let whole = determinant(&rows(None));
    [0, 1, 2, 3, 4, 5].map(|i| determinant(&rows(Some(i))) / whole)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn elimination_agrees_with_cramers_rule(columns in prop::collection::vec(prop::array::uniform6(-1.0_f64..1.0), 8), right in prop::array::uniform6(-1.0_f64..1.0)) {
        let mut m = [[0.0_f64; 6]; 6];
        for column in &columns {
            for (i, a) in column.iter().enumerate() {
                for (j, b) in column.iter().enumerate() {
                    m[i][j] += a * b;
                }
            }
        }
        for (i, row) in m.iter_mut().enumerate() {
            row[i] += 0.1;
        }
        let mut rows: [Row; 6] = [[0.0; 7]; 6];
        for (i, row) in rows.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = if j < 6 { m[i][j] } else { right[i] } as f32;
            }
        }
        let expected = solve_by_cramer(m, right);
        for (got, expected) in solve_positive_definite(rows).iter().zip(expected) {
            prop_assert!((f64::from(*got) - expected).abs() < 2e-4 * (1.0 + expected.abs()), "{got} for {expected}");
        }
    }
}

proptest! {
    #[test]
    fn the_joint_speeds_make_the_twist_away_from_singular_poses(
        off in prop::array::uniform6(-0.3_f32..0.3),
        wanted in prop::array::uniform6(-0.3_f32..0.3),
    ) {
        let mut q = BENT;
        q.iter_mut().zip(off).for_each(|(q, off)| *q += off);
        let (j, wanted) = (jacobian(q), twist(wanted));
        let solution = DampedLeastSquares::default().solve(&j, &wanted);
        let made = j.twist(&solution.velocities);
        let missing = Twist { linear: subtract(made.linear, wanted.linear), angular: subtract(made.angular, wanted.angular) };
        prop_assert!(size(&missing) < 0.05 * size(&wanted) + 1e-5, "{missing:?} of {wanted:?}");
    }

    #[test]
    fn what_is_unreached_is_what_is_missing(
        q in prop::array::uniform6(-3.1_f32..3.1),
        wanted in prop::array::uniform6(-0.3_f32..0.3),
    ) {
        let (j, wanted) = (jacobian(q), twist(wanted));
        let solver = DampedLeastSquares { length: 1.0, ..DampedLeastSquares::default() };
        let solution = solver.solve(&j, &wanted);
        let made = j.twist(&solution.velocities);
        let missing = Twist { linear: subtract(made.linear, wanted.linear), angular: subtract(made.angular, wanted.angular) };
        let part = size(&missing) / size(&wanted).max(1e-6);
        prop_assert!((solution.unreached - part).abs() < 0.02, "{} told, {part} missing", solution.unreached);
        prop_assert!((0.0..=1.01).contains(&solution.unreached));
    }

    #[test]
    fn speeds_stay_bounded_at_every_pose(
        q in prop::array::uniform6(-3.1_f32..3.1),
        wanted in prop::array::uniform6(-0.3_f32..0.3),
    ) {
        let solver = DampedLeastSquares::default();
        let wanted = twist(wanted);
        let solution = solver.solve(&jacobian(q), &wanted);
        let weighted = Twist { linear: scale(wanted.linear, 1.0 / solver.length), ..wanted };
        let bound = size(&weighted) / (2.0 * solver.damping);
        prop_assert!(solution.velocities.max_abs() <= bound * 1.01 + 1e-6);
    }
}
