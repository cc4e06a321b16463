//! Couples two KUKA arms: the follower copies the motion of the leader, and the hand that moves the leader feels the
//! force that the follower meets.
//!
//! ```text
//! cargo run --release -p outrigger --example coupled_arms                                simulated arms
//! cargo run --release -p outrigger --example coupled_arms -- --leader 0.0.0.0:49938 --follower 0.0.0.0:49939
//! ```
//!
//! The leader is in Cartesian impedance: its target yields to the hand, and the follower's force is added to its own.
//! The follower is in joint impedance: it presses against what it touches, and does not push through. In simulation,
//! a hand presses the leader down with 8 N until the follower, which meets a table, presses back as hard; then the
//! hand lets go.

mod krc;

use outrigger_core::engine::krc::KrcOptions;
use std::cell::Cell;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use outrigger::host;
use outrigger::host::{Clock, OnSignal, Signals};
use outrigger_core::command::Samples;
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{Control, JointImpedance, KrcConfig, ToolImpedance};
use outrigger_core::law::{Law, Start};
use outrigger_core::mode::Mode;
use outrigger_core::recorder::Checkpoint;
use outrigger_core::robot::Reason;
use outrigger_sim::kinematics::Vec3;
use outrigger_sim::krc::{ArmOptions, Options, model};
use outrigger_sim::surface::Surface;
use outrigger_wire::robot::{JointPositions, JointVelocities, State, Wrench};
use outrigger_wire::time::{Duration, Instant};

use self::krc::{Arm, Trouble};

/// The speed of a joint of the leader per angle by which a hand holds the joint away from its target \[1/s\].
const YIELDING: f32 = 5.0;
/// The largest speed of the leader's joints \[rad/s\].
const YIELDING_LIMIT: f32 = 0.4;
/// The angle between a joint of the leader and its target up to which no hand counts as holding the joint \[rad\].
const DEAD_BAND: f32 = 5e-4;
/// The speed of a joint of the follower per angle by which it lags behind the leader's motion \[1/s\].
const COPYING: f32 = 8.0;
/// The age up to which the leader's newest motion is copied. If it is older, the follower's control law ends
/// commanding.
const OLDEST: Duration = Duration::from_millis(200);
/// The largest force along each axis that is passed on to the hand at the leader \[N\].
const SHOWN: f32 = 20.0;
/// The force of the simulated hand on the leader's flange, along the base's axes \[N\].
const HAND: Vec3 = [0.0, 0.0, -8.0];
/// The height of the follower above its table in the simulation \[m\].
const ABOVE: f64 = 0.02;

/// Couples two arms.
#[derive(Parser)]
struct Args {
    /// The local address and port to which the leader's KRC sends its measurements. Without it, both arms are
    /// simulated.
    #[arg(long, requires = "follower")]
    leader: Option<SocketAddr>,
    /// The address and port to which the follower's KRC sends its measurements.
    #[arg(long, requires = "leader")]
    follower: Option<SocketAddr>,
}

/// The leader's control law: its target moves to where a hand holds the arm.
struct Yield {
    begin: Rc<Cell<bool>>,
}

impl Checkpoint for Yield {}

impl Law<7> for Yield {
    fn step(&mut self, state: &State<7>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<7>, Reason> {
        if !self.begin.get() {
            return Ok(JointVelocities::ZERO);
        }
        let apart = state.positions.zip_with(state.target_positions.as_array(), |q, target| q - target);
        Ok(JointVelocities(apart.0.map(|apart| {
            let held = apart - apart.clamp(-DEAD_BAND, DEAD_BAND);
            (YIELDING * held).clamp(-YIELDING_LIMIT, YIELDING_LIMIT)
        })))
    }
}

/// The follower's control law: it moves as far from its start as the leader did.
#[derive(Default)]
struct Copying {
    from: JointPositions<7>,
    /// The leader's joint positions relative to its start, and its joint velocities; `None` until they are known.
    leader: Option<(JointPositions<7>, JointVelocities<7>)>,
    age: Duration,
}

impl Copying {
    fn see(&mut self, moved: JointPositions<7>, speed: JointVelocities<7>) {
        self.leader = Some((moved, speed));
        self.age = Duration::ZERO;
    }
}

impl Checkpoint for Copying {}

impl Law<7> for Copying {
    fn arm(&mut self, start: &Start<'_, 7>) -> Result<(), Reason> {
        *self = Self { from: start.state.target_positions, ..Self::default() };
        Ok(())
    }

    fn step(&mut self, state: &State<7>, _: &Samples<'_>, dt: Duration) -> Result<JointVelocities<7>, Reason> {
        let Some((moved, speed)) = &self.leader else { return Ok(JointVelocities::ZERO) };
        self.age = self.age + dt;
        if self.age > OLDEST {
            return Err(Reason::SourceStale);
        }
        // Measured from its target, not from its position, because an object that it presses against holds it back.
        let wanted = self.from.zip_with(moved.as_array(), |from, by| from + by);
        let apart = wanted.zip_with(state.target_positions.as_array(), |wanted, target| wanted - target);
        Ok(speed.zip_with(apart.as_array(), |speed, apart| speed + COPYING * apart))
    }
}

fn main() -> ExitCode {
    match host::block_on(run(&Args::parse())).map_err(Trouble::from).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("coupled_arms: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Returns options with a table below the follower.
fn table() -> Options {
    let options = Options::default();
    let [x, y, z] = model::flange(&options.start).position;
    let contact = Surface { point: [x, y, z - ABOVE], normal: [0.0, 0.0, 1.0], stiffness: 5_000.0, damping: 100.0 };
    Options { arm: ArmOptions { contact: Some(contact), ..options.arm }, ..options }
}

/// Returns the follower's force without its torque, limited to [`SHOWN`] along each axis, as the hand at the leader is
/// to feel it.
fn shown(force: Wrench) -> Wrench {
    Wrench { force: force.force.map(|part| part.clamp(-SHOWN, SHOWN)), torque: [0.0; 3] }
}

/// The course of the simulation, with the forces observed so far.
#[derive(Default)]
struct Story {
    pressed: Option<f32>,
    let_go: Option<f32>,
}

impl Story {
    /// Advances the simulation by moving the simulated hand; `since` is the time since both arms began to be commanded.
    /// Returns `true` when the simulation is over.
    fn go_on(&mut self, leader: &Arm<Yield>, force: f32, since: Duration) -> bool {
        let seconds = since.as_secs_f32();
        leader.push(if (0.5..6.0).contains(&seconds) { HAND } else { [0.0; 3] });
        if seconds < 6.0 {
            self.pressed = Some(force);
        } else {
            self.let_go = Some(force);
        }
        seconds > 9.0
    }

    fn verdict(&self) -> Result<(), Trouble> {
        let (Some(pressed), Some(let_go)) = (self.pressed, self.let_go) else { return Err("it ended early".into()) };
        println!("pressed with 8 N, the follower met {pressed:.1} N; let go, {let_go:.1} N");
        let good = (6.0..10.0).contains(&pressed) && let_go.abs() < 1.5;
        if good { Ok(()) } else { Err("the hand did not feel what the follower met".into()) }
    }
}

async fn run(args: &Args) -> Result<(), Trouble> {
    let clock = Clock::start();
    let begin = Rc::new(Cell::new(false));
    let soft = ToolImpedance::default();
    let leads = KrcConfig {
        peer: KrcOptions { control: Control::ToolImpedance(soft), ..KrcOptions::default() },
        ..KrcConfig::default()
    };
    let follows = JointImpedance { stiffness: [500.0; 7], ..JointImpedance::default() };
    let follows = KrcConfig {
        peer: KrcOptions { control: Control::JointImpedance(follows), ..KrcOptions::default() },
        ..KrcConfig::default()
    };
    let law = Yield { begin: Rc::clone(&begin) };
    let mut leader = Arm::open("leader", args.leader, Options::default(), leads, law, clock).await?;
    let mut follower = Arm::open("follower", args.follower, table(), follows, Copying::default(), clock).await?;

    let mut began: Option<(Instant, JointPositions<7>)> = None;
    let (mut story, mut ending) = (Story::default(), false);
    let mut next_line = clock.now();
    let mut signals = Signals::listen(OnSignal::AnArm)?;
    loop {
        let mut over = false;
        tokio::select! {
            () = leader.turn() => {}
            () = follower.turn() => {}
            () = host::sleep_until(clock, next_line) => {
                next_line = next_line + Duration::from_millis(500);
                if began.is_some() {
                    let force = follower.seen().state.and_then(|state| state.tcp_force).unwrap_or_default();
                    println!("the follower meets {:6.1?} N", force.force);
                }
            }
            _ = signals.next() => over = true,
        }
        leader.tell();
        follower.tell();
        let modes = [leader.mode(), follower.mode()];
        let now = clock.now();
        if let (Some(first), Some(second)) = (leader.seen().state, follower.seen().state) {
            let force = second.tcp_force.unwrap_or_default();
            match began {
                None if modes == [Mode::Command; 2] => {
                    began = Some((now, first.positions));
                    begin.set(true);
                }
                Some((at, from)) if !ending => {
                    let moved = first.positions.zip_with(from.as_array(), |q, from| q - from);
                    follower.change(move |engine| engine.law_mut().see(moved, first.velocities));
                    let shows = ToolImpedance { wrench: shown(force), ..soft };
                    // A force that is not finite is not shown.
                    leader.change(move |engine| {
                        let _ = engine.set_tool_impedance(shows);
                    });
                    over |= args.leader.is_none() && story.go_on(&leader, force.force[2], now.since(at));
                }
                Some(_) | None => {}
            }
        }
        let fell_back = leader.fell_back.is_some() || follower.fell_back.is_some();
        // If one arm stops, the other does not continue alone.
        if !ending && (over || fell_back) {
            ending = true;
            leader.give(Input::Release);
            follower.give(Input::Release);
        }
        if ending && modes.iter().all(|mode| matches!(mode, Mode::Monitor | Mode::Offline)) {
            break;
        }
        if !ending && began.is_none() {
            leader.request_when_ready();
            follower.request_when_ready();
        }
    }
    if let Some(reason) = leader.fell_back.or(follower.fell_back) {
        return Err(format!("{}; {}", reason.text(), reason.advice()).into());
    }
    if args.leader.is_none() { story.verdict() } else { Ok(()) }
}
