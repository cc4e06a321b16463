//! Writes each entry of a feed: as fields, under names that both state ports share, as log lines, and as bytes.

use std::io::{Seek, Write};

use mcap::McapError;
use outrigger_core::engine::krc::pose_of;
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::fields::{FieldVisitor, Value};
use outrigger_wire::fri::{Command, Measurement};
use outrigger_wire::primary::{self, MessageKind, RobotMessagePayload};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::{Duration, Instant};

use super::common_values::{Io, Modes, State, pose_in_frame};
use super::file::{File, Level};
use crate::feed::recorded::{CONFIGURATION, ENGINE, raw_topic, sent_topic};
use crate::feed::{Entry, EntryContent, Message, Streams, WireFormat, name_of};
use crate::show::Notice;

/// The recording that is being written, and the decoder of the controller's streams.
pub(super) struct Recording<'m, W: Write + Seek> {
    file: File<W>,
    streams: Streams<'m>,
    /// The port whose robot states are written to the topics that both state ports share. `None` until a state
    /// arrives, at the start and after a loss of that connection.
    source: Option<u16>,
    /// The modes, and the inputs and outputs (`io`), that were last written to the recording. Modes, inputs and outputs
    /// are written when they change.
    modes: Option<Modes>,
    io: Option<Io>,
    /// The time of the previous entry of the feed in the recording.
    at: Instant,
}

impl<'m, W: Write + Seek> Recording<'m, W> {
    pub(super) const fn new(file: File<W>, streams: Streams<'m>) -> Self {
        Self { file, streams, source: None, modes: None, io: None, at: Instant::ZERO }
    }

    pub(super) const fn file(&mut self) -> &mut File<W> {
        &mut self.file
    }

    /// Writes to the recording that this many entries of the feed were lost.
    pub(super) fn lost(&mut self, lost: u64) -> Result<(), McapError> {
        self.streams.lost();
        let text = format!("{lost} entries lost: the file could not be written as fast");
        self.file.log(Level::Warning, self.at, "recorder", &text)
    }

    /// Writes an entry of the feed (traffic or an event of the session) to the recording, decoded where possible.
    pub(super) fn entry(&mut self, entry: &Entry) -> Result<(), McapError> {
        let at = entry.at;
        self.at = at;
        match &entry.what {
            EntryContent::Opened { port } => {
                self.streams.opened(*port);
                self.file.log(Level::Info, at, "link", &format!("connected to port {}", name_of(*port)))
            }
            EntryContent::Closed { port } => {
                self.source = self.source.filter(|source| source != port);
                self.file.log(Level::Warning, at, "link", &format!("lost the connection to port {}", name_of(*port)))
            }
            EntryContent::Sent { port, bytes } => {
                self.streams.sent(*port, bytes);
                let topic = WireFormat::of(*port).and_then(WireFormat::commands);
                if let (Some(topic), Ok(command)) = (topic, Command::new_checked(bytes)) {
                    let name = topic.trim_start_matches('/');
                    self.file.message(topic, name, at, &|visitor| command.visit(visitor))?;
                }
                self.file.raw(&sent_topic(*port), at, bytes)
            }
            EntryContent::Configuration(text) => self.file.raw(CONFIGURATION, at, text.as_bytes()),
            EntryContent::Engine(bytes) => self.file.raw(ENGINE, at, bytes),
            EntryContent::Received { port, bytes, first_start } => self.received(at, *port, bytes, *first_start),
            EntryContent::Notice(notice) => self.notice(notice),
            EntryContent::Link { mode, figures } => self.link(at, *mode, figures),
        }
    }

    fn received(&mut self, at: Instant, port: u16, bytes: &[u8], first_start: Option<usize>) -> Result<(), McapError> {
        let Self { file, streams, source, modes, io, .. } = self;
        let format = WireFormat::of(port);
        let topic = format.and_then(WireFormat::states);
        let mut written = Ok(());
        let taken = streams.received(port, bytes, first_start, |message| {
            if written.is_ok() {
                written = match &message {
                    Message::Realtime(_) | Message::Rtde(..) => {
                        // Only a stream of states delivers these messages.
                        let (Some(format), Some(topic)) = (format, topic) else { return };
                        let first = !format.is_partial() && *source.get_or_insert(port) == port;
                        write_state(file, topic, at, &message, first.then_some((modes, io)))
                    }
                    Message::Fri(measurement) => {
                        topic.map_or(Ok(()), |topic| write_measurement(file, topic, at, measurement))
                    }
                    Message::RtdeText(text) => {
                        file.log(Level::Info, at, "rtde", &primary::Text(text.message).to_string())
                    }
                    Message::SubPackage(package) => {
                        let name = package.name();
                        file.message(&format!("/primary/{name}"), name, at, &|visitor| package.visit(visitor))
                    }
                    Message::Primary(message, software) => write_primary(file, at, message, *software),
                    Message::Trouble(trouble) => file.log(Level::Warning, at, "stream", trouble),
                };
            }
        });
        written?;
        let Some(taken) = taken else { return Ok(()) };
        let topic = raw_topic(port);
        if taken.begins {
            self.file.raw(&topic, at, &[])?;
        }
        self.file.raw(&topic, at, bytes.get(taken.from..).unwrap_or_default())
    }

    fn notice(&mut self, notice: &Notice) -> Result<(), McapError> {
        // The controller's own text is in the log already, from the bytes that contained it.
        if notice.kind == "report" {
            return Ok(());
        }
        let level = match notice.kind {
            "down" | "refused" | "malformed" | "skipped" | "local-stall" => Level::Warning,
            _ => Level::Info,
        };
        self.file.log(level, notice.at, notice.kind, &notice.text)
    }

    /// Writes the mode of the session and the figures of its link.
    fn link(&mut self, at: Instant, mode: Mode, figures: &Figures) -> Result<(), McapError> {
        let fields = |age: Option<Duration>, visitor: &mut dyn FieldVisitor| {
            let ms = |span: Duration| Value::F64(span.as_secs_f64() * 1e3);
            visitor.field("mode", Value::Text(mode.name().as_bytes()));
            visitor.field("grade", Value::Text(figures.grade.name().as_bytes()));
            if let Some(age) = age {
                visitor.field("age_ms", ms(age));
            }
            visitor.field("jitter_ms", ms(figures.jitter));
            visitor.field("accepted", Value::Unsigned(figures.sequence.accepted));
            visitor.field("lost", Value::Unsigned(figures.sequence.lost));
            visitor.field("duplicates", Value::Unsigned(figures.sequence.duplicates));
            visitor.field("reordered", Value::Unsigned(figures.sequence.reordered));
            visitor.field("impossible", Value::Unsigned(figures.impossible.into()));
            visitor.field("late", Value::Unsigned(figures.late));
            visitor.field("consecutive_misses", Value::Unsigned(figures.consecutive_misses.into()));
            visitor.field("epoch", Value::Unsigned(figures.epoch.into()));
            visitor.field("local_stalls", Value::Unsigned(figures.local_stalls.into()));
        };
        // Before the first state there is no age, but the schema contains it.
        self.file.described("/link", "link", &|visitor| fields(Some(Duration::ZERO), visitor))?;
        self.file.message("/link", "link", at, &|visitor| fields(figures.age, visitor))
    }
}

/// Writes a state with all fields of its port. For one of the ports, also writes it under the names that both ports
/// share.
fn write_state<W: Write + Seek>(
    file: &mut File<W>,
    topic: &str,
    at: Instant,
    message: &Message<'_>,
    shared: Option<(&mut Option<Modes>, &mut Option<Io>)>,
) -> Result<(), McapError> {
    file.message(topic, topic.trim_start_matches('/'), at, &|visitor| message.visit_state(visitor))?;
    let Some((modes, io)) = shared else { return Ok(()) };
    let mut state = State::default();
    message.visit_state(&mut state);
    file.message("/joint_states", "joint_states", at, &|visitor| state.joints(visitor))?;
    file.message("/tool", "tool", at, &|visitor| state.tool(visitor))?;
    if state.has_pose() {
        let nanos = file.nanos(at);
        file.message("/tool_pose", "foxglove.PoseInFrame", at, &|visitor| state.pose_in_frame(nanos, visitor))?;
    }
    if modes.replace(state.modes) != Some(state.modes) {
        file.message("/modes", "modes", at, &|visitor| state.modes.visit(visitor))?;
    }
    if io.replace(state.io) != Some(state.io) {
        file.message("/io", "io", at, &|visitor| state.io.visit(visitor))?;
    }
    Ok(())
}

/// Writes a measurement of a KRC with all fields, and its joints and tool under the names that all robots share.
fn write_measurement<W: Write + Seek>(
    file: &mut File<W>,
    topic: &str,
    at: Instant,
    measurement: &Measurement<'_>,
) -> Result<(), McapError> {
    file.message(topic, topic.trim_start_matches('/'), at, &|visitor| measurement.visit(visitor))?;
    file.message("/joint_states", "joint_states", at, &|visitor| {
        visitor.field("position", Value::F32s(&measurement.msr_jnt_pos()));
        visitor.field("target_position", Value::F32s(&measurement.setpoint()));
        visitor.field("torque", Value::F32s(&measurement.msr_jnt_trq()));
        visitor.field("external_torque", Value::F32s(&measurement.est_ext_jnt_trq()));
    })?;
    let pose = pose_of(&measurement.msr_cart_pos());
    let finite = pose.position.iter().chain(&pose.rotation).all(|value| value.is_finite());
    let nanos = file.nanos(at);
    if !finite {
        return Ok(());
    }
    file.message("/tool_pose", "foxglove.PoseInFrame", at, &|visitor| pose_in_frame(nanos, &pose, visitor))
}

/// Writes a message of a UR's primary interface with its fields: a robot message, also as a log line if it is for
/// people, or program variables with their values. Other kinds are not written here.
fn write_primary<W: Write + Seek>(
    file: &mut File<W>,
    at: Instant,
    message: &primary::Message<'_>,
    software: Option<SoftwareVersion>,
) -> Result<(), McapError> {
    // Of an incomplete message the fields before its end are written. The raw stream has its bytes.
    let visit = |visitor: &mut dyn FieldVisitor| {
        let _ = message.visit(software, visitor);
    };
    match message.kind() {
        MessageKind::RobotMessage(robot_message) => {
            let Ok(payload) = robot_message.payload(software) else {
                return file.log(Level::Warning, at, "stream", "a truncated robot message");
            };
            let name = payload.name();
            file.message(&format!("/messages/{name}"), name, at, &visit)?;
            let Some((level, text)) = spoken(&payload) else { return Ok(()) };
            file.log(level, at, &robot_message.named_source().to_string(), &text)
        }
        MessageKind::ProgramState(_) => file.message("/program_state", "program_state", at, &visit),
        MessageKind::RobotState(_) | MessageKind::Internal { .. } => Ok(()),
    }
}

/// Returns a log line for a message that the controller sends for people. `None` for any other message.
fn spoken(payload: &RobotMessagePayload<'_>) -> Option<(Level, String)> {
    use RobotMessagePayload as P;
    Some(match payload {
        P::Text(text) => (Level::Info, text.to_string()),
        P::Popup(popup) if popup.error => (Level::Error, format!("pop-up: {}: {}", popup.title, popup.text)),
        P::Popup(popup) if popup.warning => (Level::Warning, format!("pop-up: {}: {}", popup.title, popup.text)),
        P::Popup(popup) => (Level::Info, format!("pop-up: {}: {}", popup.title, popup.text)),
        P::Version(version) => (Level::Info, format!("{} {}", version.project_name, version.software())),
        P::SafetyMode(safety) => {
            let mode = safety.detail.safety_mode().map_or("changed".into(), |mode| mode.to_string());
            (Level::Warning, format!("safety mode {mode} (C{}A{})", safety.code, safety.argument))
        }
        P::ErrorCode(error) => (Level::Error, format!("C{}A{}", error.code, error.argument)),
        P::Key(key) => (Level::Info, format!("{} {}", key.title, key.text)),
        P::RequestValue(request) => (Level::Info, format!("asks: {}", request.text)),
        P::RuntimeException { position: Some((line, column)), text } => {
            (Level::Error, format!("program failed at line {line}, column {column}: {text}"))
        }
        P::RuntimeException { position: None, text } => (Level::Error, format!("program failed: {text}")),
        _ => return None,
    })
}
