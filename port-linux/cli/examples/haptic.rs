//! Leads a KUKA arm in Cartesian impedance by a haptic device over UDP: while its pedal is down its motion is copied
//! at half its size, the force at the tool is sent back, and its trigger closes a gripper through a KRL variable.
//!
//! ```text
//! cargo run --release -p outrigger --example haptic                                      simulated arm and device
//! cargo run --release -p outrigger --example haptic -- --krc 0.0.0.0:49938 --device 0.0.0.0:47100
//! ```
//!
//! The device sends lines `MICROS X Y Z PEDAL TRIGGER`, a datagram each, 20 to 1000 a second: its own clock, metres
//! along the arm's base axes, and 0 or 1. It receives `FX FY FZ OPENING` in N and m. Silence of 100 ms ends
//! commanding. The KRL program controls the gripper by `$FRI_FRM_BOOL[16]` and reports it in `$FRI_TO_REA[16]`.

mod krc;

use outrigger_core::engine::krc::KrcOptions;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use outrigger::host::{self, Clock, Datagrams, OnSignal, Signals};
use outrigger_core::command::SourceConfig;
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{Control, KrcConfig, ToolImpedance};
use outrigger_core::law::{CartesianTwist, CartesianTwistConfig, TwistFrame, TwistInput};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::krc::{ArmOptions, Options, model};
use outrigger_sim::surface::Surface;
use outrigger_wire::fri::KrlIndex;
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use self::krc::{Arm, Trouble};

/// The ratio of the arm's motion to that of the device.
const SCALE: f32 = 0.5;
/// The number by which the engine knows the haptic device, whose readings it receives as those of a sensor.
const DEVICE: SourceId = SourceId(0);
/// The interval between two readings of the haptic device from which on they give no speed, because there was a pause
/// \[µs\].
const PAUSE: u64 = 100_000;

/// Leads an arm by a haptic device.
#[derive(Parser)]
struct Args {
    /// The address and port to which the KRC sends its measurements; arm and device are simulated without it.
    #[arg(long)]
    krc: Option<SocketAddr>,
    /// The address and port to which the device sends its datagrams.
    #[arg(long, default_value = "0.0.0.0:47100")]
    device: SocketAddr,
}

/// One datagram of the haptic device: its time, its position, and the state of pedal and trigger.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    micros: u64,
    position: [f32; 3],
    pedal: bool,
    trigger: bool,
}

impl Reading {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(bytes).ok()?.split_ascii_whitespace();
        let micros = words.next()?.parse().ok()?;
        let mut position = [0.0; 3];
        for axis in &mut position {
            *axis = words.next()?.parse().ok().filter(|value: &f32| value.is_finite())?;
        }
        let mut pressed = || match words.next()? {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        let (pedal, trigger) = (pressed()?, pressed()?);
        words.next().is_none().then_some(Self { micros, position, pedal, trigger })
    }

    /// Returns the speed of the tool that copies the haptic device's motion since the reading `before` \[m/s\]; zero
    /// while the pedal is up, without a previous reading, and after a pause.
    fn speed(&self, before: Option<&Self>) -> [f32; 3] {
        let Some(before) = before.filter(|before| self.pedal && before.pedal) else { return [0.0; 3] };
        let span = self.micros.wrapping_sub(before.micros);
        if !(1..PAUSE).contains(&span) {
            return [0.0; 3];
        }
        std::array::from_fn(|axis| SCALE * (self.position[axis] - before.position[axis]) / (span as f32 * 1e-6))
    }
}

fn main() -> ExitCode {
    match host::block_on(run(&Args::parse())).map_err(Trouble::from).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("haptic: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the options of a simulated arm with a hard obstacle 30 mm below the tool.
fn obstacle() -> Options {
    let options = Options::default();
    let [x, y, z] = model::flange(&options.start).position;
    let contact = Surface { point: [x, y, z - 0.03], normal: [0.0, 0.0, 1.0], stiffness: 20_000.0, damping: 100.0 };
    Options { arm: ArmOptions { contact: Some(contact), ..options.arm }, ..options }
}

type Tool = Arm<CartesianTwist<7>>;

/// The course of the simulation: the simulated device, and the values observed so far.
///
/// | from \[s\] | the simulated device |
/// |---|---|
/// | 0 | moves with its pedal up: the arm does not follow |
/// | 1 | goes down by 100 mm with its pedal down: the tool by 50 mm, of which the obstacle takes 20 |
/// | 4 | pulls its trigger |
/// | 6 | is silent: commanding ends, because the readings are too old |
/// | 7 | is back; an operator acknowledges and requests commanding |
struct Story {
    socket: Datagrams,
    began: Option<Instant>,
    height: Option<f32>,
    clutched: f32,
    force: f32,
    closed: bool,
    fell_back: bool,
    again: bool,
}

impl Story {
    fn new(device: SocketAddr) -> Result<Self, Trouble> {
        let socket = Datagrams::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        socket.connect(device)?;
        let (began, height, clutched, force) = (None, None, 0.0, 0.0);
        Ok(Self { socket, began, height, clutched, force, closed: false, fell_back: false, again: false })
    }

    /// Advances the simulation by moving the simulated device; called a hundred times a second. Returns `true` when
    /// the simulation is over.
    fn go_on(&mut self, arm: &mut Tool, now: Instant) -> bool {
        let began = match self.began {
            Some(began) => began,
            None if arm.mode() == Mode::Command => *self.began.insert(now),
            None => now,
        };
        let since = now.since(began);
        let seconds = since.as_secs_f32();
        let silent = (6.0..7.0).contains(&seconds);
        let down = 0.1 * ((seconds - 1.0) / 2.0).clamp(0.0, 1.0);
        let aside = if seconds < 1.0 { 0.2 * seconds } else { 0.2 };
        let (pedal, trigger) = (u8::from(seconds > 1.0), u8::from((4.0..6.0).contains(&seconds)));
        let line = format!("{} {aside} 0.0 {} {pedal} {trigger}", now.as_micros(), -down);
        if !silent {
            // A datagram that cannot be sent is lost; the arm then falls back and reports the reason.
            let _ = self.socket.send(line.as_bytes());
        }
        let mut reply = [0; 64];
        while let Ok(size) = self.socket.recv(&mut reply) {
            let told: Vec<f32> = String::from_utf8_lossy(&reply[..size])
                .split_ascii_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect();
            if let [_, _, up, opening] = told[..] {
                self.force = self.force.max(up);
                self.closed |= opening <= 0.0;
            }
        }
        if let Some(height) = arm.truth().map(|truth| model::flange(&truth.q).position[2] as f32) {
            let start = *self.height.get_or_insert(height);
            if seconds < 1.0 {
                self.clutched = self.clutched.max((height - start).abs());
            }
        }
        if silent && arm.fell_back == Some(Reason::SourceStale) {
            self.fell_back = true;
        }
        if self.fell_back && !silent && arm.fell_back.is_some() && arm.mode() == Mode::Monitor {
            arm.fell_back = None;
            arm.give(Input::Acknowledge);
        }
        self.again |= self.fell_back && seconds > 7.0 && arm.mode() == Mode::Command;
        seconds > 11.0 || (self.again && seconds > 8.0)
    }

    fn verdict(&self) -> Result<(), Trouble> {
        println!(
            "pedal up: {:.1} mm; force sent back: {:.1} N; gripper closed: {}; silence: {}; again: {}",
            self.clutched * 1e3,
            self.force,
            self.closed,
            if self.fell_back { "fallback" } else { "nothing" },
            self.again
        );
        // Pressing 20 mm with a spring of 2000 N/m against one of 20 000 gives 36 N.
        let good = self.clutched < 1e-3 && (25.0..45.0).contains(&self.force);
        if good && self.closed && self.fell_back && self.again {
            Ok(())
        } else {
            Err("the story went otherwise".into())
        }
    }
}

async fn run(args: &Args) -> Result<(), Trouble> {
    let clock = Clock::start();
    let law = CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Source(DEVICE));
    law.check()?;
    let mut source = SourceConfig::new(DEVICE, 6, -1.0, 1.0);
    // A device at rest repeats the same reading.
    source.stuck_after = None;
    let mut config = KrcConfig {
        peer: KrcOptions { control: Control::ToolImpedance(ToolImpedance::default()), ..KrcOptions::default() },
        ..KrcConfig::default()
    };
    config.sources[0] = Some(source);
    let at = if args.krc.is_some() { args.device } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) };
    let device = Datagrams::bind(at)?;
    let mut story = match args.krc {
        Some(_) => None,
        None => Some(Story::new(device.local_addr()?)?),
    };
    let mut arm = Arm::open("arm", args.krc, obstacle(), config, CartesianTwist::new(law), clock).await?;
    let gripper = KrlIndex::from_krl(16).ok_or("there are 16 variables")?;

    let mut before: Option<Reading> = None;
    let (mut seq, mut ending) = (0_u32, false);
    let mut next_tick = clock.now();
    let mut signals = Signals::listen(OnSignal::AnArm)?;
    let mut bytes = [0; 256];
    loop {
        let mut over = false;
        tokio::select! {
            () = arm.turn() => {}
            received = device.next(&mut bytes) => {
                let (size, from) = received?;
                if let Some(reading) = Reading::parse(&bytes[..size]) {
                    let [x, y, z] = reading.speed(before.as_ref());
                    seq = seq.wrapping_add(1);
                    if let Some(value) = SampleValue::new(&[x, y, z, 0.0, 0.0, 0.0]) {
                        arm.give(Input::Sample(Sample { source: DEVICE, value, seq, taken_at: clock.now() }));
                    }
                    arm.change(move |engine| engine.krl_mut().set_bool(gripper, reading.trigger));
                    before = Some(reading);
                    let seen = arm.seen();
                    let force = seen.state.and_then(|state| state.tcp_force).unwrap_or_default();
                    let opening = seen.krl.map_or(0.0, |krl| krl.real(gripper));
                    let [x, y, z] = force.force;
                    // A datagram to a device that is gone is lost.
                    let _ = device.send_to(format!("{x:.3} {y:.3} {z:.3} {opening:.4}").as_bytes(), from);
                } else {
                    println!("{from} sent no reading: MICROS X Y Z PEDAL TRIGGER is one");
                }
            }
            () = host::sleep_until(clock, next_tick) => {
                next_tick = next_tick + Duration::from_millis(10);
                if let Some(story) = &mut story {
                    over = story.go_on(&mut arm, clock.now());
                }
            }
            _ = signals.next() => over = true,
        }
        arm.tell();
        if over && !ending {
            ending = true;
            arm.give(Input::Release);
        }
        if ending && matches!(arm.mode(), Mode::Monitor | Mode::Offline) {
            break;
        }
        // A fallback must be acknowledged by a person; here that is whoever starts this program again.
        if !ending && arm.fell_back.is_none() {
            arm.request_when_ready();
        } else if story.is_none() && arm.fell_back.is_some() && arm.mode() == Mode::Monitor {
            let reason = arm.fell_back.unwrap_or(Reason::Internal);
            return Err(format!("{}; {}", reason.text(), reason.advice()).into());
        }
    }
    story.map_or(Ok(()), |story| story.verdict())
}
