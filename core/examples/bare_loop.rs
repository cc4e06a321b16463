//! An engine without an async runtime, driven as by a task of a real-time operating system.
//!
//! `cargo run -p outrigger-core --example bare_loop` connects to a scripted controller in memory, turns the base joint
//! by 90° in 2 s, stops, and prints the transitions. It uses no socket and no thread, and the only clock is a counter.

mod peer;

use outrigger_core::engine::ur::{LINKS, Memory, UrConfig, UrEngine};
use outrigger_core::engine::{Event, Input, Output};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

use peer::Peer;

/// Passes one input to the engine, then carries out the outputs that it caused: the whole work of a task that runs an
/// engine without an async runtime.
fn input(engine: &mut UrEngine<'_, JointServo<6>>, peer: &mut Peer, now: Instant, input: Input) {
    engine.handle(now, input);
    drain(engine, peer, now);
}

/// Carries out the outputs of the engine on the simulated controller, and prints its transitions. On a board this
/// function calls the network stack.
fn drain(engine: &mut UrEngine<'_, JointServo<6>>, peer: &mut Peer, now: Instant) {
    let mut opened = Vec::new();
    while let Some(output) = engine.poll_output() {
        match output {
            Output::Open { link, .. } => {
                peer.open(link);
                opened.push(link);
            }
            Output::Abort(link) => peer.close(link),
            Output::Listen { .. } => unreachable!("beside such a controller nobody listens"),
            Output::Transmit { link, bytes, .. } => peer.write(link, bytes),
        }
    }
    while let Some(event) = engine.poll_event() {
        if let Event::Transition(t) = event {
            let reason = t.reason.map_or("", |reason| reason.text());
            println!("{:>6} ms  {} -> {}  {reason}", t.at.as_micros() / 1_000, t.from.name(), t.to.name());
        }
    }
    // A network stack reports an opened connection as a new input, once the previous one is drained.
    for link in opened {
        input(engine, peer, now, Input::Opened(link));
    }
}

fn main() {
    let mut peer = Peer::new(SoftwareVersion::new(3, 15));
    let start = JointPositions::from_wire(peer.q);
    let mut end = start;
    end.0[0] += core::f32::consts::FRAC_PI_2;
    let at_rest = |positions, at| Waypoint {
        setpoint: Setpoint { positions, velocities: JointVelocities::ZERO },
        accelerations: None,
        at,
    };
    let waypoints = [at_rest(start, Duration::ZERO), at_rest(end, Duration::from_secs(2))];
    let motion = Trajectory::through(&waypoints).expect("two waypoints in order");
    let law = JointServo::new(Reference::Absolute(motion), JointServoConfig::default());

    // In firmware these are statics.
    let (mut primary, mut realtime) = ([0; 4096], [0; 8192]);
    let memory = Memory { primary: &mut primary, realtime: &mut realtime, rtde: None };
    let mut config = UrConfig::default();
    config.limits.velocity.0 = [1.5; 6];
    // With states from 30003 alone a stop at the pendant cannot be detected: this example commands the arm
    // nevertheless.
    config.mode.pendant.stop = PendantStop::Overridden;
    let mut engine = UrEngine::new(config, law, memory).expect("a valid configuration");

    let mut now = Instant::ZERO;
    input(&mut engine, &mut peer, now, Input::Start);
    let (mut requested, mut shutting_down) = (false, false);
    while !engine.is_finished() {
        // Sleep until the next event: here always the next control cycle, or the engine's own deadline.
        let cycle = now + Duration::from_micros(peer.period());
        let deadline = engine.poll_timeout().filter(|at| *at < cycle);
        now = deadline.unwrap_or(cycle).max(now);
        if deadline.is_none() {
            peer.cycle();
        }
        for link in LINKS {
            loop {
                let window = engine.receive_window(link);
                let bytes = peer.read(link, window.len());
                if bytes.is_empty() {
                    break;
                }
                window[..bytes.len()].copy_from_slice(&bytes);
                engine.commit(link, bytes.len(), now, now);
                drain(&mut engine, &mut peer, now);
            }
        }
        input(&mut engine, &mut peer, now, Input::Tick);

        if !requested && engine.mode() == Mode::Monitor && engine.unmet(now).is_empty() {
            requested = true;
            let epoch = engine.mode_machine().epoch();
            input(&mut engine, &mut peer, now, Input::Request(epoch));
        }
        let arrived = (peer.q[0] - f64::from(end.0[0])).abs() < 1e-4;
        if !shutting_down && arrived && engine.mode() == Mode::Command {
            shutting_down = true;
            input(&mut engine, &mut peer, now, Input::Shutdown);
        }
        assert!(now < Instant::ZERO + Duration::from_secs(30), "the motion should have ended by now");
    }
    let turned = (peer.q[0] - f64::from(start.0[0])).to_degrees();
    println!("{} programs sent, base joint turned by {turned:.2}°, engine finished", peer.programs.len());
}
