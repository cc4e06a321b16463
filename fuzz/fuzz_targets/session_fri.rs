//! Runs the FRI engine with a simulated KRC under any sequence of events, and checks its safety properties.
//!
//! Two bytes are one event: its kind and its amount. Between events the KRC, the clock and the network behave normally.
//! A case begins in a state in which a request would be granted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_core::command::outputs::{VariableValue, Write};
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{Control, JointImpedance, KrcConfig, KrlConvention, ToolImpedance};
use outrigger_core::mode::Mode;
use outrigger_sim::krc::{Fault, FaultKind, Options, Reason};
use outrigger_tests::fri::{Rig, Swing, receive};
use outrigger_tests::noise::Noise;
use outrigger_wire::fri::KrlIndex;
use outrigger_wire::time::Instant;

/// The faults of the simulated KRC and its network that events select. Each fault lasts as many milliseconds as the
/// event's second byte states.
const FAULTS: [FaultKind; 14] = [
    FaultKind::Drop(0.2),
    FaultKind::Burst(0.2),
    FaultKind::Duplicate(0.5),
    FaultKind::Jitter(std::time::Duration::from_micros(2_500)),
    FaultKind::Delay(std::time::Duration::from_micros(1_500)),
    FaultKind::Reorder(0.3),
    FaultKind::Silence,
    FaultKind::Garbage(0.5),
    FaultKind::Stale,
    FaultKind::Restart,
    FaultKind::SecondSender,
    FaultKind::PowerOff,
    FaultKind::Close,
    FaultKind::NotANumber,
];

/// The longest simulated duration of one fuzz case; later events are skipped.
const LIFE: std::time::Duration = std::time::Duration::from_millis(2_500);

fn event(rig: &mut Rig<Swing>, what: u8, much: u8) {
    match what % 32 {
        0..=6 => rig.advance(u64::from(much)),
        7 => rig.input(Input::Set(variable(much))),
        8 => rig.request(),
        9 => rig.input(Input::Resume(rig.session.mode_machine().epoch())),
        10 => rig.input(Input::Release),
        11 => rig.input(Input::Acknowledge),
        12 => rig.input(Input::Tick),
        13 => {
            if let (Some(at), value) = (KrlIndex::new(much % 16), f32::from(much)) {
                // Variables of the program belong to the application, except those of the handshake.
                rig.session.krl_mut().set_real(at, value);
            }
        }
        14 => {
            let control = [
                Control::Position,
                Control::JointImpedance(JointImpedance::default()),
                Control::ToolImpedance(ToolImpedance::default()),
            ][usize::from(much % 3)];
            let commanding = matches!(rig.session.mode(), Mode::Command | Mode::Stopping | Mode::Arming);
            match rig.session.monitoring() {
                Some(monitoring) => {
                    assert!(!commanding, "the scheme never changes while it is asked for");
                    assert_eq!(monitoring.set(control), Ok(()));
                }
                None => {}
            }
        }
        // Datagrams of a sender that knows the address.
        15 => {
            let bytes = Noise::seeded(much.into()).bytes(usize::from(much) * 6);
            let now = Instant::from_micros(rig.krc.now().as_micros());
            let from = "198.51.100.7:1".parse().expect("an address");
            receive(&mut rig.session, from, &bytes, now);
            rig.input(Input::Tick);
        }
        other => {
            let kind = FAULTS[usize::from(other) % FAULTS.len()];
            let span = std::time::Duration::from_millis(u64::from(much));
            rig.krc.add_fault(Fault::new(kind, rig.krc.now(), Some(span)));
        }
    }
}

/// Returns a write of a KRL variable; some cannot be set, because each type has 16 variables and the first ones belong
/// to the handshake.
fn variable(much: u8) -> Write {
    let value = match much / 32 % 4 {
        0 => VariableValue::Bool(much & 1 == 1),
        1 => VariableValue::Int(i32::from(much) - 128),
        2 => VariableValue::Real(f32::from(much)),
        _ => VariableValue::Real(f32::NAN),
    };
    Write::Variable { index: much % 20, value }
}

// The rig checks each command: it answers the newest measurement, once, with finite numbers.
fuzz_target!(|bytes: &[u8]| {
    let mut pairs = bytes.chunks_exact(2).take(48);
    let Some([first, seed]) = pairs.next() else { return };
    let options = Options {
        first_counter: u16::from(*first) << 8 | 0xf0,
        seed: u64::from(*seed),
        period: std::time::Duration::from_millis(u64::from(first % 4) + 1),
        ..Options::default()
    };
    let mut rig = Rig::new(options, KrcConfig::default(), Swing::new(0.9, 3.0), KrlConvention::RosControl);
    rig.until(2_000, "ready to be asked", |rig| {
        let now = Instant::from_micros(rig.krc.now().as_micros());
        rig.session.mode() == Mode::Monitor && rig.session.unmet(now).is_empty()
    });
    let end = rig.krc.now() + LIFE;
    for pair in pairs {
        let [what, much] = pair else { return };
        if rig.krc.now() >= end {
            break;
        }
        event(&mut rig, *what, *much);
    }
    assert!(rig.longest_step <= 1.0, "a step of {} of the longest", rig.longest_step);
    // A mirrored frame next to an offset may be rejected by the KRC, because its expectation is not known.
    let wrong = |reason: &Reason| matches!(reason, Reason::FlagsChanged | Reason::FlagsNotUsable | Reason::Limit);
    assert!(!rig.krc.fallbacks().iter().any(|(_, reason)| wrong(reason)), "{:?}", rig.krc.fallbacks());
});
