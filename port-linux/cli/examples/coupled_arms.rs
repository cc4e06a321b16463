//! Two KUKA arms coupled: the second copies the motion of the first, and the first shows to the hand that leads it the
//! force that the second meets.
//!
//! ```text
//! cargo run --release -p outrigger --example coupled_arms                                simulated arms
//! cargo run --release -p outrigger --example coupled_arms -- --leader 0.0.0.0:49938 --follower 0.0.0.0:49939
//! ```
//!
//! The leader is in Cartesian impedance: its target gives way to the hand, and the follower's force is added to its
//! own. The follower is in joint impedance: what it touches is pressed, not pushed through. Simulated, a hand presses
//! the leader down with 8 N until the follower, which meets a table, presses back as hard; then it lets go.

mod krc;

use outrigger_core::engine::krc::KrcOptions;
use std::cell::Cell;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use outrigger::host;
use outrigger::host::{Clock, Leaves, Signals};
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

/// Speed of the leader's joints per distance between hand and target \[1/s\], and most of it \[rad/s\].
const YIELDING: f32 = 5.0;
const YIELDING_LIMIT: f32 = 0.4;
/// Distances below this are no hand \[rad\].
const DEAD_BAND: f32 = 5e-4;
/// Speed of the follower's joints per distance from the leader's \[1/s\].
const COPYING: f32 = 8.0;
/// The leader's newest motion is copied for so long.
const OLDEST: Duration = Duration::from_millis(200);
/// Most force that the hand is shown \[N\].
const SHOWN: f32 = 20.0;
/// The simulated hand: its force \[N\], and the height of the follower above its table \[m\].
const HAND: Vec3 = [0.0, 0.0, -8.0];
const ABOVE: f64 = 0.02;

/// Couples two arms.
#[derive(Parser)]
struct Args {
    /// Where the leader's KRC sends its measurements; simulated without it.
    #[arg(long, requires = "follower")]
    leader: Option<SocketAddr>,
    /// Where the follower's KRC sends its own.
    #[arg(long, requires = "leader")]
    follower: Option<SocketAddr>,
}

/// The leader: the target goes where a hand holds the arm.
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

/// The follower: as far from where it began as the leader is.
#[derive(Default)]
struct Copying {
    from: JointPositions<7>,
    /// How far the leader is from where it began, and how fast it moves.
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
        // From its target, not from where it is: what it presses holds it back.
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

/// A table below the follower.
fn table() -> Options {
    let options = Options::default();
    let [x, y, z] = model::flange(&options.start).position;
    let contact = Surface { point: [x, y, z - ABOVE], normal: [0.0, 0.0, 1.0], stiffness: 5_000.0, damping: 100.0 };
    Options { arm: ArmOptions { contact: Some(contact), ..options.arm }, ..options }
}

/// The same force, no more than a hand is to be shown.
fn shown(force: Wrench) -> Wrench {
    Wrench { force: force.force.map(|part| part.clamp(-SHOWN, SHOWN)), torque: [0.0; 3] }
}

/// What is done to simulated arms, and what came of it.
#[derive(Default)]
struct Story {
    pressed: Option<f32>,
    let_go: Option<f32>,
}

impl Story {
    /// The hand, so long after both began; whether the story is over.
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
    let mut signals = Signals::listen(Leaves::AnArm)?;
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
                    // A force that is no number is not shown.
                    leader.change(move |engine| {
                        let _ = engine.set_tool_impedance(shows);
                    });
                    over |= args.leader.is_none() && story.go_on(&leader, force.force[2], now.since(at));
                }
                Some(_) | None => {}
            }
        }
        let fell_back = leader.fell_back.is_some() || follower.fell_back.is_some();
        // One alone does not go on.
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
