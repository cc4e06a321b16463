//! Streamed commands together with motions: which of the two may begin, and what the governor passes of each.

use super::*;
use crate::command::{TorqueLimits, TorqueSlot};
use crate::law::{Forwarded, Replaced};
use outrigger_wire::robot::JointTorques;

const FASTEST: f32 = 0.5;

fn limits() -> Limits<6> {
    Limits {
        velocity: JointVelocities([FASTEST; 6]),
        acceleration: JointAccelerations([3.0; 6]),
        braking: JointAccelerations([3.0; 6]),
        ..Limits::default()
    }
}

fn speeds(first: f32) -> Forward<6> {
    let what = Forwarded::Speeds(JointVelocities([first, 0.0, 0.0, -first, 0.0, 0.0]));
    Forward { what, holds: Forward::<6>::DRIVER_HOLDS }
}

fn beside(state: &State<6>, off: f32) -> Forward<6> {
    let what = Forwarded::Positions(state.positions.map(|q| q + off));
    Forward { what, holds: Forward::<6>::DRIVER_HOLDS }
}

/// A simulated arm, and the law that moves it.
#[derive(Clone)]
struct Cell {
    law: JointServo<6>,
    plant: Plant,
}

impl Cell {
    fn new() -> Self {
        let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
        let plant = Plant::at(HOME).held_to(limits());
        law.arm(&Start::at(&plant.state)).unwrap();
        Self { law, plant }
    }

    fn send(&mut self, forward: &Forward<6>) -> Result<(), ForwardError> {
        self.law.forward(forward, &self.plant.state, &limits())
    }

    /// Begins a motion by 0.1 rad from the arm's position.
    fn begin(&mut self) -> Result<Replaced, FeedError> {
        let positions = self.plant.state.positions.map(|q| q + 0.1);
        let setpoint = Setpoint { positions, velocities: JointVelocities::ZERO };
        let to = Waypoint { setpoint, accelerations: None, at: Duration::from_millis(800) };
        self.law.replace(&[to], true, &limits())
    }

    fn run(&mut self, cycles: u32) {
        for _ in 0..cycles {
            let wanted = self.plant.cycle(&mut self.law, &Samples::NONE).expect("nothing here ends commanding");
            assert!(wanted.max_abs() <= FASTEST, "{wanted:?}");
        }
    }

    fn rests(&self) -> bool {
        self.plant.state.velocities.max_abs() < 0.02
    }
}

/// An event in the explored sequences: a command to the law, cycles of the arm, or an interruption of commanding.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Speeds(f32),
    Beside(f32),
    Begin,
    Cancel,
    /// This many cycles.
    Run(u32),
    /// This many cycles with the robot's speed scaling at 0.
    Stand(u32),
    Slider(f32),
    /// A fallback, followed by a request.
    Fallback,
}

const ALL: [Happens; 13] = [
    Happens::Speeds(0.4),
    Happens::Speeds(-0.5),
    Happens::Speeds(0.6),
    Happens::Speeds(f32::NAN),
    Happens::Beside(0.15),
    Happens::Beside(0.25),
    Happens::Begin,
    Happens::Cancel,
    Happens::Run(3),
    Happens::Run(20),
    Happens::Stand(20),
    Happens::Slider(0.4),
    Happens::Fallback,
];

fn live(cell: &mut Cell, happens: Happens) {
    let (stage, progress) = (cell.law.forwarding(), cell.law.progress());
    assert!(
        stage == Forwarding::Idle || progress == Progress::Endless,
        "one source at a time: {stage:?}, {progress:?}"
    );
    let moves = progress == Progress::Running;
    let sent = |cell: &mut Cell, forward: &Forward<6>, is_sound: bool, other: bool| {
        let taken = cell.send(forward);
        assert_eq!(taken.is_ok(), is_sound && !moves && !other, "{taken:?}");
        assert_eq!(taken == Err(ForwardError::MotionUnderWay), moves);
        if taken.is_err() {
            assert_eq!((cell.law.forwarding(), cell.law.progress()), (stage, progress));
        }
    };
    match happens {
        Happens::Speeds(first) => {
            sent(cell, &speeds(first), first.abs() <= FASTEST, stage == Forwarding::Positions);
        }
        Happens::Beside(off) => {
            let forward = beside(&cell.plant.state, off);
            sent(cell, &forward, off < 0.2, matches!(stage, Forwarding::Speeds | Forwarding::Lapsed));
        }
        Happens::Begin | Happens::Cancel => {
            let begins = matches!(happens, Happens::Begin);
            let taken = if begins { cell.begin() } else { cell.law.cancel(&limits()) };
            assert_eq!(taken == Err(FeedError::Forwarded), stage != Forwarding::Idle, "{stage:?}: {taken:?}");
            assert_eq!(cell.law.forwarding(), stage);
        }
        Happens::Run(cycles) => cell.run(cycles),
        Happens::Stand(cycles) => {
            // As in the engine: no step is made, and the governor starts anew.
            (0..cycles).for_each(|_| cell.law.stand(crate::law::test_arm::CYCLE));
            assert!(!matches!(cell.law.forwarding(), Forwarding::Speeds | Forwarding::Positions));
        }
        Happens::Slider(share) => cell.plant.state.speed_scaling = Some(share),
        Happens::Fallback => {
            cell.law.suspend();
            assert_eq!(cell.law.forwarding(), Forwarding::Idle);
            let state = cell.plant.state;
            cell.plant = Plant::at(state.positions.0).held_to(limits());
            cell.law.arm(&Start::at(&cell.plant.state)).unwrap();
            assert_eq!(cell.law.forwarding(), Forwarding::Idle);
        }
    }
}

fn explore(history: &mut Vec<Happens>, cell: &Cell, depth: u32) {
    if depth == 0 {
        // Without further commands the arm comes to rest while commanded, and another source may begin.
        let mut cell = cell.clone();
        cell.plant.state.speed_scaling = Some(1.0);
        cell.run(400);
        assert!(cell.rests(), "{history:?}: {:?}", cell.plant.state.velocities);
        assert_eq!(cell.law.forwarding(), Forwarding::Idle, "{history:?}");
        assert!(cell.begin().is_ok(), "{history:?}");
        return;
    }
    for happens in ALL {
        let mut cell = cell.clone();
        history.push(happens);
        live(&mut cell, happens);
        explore(history, &cell, depth - 1);
        history.pop();
    }
}

#[test]
fn in_every_order_of_streams_motions_and_faults_one_source_moves_the_arm_and_it_rests_after_the_last() {
    explore(&mut vec![], &Cell::new(), 4);
}

#[test]
fn after_the_last_speeds_the_arm_rests_as_soon_as_its_deceleration_lets_it_and_is_held_there() {
    let mut cell = Cell::new();
    for _ in 0..100 {
        cell.send(&speeds(0.5)).unwrap();
        cell.run(1);
    }
    assert!((cell.plant.state.velocities.0[0] - 0.5).abs() < 0.01);
    // 0.04 s of timeout, 0.17 s of braking with 3 rad/s², and the lag of the simulated arm.
    let cycles = (0..100).take_while(|_| {
        cell.run(1);
        !cell.rests()
    });
    let cycles = cycles.count();
    assert!((24..34).contains(&cycles), "{cycles} cycles");
    let there = cell.plant.state.positions;
    cell.run(200);
    assert!(cell.plant.state.positions.zip_with(there.as_array(), |q, t| q - t).max_abs() < 5e-3);
    assert_eq!((cell.law.forwarding(), cell.law.progress()), (Forwarding::Idle, Progress::Endless));
}

#[test]
fn positions_are_followed_within_their_limits_and_the_arm_stays_at_the_last() {
    let mut cell = Cell::new();
    let to = |cycle: u16| HOME[0] + 0.4 * f32::from(cycle.min(125)) * 0.008;
    for cycle in 0..130 {
        let mut positions = JointPositions(HOME);
        positions.0[0] = to(cycle);
        let what = Forwarded::Positions(positions);
        cell.send(&Forward { what, holds: Forward::<6>::DRIVER_HOLDS }).unwrap();
        cell.run(1);
    }
    cell.run(100);
    assert_eq!(cell.law.forwarding(), Forwarding::Idle);
    assert!((cell.plant.state.positions.0[0] - to(125)).abs() < 1e-3, "{:?}", cell.plant.state.positions);
}

#[test]
fn a_law_with_a_sensor_and_one_without_feedback_refuse_what_they_cannot_follow() {
    let config = |config: JointServoConfig| {
        let mut law = JointServo::new(Reference::Hold, config);
        law.arm(&Start::at(&Plant::at(HOME).state)).unwrap();
        law
    };
    let state = Plant::at(HOME).state;
    let sensor = Some(SensorFeedForward { source: SourceId(1), gain: 1.0 });
    let mut led = config(JointServoConfig { sensor, ..JointServoConfig::default() });
    assert_eq!(led.forward(&speeds(0.1), &state, &limits()), Err(ForwardError::Sensor));
    let mut blind = config(JointServoConfig { proportional: 0.0, ..JointServoConfig::default() });
    assert_eq!(blind.forward(&beside(&state, 0.1), &state, &limits()), Err(ForwardError::NoFeedback));
    assert_eq!(blind.forward(&speeds(0.1), &state, &limits()), Ok(()));
    let mut waits = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    assert_eq!(waits.forward(&speeds(0.1), &state, &limits()), Err(ForwardError::MotionUnderWay));
}

/// Returns the torques that the law commands in its next step on a path that accepts torques.
fn pushes(law: &mut JointServo<6>, state: &State<6>, limits: &TorqueLimits<6>) -> JointTorques<6> {
    let slot = TorqueSlot::new(limits);
    let speeds = law.step(state, &Samples::NONE.taking_torques(&slot), Duration::from_millis(2));
    assert_eq!(speeds, Ok(JointVelocities::ZERO));
    slot.take().expect("torques")
}

#[test]
fn torques_go_out_as_they_were_sent_while_they_hold_and_then_brake_each_joint() {
    let (limits_of_torque, mut state) = (TorqueLimits::default(), Plant::at(HOME).state);
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    law.arm(&Start::at(&state)).unwrap();
    let sent = JointTorques([4.0, 0.0, -2.0, 0.0, 0.0, 0.5]);
    let forward = Forward { what: Forwarded::Torques(sent), holds: Forward::<6>::DRIVER_HOLDS };
    law.forward(&forward, &state, &limits()).unwrap();
    assert_eq!(law.replace(&[], true, &limits()), Err(FeedError::Forwarded));
    state.velocities.0[0] = 0.3;
    for cycle in 0..20 {
        assert_eq!(pushes(&mut law, &state, &limits_of_torque), sent, "cycle {cycle}");
        assert_eq!((law.setpoint().unwrap().velocities, law.forwarding()), (state.velocities, Forwarding::Torques));
    }
    let braking = pushes(&mut law, &state, &limits_of_torque);
    assert!(braking.0[0] < 0.0 && braking.0[1..].iter().all(|torque| *torque == 0.0), "{braking:?}");
    assert_eq!(law.forwarding(), Forwarding::Lapsed);
    state.velocities.0[0] = 0.0;
    assert_eq!(pushes(&mut law, &state, &limits_of_torque), JointTorques::ZERO);
    assert_eq!(law.forwarding(), Forwarding::Idle);
}

#[test]
fn torques_end_commanding_where_speeds_go_out() {
    let state = Plant::at(HOME).state;
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    law.arm(&Start::at(&state)).unwrap();
    let forward = Forward { what: Forwarded::Torques(JointTorques::ZERO), holds: Forward::<6>::DRIVER_HOLDS };
    law.forward(&forward, &state, &limits()).unwrap();
    assert_eq!(law.step(&state, &Samples::NONE, Duration::from_millis(2)), Err(Reason::PathUnfit));
}
