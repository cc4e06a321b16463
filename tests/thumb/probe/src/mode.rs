//! The mode machine, its two measurements, and the only way from its authority to approved speeds.

use outrigger_core::command::{Governor, Limits};
use outrigger_core::mode::{
    Action, Course, CourseConfig, Evidence, Following, FollowingConfig, Mirrored, ModeConfig, ModeMachine, MoveNumber,
    Standstill, StandstillConfig, TimedFact,
};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_numbers, any_state, used};

#[inline(never)]
pub fn probe() {
    let Some(state) = any_state() else { return };
    machine(&state);
    measurements(&state);
}

#[inline(never)]
fn machine(state: &State<6>) {
    let now = any(Instant::from_micros(9));
    let mirrored = MoveNumber::new(any(7)).map(|number| TimedFact::new(any(Mirrored::Running(number)), now));
    let evidence = any(Evidence { mirrored, ..Evidence::default() });
    let mut machine = any(ModeMachine::new(any(ModeConfig::new(any(Duration::from_millis(2))))));
    let mut governor = Governor::<6>::new(any(Limits::default()));
    used(machine.config().check());
    used((machine.established(now), machine.request(now, &evidence)));
    used((machine.observe(now, &evidence), machine.tick(now), machine.next_deadline()));
    used((machine.delegate(now, &evidence), machine.stream(now, &evidence), machine.drive()));
    let action = machine.action();
    if let Action::Cancel(number) | Action::Start(_, number) = &action {
        used(number.next().get());
    }
    if let Action::Move(authority) | Action::Start(authority, _) = action {
        match governor.approve(authority, JointVelocities(any_numbers()), state, any(Duration::from_millis(2))) {
            Ok(approved) => used((approved.velocities(), approved.shaped())),
            Err(reason) => used(reason),
        }
    }
    used(governor.last());
    for reason in machine.unmet(&evidence, now).iter() {
        used(reason.text());
    }
    used((machine.fault(now, any(Reason::StateStale)), machine.release(now), machine.acknowledge()));
    used((machine.link_lost(now, any(Reason::LinkClosed)), machine.mode(), machine.latch(), machine.reasons()));
}

#[inline(never)]
fn measurements(state: &State<6>) {
    let mut following = any(Following::<6>::new(any(FollowingConfig::new(any(Duration::from_millis(2))))));
    following.sent(&JointVelocities(any_numbers()));
    following.skipped();
    used(following.judge(state, any(Duration::from_millis(2)), any(Some(Duration::from_millis(2)))));
    used((following.newest(), following.is_moving_by_us(state)));
    let course = any(Course::<6> { from: state.positions, to: state.target_positions, speed: 1.0 });
    let tolerance = any(CourseConfig::default());
    used((
        course.holds(state, &tolerance),
        course.holds_at(&state.positions, state, &tolerance),
        tolerance.check_ranges(),
    ));
    let mut standstill = any(Standstill::<6>::new(any(StandstillConfig::default())));
    used((standstill.observe(state, any(Instant::from_micros(9)), any(true)), standstill.at_rest()));
}
