use super::*;

const DT: Duration = Duration::from_millis(2);

fn approved(
    governor: &mut TorqueGovernor<6>,
    wanted: [f32; 6],
    state: &State<6>,
    arm: &Limits<6>,
) -> Result<[f32; 6], Reason> {
    scaled(governor, wanted, 1.0, state, arm)
}

fn scaled(
    governor: &mut TorqueGovernor<6>,
    wanted: [f32; 6],
    scale: f32,
    state: &State<6>,
    arm: &Limits<6>,
) -> Result<[f32; 6], Reason> {
    let mut machine = ();
    let authority = Authority::granted_by(&mut machine);
    let approved = governor.approve(authority, JointTorques(wanted), scale, state, arm, DT)?;
    Ok(approved.into_parts().0.0)
}

fn at(q: f32, v: f32) -> State<6> {
    let mut state = State::default();
    (state.positions.0[0], state.velocities.0[0]) = (q, v);
    state
}

fn only(torque: f32) -> [f32; 6] {
    [torque, 0.0, 0.0, 0.0, 0.0, 0.0]
}

#[test]
fn a_torque_rises_no_faster_than_its_limit_in_the_time_to_rise() {
    let limits = TorqueLimits::default();
    let (mut governor, arm) = (TorqueGovernor::new(limits), Limits::default());
    let mut before = 0.0;
    for cycle in 1..=60_u16 {
        let torque = approved(&mut governor, only(28.0), &at(0.0, 0.0), &arm).unwrap()[0];
        assert!(torque - before <= 28.0 * 0.002 / 0.1 + 1e-4, "cycle {cycle}: {before} to {torque} Nm");
        before = torque;
    }
    assert_eq!(before, 28.0, "100 ms are over");
    let last = approved(&mut governor, only(-28.0), &at(0.0, 0.0), &arm).unwrap()[0];
    assert!((27.4..28.0).contains(&last), "it falls as slowly: {last} Nm");
}

#[test]
fn what_is_beyond_a_bound_is_refused_by_its_name() {
    let arm = Limits::default();
    let cases = [
        (only(28.1), at(0.0, 0.0), Reason::TorqueLimit),
        (only(-28.1), at(0.0, 0.0), Reason::TorqueLimit),
        (only(f32::NAN), at(0.0, 0.0), Reason::NotFinite),
        (only(1.0), at(0.0, f32::INFINITY), Reason::NotFinite),
        (only(1.0), at(0.0, 1.01), Reason::VelocityLimit),
        (only(1.0), at(0.0, -1.01), Reason::VelocityLimit),
        (only(1.0), at(6.2, 0.6), Reason::PositionLimit),
        (only(1.0), at(-6.2, -0.6), Reason::PositionLimit),
    ];
    for (wanted, state, reason) in cases {
        let mut governor = TorqueGovernor::new(TorqueLimits::default());
        assert_eq!(approved(&mut governor, wanted, &state, &arm), Err(reason), "{wanted:?} at {state:?}");
    }
}

#[test]
fn a_torque_beyond_its_limit_is_refused_however_little_of_it_is_left() {
    let arm = Limits::default();
    let mut governor = TorqueGovernor::new(TorqueLimits::default());
    for scale in [1.0, 0.5, 0.0] {
        let refused = scaled(&mut governor, only(28.1), scale, &at(0.0, 0.0), &arm);
        assert_eq!(refused, Err(Reason::TorqueLimit), "at {scale}");
    }
    let halved = (0..60).map(|_| scaled(&mut governor, only(20.0), 0.5, &at(0.0, 0.0), &arm).unwrap()[0]);
    assert_eq!(halved.last(), Some(10.0), "and half of what is within it");
}

#[test]
fn a_joint_comes_to_rest_within_its_travel_from_where_torques_began() {
    let arm = Limits::default();
    let mut governor = TorqueGovernor::new(TorqueLimits { travel: 0.5, ..TorqueLimits::default() });
    assert!(approved(&mut governor, only(1.0), &at(1.0, 0.0), &arm).is_ok());
    assert!(approved(&mut governor, only(1.0), &at(1.4, 0.2), &arm).is_ok());
    // 0.6²/4 rad for braking, after 22 ms.
    assert_eq!(approved(&mut governor, only(1.0), &at(1.4, 0.6), &arm), Err(Reason::GuideLimit));
    assert_eq!(approved(&mut governor, only(1.0), &at(0.49, 0.0), &arm), Err(Reason::GuideLimit));
    governor.reset();
    assert!(approved(&mut governor, only(1.0), &at(0.49, 0.0), &arm).is_ok(), "they begin here");
}

#[test]
fn a_joint_that_begins_outside_its_range_may_stay_and_come_back() {
    let mut arm = Limits::default();
    arm.position_max.0[0] = 1.0;
    let mut governor = TorqueGovernor::new(TorqueLimits::default());
    assert!(approved(&mut governor, only(1.0), &at(1.2, 0.0), &arm).is_ok());
    assert!(approved(&mut governor, only(-1.0), &at(1.19, -0.2), &arm).is_ok());
    assert_eq!(approved(&mut governor, only(1.0), &at(1.2, 0.1), &arm), Err(Reason::PositionLimit));
}

#[test]
fn a_slot_gives_back_what_was_put_there_once() {
    let slot = TorqueSlot::new(&TorqueLimits::<7>::default());
    assert_eq!(slot.take::<7>(), None);
    slot.put(&JointTorques([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]));
    assert_eq!(slot.take::<7>(), Some(JointTorques([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])));
    assert_eq!((slot.take::<7>(), slot.most::<2>().0), (None, [28.0, 28.0]));
}
