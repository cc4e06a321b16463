//! `outrigger replay`: runs the engine again from a recording; the same inputs must give the same texts.

use std::io::Write as _;

use outrigger_core::client::rtde::{ClaimRoom, ClaimedInputs};
use outrigger_core::engine::krc::Krc;
use outrigger_core::engine::ur::{Memory, Ur};
use outrigger_core::engine::{ReplayError, Replayed, recorded_config, recorded_transitions, replay};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::time::Instant;

use crate::args::ReplayArgs;
use crate::engine;
use crate::exit::{Failure, Outcome, output_closed};
use crate::record::is_recording;

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`] for a file that is no recording, [`Failure::Fault`] with the first difference.
pub fn run(args: &ReplayArgs) -> Outcome {
    if is_recording(&args.dump) {
        return crate::krc::replay::run(&args.dump);
    }
    let path = args.dump.display();
    let dump = std::fs::read(&args.dump).map_err(|error| Failure::BadInput(format!("cannot read {path}: {error}")))?;
    let replayed = match beside_ur(&dump) {
        Err(ReplayError::OtherKind) => beside_krc(&dump),
        replayed => replayed,
    };
    let refused = |error: &ReplayError, advice| Err(Failure::BadInput(format!("{path}: {error}; {advice}")));
    match &replayed {
        Err(error @ ReplayError::NoDump) => {
            let given = "give a file of run.recordings, one that `watch` wrote, or the .mcap of a run beside a KRC";
            return refused(error, given);
        }
        Err(error @ ReplayError::OtherFormat(_)) => {
            return refused(error, "replay it with the version that wrote it");
        }
        Err(error @ ReplayError::CutOff) => {
            return refused(error, "what is missing cannot be told from it: use another copy");
        }
        _ => {}
    }

    let mut text = String::new();
    for transition in recorded_transitions(&dump) {
        text.push_str(&format!(
            "{:9.3} s  {} → {}",
            seconds(transition.at),
            transition.from.name(),
            transition.to.name()
        ));
        if let Some(reason) = transition.reason {
            text.push_str(&format!(": {} ({})", reason.text(), reason.name()));
        }
        text.push('\n');
    }
    if let Ok(Replayed { inputs, transitions, texts, from, to }) = &replayed {
        text.push_str(&format!(
            "{:.3} s replayed: {inputs} inputs gave the same {transitions} transitions and the same {texts} texts\n",
            to.since(*from).as_secs_f64()
        ));
    }
    write!(std::io::stdout(), "{text}").or_else(|error| output_closed(&error))?;
    match replayed {
        Ok(_) => Ok(()),
        Err(error @ ReplayError::Diverged { .. }) => Err(Failure::Fault(format!("{path}: first difference: {error}"))),
        Err(error) => Err(Failure::BadInput(format!("{path}: {error}"))),
    }
}

fn seconds(at: Instant) -> f64 {
    at.since(Instant::ZERO).as_secs_f64()
}

fn beside_ur(dump: &[u8]) -> Result<Replayed, ReplayError> {
    let mut windows = engine::Windows::new();
    let claims = recorded_config::<6, Ur<'_>>(dump).map(|config| config.peer.connect.claims).unwrap_or_default();
    let mut room = ClaimRoom::new();
    let mut inputs = ClaimedInputs::new(claims, &mut room);
    let (primary, realtime, mut rtde) = windows.lend(&mut inputs);
    let memory = Memory { primary, realtime, rtde: engine::as_link(rtde.as_mut()) };
    // Which law it was, and what it remembered, is in the recording.
    let law = AnyLaw::JointServo(JointServo::<6>::new(Reference::Hold, JointServoConfig::default()));
    replay::<6, Ur<'_>, _>(dump, law, memory)
}

fn beside_krc(dump: &[u8]) -> Result<Replayed, ReplayError> {
    let law = AnyLaw::JointServo(JointServo::<7>::new(Reference::Hold, JointServoConfig::default()));
    replay::<7, Krc, _>(dump, law, ())
}
