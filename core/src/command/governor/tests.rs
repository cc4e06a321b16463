use super::*;
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};
use proptest::prelude::*;

const CYCLE: Duration = Duration::from_millis(8);

fn approve<const N: usize>(
    governor: &mut Governor<N>,
    wanted: [f32; N],
    state: &State<N>,
    dt: Duration,
) -> Result<(JointVelocities<N>, Shaped), Reason> {
    let mut machine = ();
    let approved = governor.approve(Authority::granted_by(&mut machine), wanted.into(), state, dt)?;
    Ok((*approved.velocities(), approved.shaped()))
}

fn at<const N: usize>(positions: [f32; N]) -> State<N> {
    State { positions: JointPositions(positions), ..State::default() }
}

/// Returns a governor with an acceleration limit so high that one step reaches any speed.
fn agile() -> Governor<2> {
    Governor::new(Limits { acceleration: JointAccelerations([1e6; 2]), ..Limits::default() })
}

#[test]
fn what_is_no_number_is_refused_and_changes_nothing() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut governor = agile();
        approve(&mut governor, [0.5, 0.5], &at([0.0; 2]), CYCLE).unwrap();
        assert_eq!(approve(&mut governor, [0.0, bad], &at([0.0; 2]), CYCLE), Err(Reason::NotFinite));
        assert_eq!(approve(&mut governor, [0.0; 2], &at([bad, 0.0]), CYCLE), Err(Reason::NotFinite));
        assert_eq!(governor.last(), JointVelocities([0.5, 0.5]));
    }
}

#[test]
fn a_speed_within_the_margin_is_scaled_and_beyond_it_refused() {
    let mut governor = agile();
    let (v, shaped) = approve(&mut governor, [1.04, 0.52], &at([0.0; 2]), CYCLE).unwrap();
    assert_eq!(v.0[0], 1.0);
    assert!((v.0[1] - 0.5).abs() < 1e-6, "the direction of motion is kept: {v:?}");
    assert!((shaped.velocity - 1.0 / 1.04).abs() < 1e-6);
    assert_eq!(approve(&mut governor, [0.0, -1.06], &at([0.0; 2]), CYCLE), Err(Reason::VelocityLimit));
}

#[test]
fn a_jump_of_the_wish_becomes_a_ramp_in_its_direction() {
    let mut governor = Governor::<2>::new(Limits::default());
    let (v, shaped) = approve(&mut governor, [0.8, -0.4], &at([0.0; 2]), CYCLE).unwrap();
    assert!((v.0[0] - 0.016).abs() < 1e-6 && (v.0[1] + 0.008).abs() < 1e-6, "{v:?}");
    assert!((shaped.change - 0.02).abs() < 1e-6);
    // 0.8 rad/s at 2 rad/s² take 50 cycles of 8 ms.
    for _ in 0..50 {
        approve(&mut governor, [0.8, -0.4], &at([0.0; 2]), CYCLE).unwrap();
    }
    assert_eq!(governor.last(), JointVelocities([0.8, -0.4]));
}

#[test]
fn no_time_passed_means_no_change_and_a_long_gap_counts_only_so_far() {
    let mut governor = Governor::<2>::new(Limits::default());
    let (v, _) = approve(&mut governor, [0.5, 0.0], &at([0.0; 2]), Duration::ZERO).unwrap();
    assert_eq!(v, JointVelocities::ZERO);
    let (v, _) = approve(&mut governor, [0.5, 0.0], &at([0.0; 2]), Duration::from_millis(200)).unwrap();
    assert!((v.0[0] - 0.08).abs() < 1e-6, "40 ms at 2 rad/s²: {v:?}");
}

#[test]
fn arming_starts_again_from_zero() {
    let mut governor = agile();
    approve(&mut governor, [0.5, 0.0], &at([0.0; 2]), CYCLE).unwrap();
    governor.reset();
    assert_eq!(governor.last(), JointVelocities::ZERO);
}

#[test]
fn a_joint_near_its_limit_may_leave_it_but_not_approach_it() {
    let near = at([6.27, -6.27]);
    let mut governor = agile();
    assert_eq!(approve(&mut governor, [0.5, 0.0], &near, CYCLE), Err(Reason::PositionLimit));
    assert_eq!(approve(&mut governor, [0.0, -0.5], &near, CYCLE), Err(Reason::PositionLimit));
    assert!(approve(&mut governor, [-0.5, 0.5], &near, CYCLE).is_ok());
}

#[test]
fn a_joint_outside_its_range_may_rest_there_and_come_back() {
    let outside = at([6.5, 0.0]);
    let mut governor = agile();
    assert!(approve(&mut governor, [0.0, 0.0], &outside, CYCLE).is_ok());
    assert!(approve(&mut governor, [-0.2, 0.0], &outside, CYCLE).is_ok());
    assert_eq!(approve(&mut agile(), [0.001, 0.0], &outside, CYCLE), Err(Reason::PositionLimit));
}

#[test]
fn limits_that_check_refuses_approve_no_motion() {
    for wrong in [0.0, f32::NAN] {
        let limits = Limits { velocity: JointVelocities([wrong; 2]), ..Limits::default() };
        assert!(approve(&mut Governor::new(limits), [0.1, 0.1], &at([0.0; 2]), CYCLE).is_err());
        let limits = Limits { braking: JointAccelerations([wrong; 2]), ..Limits::default() };
        assert!(approve(&mut Governor::new(limits), [0.1, 0.1], &at([0.0; 2]), CYCLE).is_err());
    }
}

/// A simulated arm that executes a command one cycle after the state it answers, with a drive that lags behind it.
struct Arm {
    q: f32,
    v: f32,
    in_force: f32,
    /// The part of the difference to the command that the drive makes up in one cycle.
    drive: f32,
}

impl Arm {
    fn cycle(&mut self, command: f32, dt: f32) {
        self.v += self.drive * (self.in_force - self.v);
        self.q += self.v * dt;
        self.in_force = command;
    }

    /// Returns the position at which the arm rests after a stop from here with deceleration `a`.
    fn stop(mut self, a: f32, dt: f32) -> f32 {
        let mut command = self.in_force;
        for _ in 0..400 {
            self.cycle(command, dt);
            command -= command.clamp(-a * dt, a * dt);
        }
        self.q
    }
}

proptest! {
    #[test]
    fn approved_speeds_and_their_changes_never_exceed_the_limits(
        wishes in prop::collection::vec(prop::array::uniform2(-1.2_f32..1.2), 1..60),
        cycle in 0_u64..60,
    ) {
        let mut governor = Governor::<2>::new(Limits::default());
        let dt = Duration::from_millis(cycle);
        for wish in wishes {
            let before = governor.last();
            if let Ok((v, _)) = approve(&mut governor, wish, &at([0.0; 2]), dt) {
                prop_assert!(v.max_abs() <= 1.0);
                let step = v.zip_with(&before.0, |v, b| v - b).max_abs();
                prop_assert!(step <= 2.0 * dt.as_secs_f32().min(0.04) + 1e-6, "step {step}");
            }
        }
    }

    #[test]
    fn whatever_the_law_wants_the_arm_can_always_stop_inside_its_range(
        wishes in prop::collection::vec((-1.05_f32..1.05, 1_usize..120), 1..30),
        start in -0.9_f32..0.9,
        drive in 0.4_f32..1.0,
    ) {
        let limits = Limits {
            position_min: JointPositions([-1.0]),
            position_max: JointPositions([1.0]),
            ..Limits::default()
        };
        let mut governor = Governor::<1>::new(limits);
        let mut arm = Arm { q: start, v: 0.0, in_force: 0.0, drive };
        let dt = CYCLE.as_secs_f32();
        for wish in wishes.iter().flat_map(|(v, cycles)| core::iter::repeat_n(*v, *cycles)) {
            match approve(&mut governor, [wish], &at([arm.q]), CYCLE) {
                Ok((v, _)) => arm.cycle(v.0[0], dt),
                Err(reason) => {
                    prop_assert_eq!(reason, Reason::PositionLimit);
                    break;
                }
            }
        }
        let rest = arm.stop(2.0, dt);
        prop_assert!(rest.abs() <= 1.0, "rests at {rest}");
    }

    #[test]
    fn a_law_that_brakes_in_time_is_not_refused(to in -0.9_f32..0.9) {
        let limits = Limits {
            position_min: JointPositions([-1.0]),
            position_max: JointPositions([1.0]),
            ..Limits::default()
        };
        let mut governor = Governor::<1>::new(limits);
        let mut arm = Arm { q: 0.0, v: 0.0, in_force: 0.0, drive: 1.0 };
        for _ in 0..1_000 {
            let error = to - arm.q;
            let braked = (2.0 * 1.5 * error.abs()).sqrt().min(4.0 * error.abs()).min(1.0).copysign(error);
            let v = approve(&mut governor, [braked], &at([arm.q]), CYCLE).map(|(v, _)| v.0[0]);
            prop_assert!(v.is_ok(), "at {} rad on the way to {to}", arm.q);
            arm.cycle(v.unwrap_or(0.0), CYCLE.as_secs_f32());
        }
        prop_assert!((arm.q - to).abs() < 1e-3);
    }
}
