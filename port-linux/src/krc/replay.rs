//! Runs the engine beside a KRC again, from the recording of a run: the same inputs have to give the same transitions and
//! the same commands, to the byte.

use std::collections::VecDeque;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use outrigger_core::engine::krc::KrcEngine;
use outrigger_core::engine::{Input, LinkId, Output};
use outrigger_core::law::AnyLaw;
use outrigger_core::time::Instant;

use crate::config::{AnyConfiguration, KrcConfiguration};
use crate::exit::{Failure, Outcome, output_closed};
use crate::feed::{EngineInput, FRI, Given};
use crate::record::{CONFIGURATION, INPUTS, LOG, each_message, raw_topic, sent_topic};
use crate::show::events::{Surroundings, notice};

/// Replays the recording at `path`.
///
/// # Errors
/// [`Failure::BadInput`] for a file that holds no run beside a KRC, [`Failure::Fault`] with the first difference.
pub(crate) fn run(path: &Path) -> Outcome {
    let mut replay = Replay::default();
    let (raw, sent) = (raw_topic(FRI), sent_topic(FRI));
    each_message(path, |topic, _, data| match topic {
        CONFIGURATION => replay.begin(data),
        INPUTS => replay.input(data),
        LOG => replay.logged(data),
        topic if topic == raw => replay.datagram(data),
        topic if topic == sent => replay.command(data),
        _ => Ok(()),
    })
    .map_err(|failure| failure.at(path))?;
    let Some(engine) = &replay.engine else {
        return Err(Failure::BadInput(format!(
            "{}: this is no recording of `outrigger run` beside a KRC; what can be replayed of a run beside a UR \
             controller is what run.recordings writes",
            path.display()
        )));
    };
    // What was on its way into the file when the run ended.
    let unwritten = replay.commands.len() + replay.transitions.len();
    let text = format!(
        "{}{:.3} s replayed: {} inputs gave the same {} transitions and the same {} commands{}\n",
        replay.text,
        engine.now.since(replay.from).as_secs_f64(),
        replay.inputs,
        replay.same_transitions,
        replay.same_commands,
        if unwritten == 0 { String::new() } else { format!("; {unwritten} are not in the file") }
    );
    write!(std::io::stdout(), "{text}").or_else(|error| output_closed(&error))
}

struct Engine {
    session: KrcEngine<'static, AnyLaw<7>>,
    now: Instant,
}

#[derive(Default)]
struct Replay {
    engine: Option<Engine>,
    from: Instant,
    /// A datagram whose bytes come next.
    awaited: Option<EngineInput>,
    /// What the engine did now and the file has not shown yet.
    commands: VecDeque<Vec<u8>>,
    transitions: VecDeque<String>,
    inputs: u64,
    same_commands: u64,
    same_transitions: u64,
    text: String,
}

impl Replay {
    fn begin(&mut self, toml: &[u8]) -> Result<(), Failure> {
        let configuration = std::str::from_utf8(toml).ok().and_then(|text| AnyConfiguration::parse(text).ok());
        let Some(AnyConfiguration::Krc(configuration)) = configuration else {
            return Err(Failure::BadInput("its configuration is refused by this version".into()));
        };
        let KrcConfiguration { engine, law, .. } = *configuration;
        let law = AnyLaw::new(law).map_err(|error| Failure::BadInput(format!("law.{error}")))?;
        let session = KrcEngine::new(engine, law, ()).map_err(|error| Failure::BadInput(error.to_string()))?;
        self.engine = Some(Engine { session, now: Instant::ZERO });
        Ok(())
    }

    fn input(&mut self, json: &[u8]) -> Result<(), Failure> {
        let Some(input) = EngineInput::read(json) else {
            return Err(Failure::BadInput(format!("input {} cannot be read", self.inputs)));
        };
        if matches!(input.what, Given::Datagram { .. }) {
            self.awaited = Some(input);
            return Ok(());
        }
        match input.input() {
            Some(known) => self.give(input.at, |engine| engine.handle(input.at, known)),
            None => Err(Failure::BadInput(format!("input {} cannot be read", self.inputs))),
        }
    }

    fn datagram(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // None at all say that something before is missing; a listener's recording has bytes without inputs.
        let Some(awaited) = self.awaited.take() else { return Ok(()) };
        let Given::Datagram { from, arrival } = awaited.what else { return Ok(()) };
        self.give(awaited.at, |engine| {
            let window = engine.receive_window(LinkId::FRI);
            let length = bytes.len().min(window.len());
            window.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            engine.commit_datagram(LinkId::FRI, length, from, arrival, awaited.at);
        })
    }

    fn give(&mut self, at: Instant, input: impl FnOnce(&mut KrcEngine<'static, AnyLaw<7>>)) -> Result<(), Failure> {
        if let Some(command) = self.commands.front() {
            let counter = command.get(..2).and_then(|head| head.try_into().ok()).map(u16::from_le_bytes);
            return Err(Failure::Fault(format!(
                "first difference before {at:?}: the engine now sends command {counter:?}, the recorded one sent none"
            )));
        }
        let Some(engine) = &mut self.engine else {
            return Err(Failure::BadInput(
                "no configuration comes before its inputs: what `outrigger record` keeps can be looked at, not run again; \
                 replay what `outrigger run --record FILE` keeps"
                    .into(),
            ));
        };
        if self.inputs == 0 {
            self.from = at;
            // Not among the inputs of versions before; the second is none.
            engine.session.handle(at, Input::Start);
        }
        self.inputs += 1;
        engine.now = at;
        input(&mut engine.session);
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let around = Surroundings { at, here: false, address: &|_| nowhere, trouble: &|_| None };
        while let Some(event) = engine.session.poll_event() {
            if let Some(notice) = notice(&event, &around).filter(|notice| notice.kind == "transition") {
                let seconds = at.since(Instant::ZERO).as_secs_f64();
                self.text.push_str(&format!("{seconds:9.3} s  {}\n", notice.text));
                self.transitions.push_back(notice.text);
            }
        }
        while let Some(output) = engine.session.poll_output() {
            if let Output::Transmit { bytes, .. } = output {
                self.commands.push_back(bytes.to_vec());
            }
        }
        Ok(())
    }

    fn command(&mut self, recorded: &[u8]) -> Result<(), Failure> {
        if self.engine.is_none() {
            return Ok(());
        }
        let now = self.commands.pop_front();
        if now.as_deref() == Some(recorded) {
            self.same_commands += 1;
            return Ok(());
        }
        let what = match now {
            None => "sends nothing".to_owned(),
            Some(now) => {
                let at = now.iter().zip(recorded).position(|(a, b)| a != b).unwrap_or(now.len().min(recorded.len()));
                format!("differs from byte {at} on")
            }
        };
        let number = self.same_commands;
        Err(Failure::Fault(format!("first difference: where command {number} was sent, the engine now {what}")))
    }

    fn logged(&mut self, json: &[u8]) -> Result<(), Failure> {
        if self.engine.is_none() {
            return Ok(());
        }
        let line: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
        let word = |name: &str| line.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        match word("name") {
            "recorder" => {
                Err(Failure::BadInput(format!("{}; a recording with gaps cannot be replayed", word("message"))))
            }
            "transition" => {
                let (recorded, now) = (word("message"), self.transitions.pop_front());
                if now.as_deref() == Some(recorded) {
                    self.same_transitions += 1;
                    return Ok(());
                }
                let now = now.unwrap_or_else(|| "no transition".into());
                Err(Failure::Fault(format!("first difference: recorded {recorded}, the engine now has {now}")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::wire::fri::MeasurementRepr;

    use super::*;
    use crate::fields::Fields;
    use crate::json::Json;

    const FILE: &[u8] = b"[robot]\nkind = \"krc\"\n[law]\nkind = \"joint-servo\"\n";

    fn json(input: &EngineInput) -> Vec<u8> {
        let mut json = Json::default();
        json.begin_object();
        input.visit(&mut Fields::new(&mut json));
        json.end_object();
        json.as_str().as_bytes().to_vec()
    }

    /// A session that was given one measurement and has answered it; the command.
    fn answered() -> (Replay, Vec<u8>) {
        let mut replay = Replay::default();
        replay.begin(FILE).expect("a configuration");
        let mut bytes = [0; 916];
        let measured = MeasurementRepr { state: 1, desired_cmd_sample_time: 0.01, ..MeasurementRepr::default() };
        measured.emit(&mut bytes).expect("room");
        let (from, arrival) = ("192.0.2.1:49938".parse().expect("an address"), Instant::from_micros(1_000));
        replay.input(&json(&EngineInput::datagram(from, arrival))).expect("an input");
        replay.datagram(&bytes).expect("its bytes");
        replay.input(&json(&EngineInput::of(&Input::Tick, Instant::from_micros(1_001)))).expect("an input");
        let command = replay.commands.front().expect("an answer").clone();
        (replay, command)
    }

    #[test]
    fn the_first_byte_that_differs_is_named() {
        let (mut replay, mut command) = answered();
        command[150] ^= 1;
        let told = replay.command(&command).expect_err("it differs").to_string();
        assert!(told.contains("command 0") && told.contains("byte 150"), "{told}");
    }

    #[test]
    fn a_command_too_much_and_one_too_few_are_differences() {
        let (mut replay, command) = answered();
        assert!(replay.command(&command).is_ok());
        let told = replay.command(&command).expect_err("none more").to_string();
        assert!(told.contains("sends nothing"), "{told}");
        let (mut replay, _) = answered();
        let told = replay
            .input(&json(&EngineInput::of(&Input::Tick, Instant::from_micros(2_000))))
            .expect_err("one was not recorded")
            .to_string();
        assert!(told.contains("the recorded one sent none"), "{told}");
    }

    #[test]
    fn a_transition_that_was_not_and_a_gap_end_it() {
        let (mut replay, _) = answered();
        assert!(replay.logged(br#"{"name":"transition","message":"Offline \u2192 Monitor"}"#).is_ok());
        let other =
            replay.logged(br#"{"name":"transition","message":"Monitor \u2192 Arming"}"#).expect_err("it was not");
        assert!(other.to_string().contains("no transition"), "{other}");
        let gap = replay.logged(br#"{"name":"recorder","message":"3 entries lost"}"#).expect_err("a gap");
        assert!(matches!(&gap, Failure::BadInput(text) if text.contains("3 entries lost")), "{gap}");
    }
}
