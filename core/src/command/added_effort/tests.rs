use super::*;

const RISE: Duration = Duration::from_millis(100);
const MOST: [f32; 7] = [40.0, 20.0, 10.0, 10.0, 5.0, 2.0, 1.0];
const CONSTANT: [f32; 7] = [4.0, -2.0, 0.0, 1.0, 0.0, 0.0, 0.5];

fn governor(constant: [f32; 7]) -> AddedGovernor {
    let mut governor = AddedGovernor::default();
    governor.set_bounds(Some(AddedBounds::of_torques(MOST, RISE, constant)));
    governor
}

/// Returns the joint torques that are this share of the torque limit of each joint.
fn share(of: f32) -> Numbers {
    JointTorques(MOST.map(|most| most * of))
}

/// Returns the added torques that the arm gets in the governor's present phase \[Nm\]: none, the constant of the
/// configuration, or the given ones.
fn felt(governor: &AddedGovernor, constant: [f32; 7]) -> [f32; 7] {
    match governor.phase {
        AddedPhase::Idle => [0.0; 7],
        AddedPhase::Constant => constant,
        AddedPhase::Given(JointTorques(numbers)) => numbers,
    }
}

/// Returns the largest change of a joint's added torque, as a share of the joint's limit.
fn change(before: &[f32; 7], after: &[f32; 7]) -> f32 {
    let numbers = before.iter().zip(after).zip(MOST);
    numbers.map(|((before, after), most)| (after - before).abs() / most).fold(0.0, f32::max)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Step { given: Option<Numbers>, scale: f32, millis: u64 },
    Reset,
}

/// Returns every event that differs for the governor of added torques: no torques, torques within the limits, at them,
/// one above them, and one that is NaN or infinite; each fresh or bridged, in short and long cycles.
fn events() -> Vec<Event> {
    let with = |joint: usize, number: f32| {
        let mut numbers = share(0.5);
        numbers.0[joint] = number;
        Some(numbers)
    };
    let mut given = vec![None, Some(Numbers::ZERO), Some(share(0.3)), Some(share(1.0)), Some(share(-1.0))];
    for joint in [0, 3, 6] {
        let above = MOST[joint] * (1.0 + f32::EPSILON);
        given.extend([above, -above, f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|number| with(joint, number)));
    }
    let steps = given.into_iter().flat_map(|given| {
        let each = [(1.0, 1), (0.5, 1), (0.0, 1), (1.0, 0), (1.0, 7), (0.0, 250)];
        each.map(|(scale, millis)| Event::Step { given, scale, millis })
    });
    steps.chain([Event::Reset]).collect()
}

/// Applies an event to the governor of added torques, and checks every rule of the table of the module. Returns `false`
/// if the torques are refused.
fn taken(governor: &mut AddedGovernor, event: Event, constant: [f32; 7]) -> bool {
    let before = *governor;
    let Event::Step { given, scale, millis } = event else {
        governor.reset();
        assert_eq!((governor.phase, governor.sent()), (AddedPhase::Idle, None));
        return true;
    };
    let stepped = governor.step(given, scale, Duration::from_millis(millis));
    let judged = match given {
        // Before any scaling.
        Some(given) if !given.is_finite() => Err(Reason::NotFinite),
        Some(given) if given.iter().zip(MOST).any(|(number, most)| number.abs() > most) => Err(Reason::TorqueLimit),
        Some(_) | None => Ok(()),
    };
    assert_eq!(stepped, judged, "{before:?} {event:?}");
    if judged.is_err() {
        assert_eq!(*governor, before, "{event:?}");
        return false;
    }
    let (was, is) = (felt(&before, constant), felt(governor, constant));
    let allowed = millis as f32 / 100.0;
    let sets_in = (given, before.phase, governor.phase) == (None, AddedPhase::Idle, AddedPhase::Constant);
    assert!(sets_in || change(&was, &is) <= allowed * (1.0 + 1e-4) + 1e-6, "{before:?} {event:?} {governor:?}");
    let wanted = given.map_or(constant, |given| given.map(|number| number * scale).0);
    // Nothing but the time stands in the way, and no number goes the other way.
    let arrives = change(&was, &wanted) <= allowed;
    assert!(!arrives || is == wanted, "{before:?} {event:?} {governor:?}");
    for ((was, is), wanted) in was.iter().zip(&is).zip(&wanted) {
        assert!(sets_in || (was.min(*wanted)..=was.max(*wanted)).contains(is), "{before:?} {event:?} {governor:?}");
    }
    match governor.phase {
        AddedPhase::Idle => panic!("a step of an arm that follows: {before:?} {event:?}"),
        AddedPhase::Constant => assert!(given.is_none() && governor.sent().is_none()),
        AddedPhase::Given(numbers) => {
            assert_eq!(governor.sent(), Some(&numbers.0));
            assert!(given.is_some() || matches!(before.phase, AddedPhase::Given(_)));
        }
    }
    true
}

#[test]
fn every_history_of_three_events_keeps_the_rules() {
    let (events, mut histories) = (events(), 0);
    for constant in [[0.0; 7], CONSTANT] {
        for first in &events {
            let mut one = governor(constant);
            if !taken(&mut one, *first, constant) {
                continue;
            }
            for second in &events {
                let mut two = one;
                if !taken(&mut two, *second, constant) {
                    continue;
                }
                for third in &events {
                    let mut three = two;
                    taken(&mut three, *third, constant);
                    histories += 1;
                }
            }
        }
    }
    assert!(histories > 100_000, "{histories}");
}

#[test]
fn whatever_was_added_is_gone_within_its_time_to_rise_once_the_law_gives_nothing() {
    for millis in [1, 2, 5, 12, 50, 100] {
        for from in [1.0, -1.0, 0.4] {
            let mut governor = governor([0.0; 7]);
            assert_eq!(governor.step(Some(share(from)), 1.0, RISE), Ok(()));
            assert_eq!(governor.sent(), Some(&share(from).0));
            let mut passed = Duration::ZERO;
            while governor.sent().is_some_and(|numbers| *numbers != [0.0; 7]) {
                assert!(passed < RISE + Duration::from_millis(millis), "{from} in cycles of {millis} ms: {governor:?}");
                passed = passed + Duration::from_millis(millis);
                assert_eq!(governor.step(None, 1.0, Duration::from_millis(millis)), Ok(()));
            }
        }
    }
}

#[test]
fn a_bridged_reading_is_judged_as_it_was_given() {
    let mut governor = governor([0.0; 7]);
    let above = share(1.001);
    assert_eq!(governor.step(Some(above), 0.0, RISE), Err(Reason::TorqueLimit));
    assert_eq!(governor.step(Some(share(1.0)), 0.0, RISE), Ok(()));
    assert_eq!(governor.sent(), Some(&[0.0; 7]), "nothing is left of it");
}

#[test]
fn a_wrench_is_bounded_by_its_own_six_numbers() {
    let most = Wrench { force: [20.0, 20.0, 10.0], torque: [2.0, 2.0, 1.0] };
    let mut governor = AddedGovernor::default();
    governor.set_bounds(Some(AddedBounds::of_wrench(&most, RISE, &Wrench::default())));
    let slot = governor.slot().expect("a wrench is added");
    assert_eq!(slot.put_torques(&JointTorques([1.0; 7])), Err(Reason::PathUnfit));
    assert_eq!(slot.take(), None);
    let wanted = Wrench { force: [0.0, 0.0, 10.0], torque: [0.0, -2.0, 0.0] };
    assert_eq!(slot.put_wrench(&wanted), Ok(()));
    assert_eq!(governor.step(slot.take(), 1.0, Duration::from_millis(50)), Ok(()));
    assert_eq!(governor.sent(), Some(&[0.0, 0.0, 5.0, 0.0, -1.0, 0.0, 0.0]), "half of it in half the time");
    for beyond in [Wrench { force: [0.0, 0.0, 10.1], ..wanted }, Wrench { torque: [0.0, -2.1, 0.0], ..wanted }] {
        assert_eq!(slot.put_wrench(&beyond), Ok(()));
        assert_eq!(governor.step(slot.take(), 1.0, RISE), Err(Reason::TorqueLimit), "{beyond:?}");
    }
    let nothing = AddedGovernor::default();
    assert!(nothing.slot().is_none() && nothing.sent().is_none());
}

#[test]
fn a_slot_of_torques_takes_no_wrench() {
    let slot = governor([0.0; 7]).slot().expect("torques are added");
    assert_eq!(slot.put_wrench(&Wrench::default()), Err(Reason::PathUnfit));
    assert_eq!(slot.put_torques(&JointTorques([1.0; 7])), Ok(()));
    assert_eq!((slot.take(), slot.take()), (Some(JointTorques([1.0; 7])), None));
}
