//! Replays recordings from every call of the engine: a checkpoint taken there holds all state that decides the rest.
//!
//! A session is recorded with a checkpoint before every second call. A new engine is loaded with each checkpoint and
//! replays the two calls after it. A field that is neither saved nor derived has its initial value in that engine.
//! The first call must give exactly the results that it gave in the session, so each session is recorded twice, with
//! checkpoints before the odd calls and before the even ones. Bytes, transitions and events are compared.

use outrigger_core::client::rtde::Claim;
use outrigger_core::command::{Guidance, JointMove};
use outrigger_core::engine::ur::rtde::RtdeMemory;
use outrigger_core::engine::ur::{CommandPath, Memory, Ur, UrEvent};
use outrigger_core::engine::{Event, Input, dump_end, replay_watched};
use outrigger_core::law::{AnyLaw, Forward, Forwarded, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::{ClientNumber, GuideLimits, Mode};
use outrigger_core::recorder::{Kind, entries};
use outrigger_sim::controller::Action;
use outrigger_sim::simulated_workpiece::Surface;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};

use super::player_legs::{Swing, play};
use super::{axes, ms, secs};

/// The length of the header before the payload of an entry \[B\].
const HEADER_LEN: usize = 13;

/// Records a session twice, each time with checkpoints before every other call of the engine. Checks that a replay from
/// each checkpoint to the next reports the same events.
fn recorded(what: &str, setup: impl Fn() -> Setup, by_rtde: bool, session: impl Fn(&mut Rig<'_>)) {
    for first in [0, 1] {
        let buffers = if by_rtde { Buffers::with_rtde() } else { Buffers::default() };
        let mut buffers = buffers.with_checkpoints(first);
        let mut rig = Rig::new(setup(), &mut buffers);
        session(&mut rig);
        replayed(&format!("{what}, by RTDE {by_rtde}, from call {first}"), &rig);
    }
}

fn replayed(what: &str, rig: &Rig<'_>) {
    let (header, recorded) = rig.recorded();
    let mut events = vec![];
    for piece in pieces(recorded) {
        let whole = [&header, piece].concat();
        let dump = [&whole[..], &dump_end(whole.len())].concat();
        let mut rtde: RtdeMemory<'_, 1024, { Claim::ALL.len() }> = RtdeMemory::new();
        let (primary, realtime) = (&mut [0; 4096], &mut [0; 8192]);
        let memory = Memory { primary, realtime, rtde: Some(&mut rtde) };
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let replayed = replay_watched::<6, Ur<'_>, _>(&dump, law, memory, |_, at, event| {
            events.extend(event.map(|event| (at, event)));
        });
        if let Err(error) = replayed {
            panic!("{what}: {error}\n{}", rig.record().story());
        }
    }
    // A replay opens no connections for the engine, and the requests for them were reported before.
    let opens = |event: &Event<UrEvent>| matches!(event, Event::Peer(UrEvent::Opening { .. }));
    let before: Vec<_> = rig.record().events.iter().map(|(_, event)| *event).filter(|event| !opens(event)).collect();
    let (times, after): (Vec<_>, Vec<_>) = events.into_iter().filter(|(_, event)| !opens(event)).unzip();
    let off = before.iter().zip(&after).position(|(before, after)| before != after);
    let off = off.or((before.len() != after.len()).then(|| before.len().min(after.len())));
    if let Some(off) = off {
        let (before, after, at) = (before.get(off), after.get(off), times.get(off));
        panic!("{what}: event {off} of the recording is {before:?}, of the replay {after:?} at {at:?}");
    }
}

/// Returns the parts of a recording from each checkpoint to the next.
fn pieces(recorded: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut ends = vec![];
    let mut at = 0;
    for entry in entries(recorded) {
        if entry.kind == Kind::Checkpoint {
            ends.push(at);
        }
        at += HEADER_LEN + entry.payload.len();
    }
    ends.push(at);
    (1..ends.len()).map(move |piece| &recorded[ends[piece - 1]..ends[piece]])
}

/// Runs a session from the request to command the arm on, and disturbs it.
fn eventful(rig: &mut Rig<'_>) {
    rig.command();
    disturbed(rig);
}

/// Disturbs a session in which the arm is commanded: a speed slider at 0, a late cycle, a cut cable, then an
/// acknowledgement, resuming and a release.
fn disturbed(rig: &mut Rig<'_>) {
    rig.run_for(ms(300));
    rig.controller.act(Action::Slider(0.0));
    rig.run_for(ms(250));
    rig.controller.act(Action::Slider(0.6));
    rig.run_for(ms(250));
    rig.pause_host(ms(9));
    rig.run_for(ms(100));
    rig.cut_cable(Some(ms(300)));
    rig.run_for(secs(2));
    rig.input(Input::Acknowledge);
    rig.run_for(secs(1));
    rig.resume();
    rig.run_for(ms(900));
    if rig.engine().mode() == Mode::Command {
        rig.input(Input::Release);
    }
    rig.run_for(ms(500));
}

/// Returns the channels by which this software can be commanded, with states over either interface.
fn ways(software: SoftwareVersion) -> impl Iterator<Item = (Way, bool)> {
    let all = Way::ALL.into_iter().chain([Way::PLAYER]).filter(move |way| way.fits(software));
    all.flat_map(|way| [(way, false), (way, true)]).filter(|(way, by_rtde)| *by_rtde || !way.is_in_registers())
}

#[test]
fn a_sensor_that_leads_is_the_same_from_every_call_on_on_every_path() {
    for software in [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)] {
        for (way, by_rtde) in ways(software) {
            let setup = || {
                let tool = Rig::new(Setup::new(software), &mut Buffers::default()).controller.truth().tool().position;
                let below = [tool[0], tool[1], tool[2] - 0.1];
                let surface = Surface { heave: Some((0.01, 1.0)), ..Surface::plane(below, [0.0, 0.0, 1.0]) };
                let mut setup = Setup::standoff(software, 0.08, surface);
                way.choose(&mut setup.config);
                setup.config.mode.take_over = way.path == CommandPath::ExternalControl;
                setup
            };
            recorded(&format!("{software} {}", way.name()), setup, by_rtde, eventful);
        }
    }
}

#[test]
fn moves_of_the_controller_are_the_same_from_every_call_on() {
    for software in [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)] {
        for by_rtde in [false, true] {
            let setup = || {
                let mut setup = Setup::new(software);
                Way::PLAYER.choose(&mut setup.config);
                setup
            };
            recorded(&format!("{software} player"), setup, by_rtde, |rig| {
                rig.command();
                rig.run_for(ms(300));
                let mut to = rig.controller.truth().q.map(|q| q as f32);
                to[0] += 0.3;
                rig.delegate(JointMove::new(JointPositions(to), 0.6, 1.0).unwrap()).unwrap();
                rig.run_for(ms(400));
                rig.controller.act(Action::PauseProgram);
                rig.run_for(ms(300));
                rig.controller.act(Action::ResumeProgram);
                rig.run_for(secs(1));
                let limits = GuideLimits::default();
                let _ = rig.ask(|engine, now| engine.guide(Guidance::Freedrive, ClientNumber(1), limits, now));
                rig.run_for(ms(400));
                let _ = rig.ask(|engine, _| engine.end_guide());
                rig.run_for(ms(500));
                rig.stream().unwrap();
                disturbed(rig);
            });
        }
    }
}

#[test]
fn legs_are_the_same_from_every_call_on_with_either_program() {
    for path in [CommandPath::Player, CommandPath::ExternalControl] {
        for by_rtde in [false, true] {
            let setup = || {
                let mut setup = Setup::new(SoftwareVersion::new(5, 15));
                setup.config.peer.path = path;
                setup.config.mode.take_over = path == CommandPath::ExternalControl;
                setup
            };
            recorded(&format!("legs, {}", path.name()), setup, by_rtde, |rig| {
                rig.command();
                rig.run_for(ms(300));
                let mut swing = Swing::from(rig, 0.1, true);
                (swing.seconds, swing.legs) = (1.5, 30);
                play(rig, &swing, |_, _| ());
                rig.run_for(ms(300));
                let begun = swing.begin(rig);
                let next = swing.feed(rig, 1, 12);
                rig.run_for(ms(200));
                // The end of the motion is missing, or the operator releases.
                assert!(next > 1 && rig.engine().mode() == Mode::Command, "{begun:?}");
                rig.input(Input::Release);
                rig.run_for(secs(1));
            });
        }
    }
}

#[test]
fn streams_and_axes_of_the_tool_are_the_same_from_every_call_on() {
    let software = SoftwareVersion::new(5, 15);
    for way in [Way::ALL[0], Way::ALL[2], Way::ALL[3]] {
        let axes = || {
            let (mut setup, _) = axes::setup(software);
            way.choose(&mut setup.config);
            setup
        };
        recorded(&format!("axes, {}", way.name()), axes, true, eventful);
        let streamed = || {
            let mut setup = Setup::new(software);
            way.choose(&mut setup.config);
            setup
        };
        recorded(&format!("streamed, {}", way.name()), streamed, true, |rig| {
            rig.command();
            let what = Forwarded::Speeds(JointVelocities([0.2, 0.0, 0.0, 0.0, 0.0, -0.1]));
            for _ in 0..30 {
                let taken = rig.with_engine(|engine, now| {
                    engine.forward(&Forward { what, holds: Forward::<6>::DRIVER_HOLDS }, now)
                });
                assert_eq!(taken, Ok(()));
                rig.run_for(ms(20));
            }
            disturbed(rig);
        });
    }
}
