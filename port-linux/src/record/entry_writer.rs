//! Writes each entry of a feed: as fields, under names that both state ports share, as log lines, and as bytes.

use outrigger_core::engine::krc::pose_of;
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::fields::{FieldVisitor, Value};
use outrigger_wire::fri::{Command, Measurement};
use outrigger_wire::primary::{self, MessageKind, RobotMessagePayload};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::{Duration, Instant};

use super::arm_frames::ArmGeometry;
use super::channels::{Channels, Level, Sink};
use super::common_values::{Io, Modes, State, pose_in_frame};
use super::foxglove::{Joints, frame_transforms, joint_states, scene, scene_example};
use crate::feed::recorded::{CONFIGURATION, ENGINE, raw_topic, sent_topic};
use crate::feed::{Entry, EntryContent, Item, Message, Streams, WireFormat, name_of};
use crate::show::Notice;

/// The interval of messages that pictures are drawn from: joints by name, and frames of the arm's links.
const PICTURE: Duration = Duration::from_micros(33_333);
/// The interval at which the shape of the arm is written, and data that is written on change is repeated for readers
/// that connect at any time.
const REPEAT: Duration = Duration::from_secs(1);

/// The data of a session as channels in a [`Sink`], and the decoder of the controller's streams.
pub struct SessionChannels<'m, S: Sink> {
    channels: Channels<S>,
    streams: Streams<'m>,
    /// The port whose robot states are written to the topics that both state ports share. `None` until a state
    /// arrives, at the start and after a loss of that connection.
    source: Option<u16>,
    written: Written,
    /// The time of the previous entry of the feed.
    at: Instant,
}

/// The data that was last written to the channels that all sources of states share, and the times at which the next is
/// due.
struct Written {
    /// Modes, inputs and outputs are written when they change.
    modes: Option<Modes>,
    io: Option<Io>,
    arm: ArmGeometry,
    picture: Schedule,
    scene: Schedule,
    repetition: Schedule,
}

/// The times at which data is due that is written at an interval.
struct Schedule {
    interval: Duration,
    due: Instant,
}

impl Schedule {
    /// Creates a schedule whose first time is any.
    const fn every(interval: Duration) -> Self {
        Self { interval, due: Instant::ZERO }
    }

    /// Returns `true` if the data is due, and then sets the next time: by the schedule, unless that is past as well.
    fn is_due(&mut self, at: Instant) -> bool {
        let is_due = at >= self.due;
        if is_due {
            let next = self.due + self.interval;
            self.due = if next < at { at + self.interval } else { next };
        }
        is_due
    }
}

impl<'m, S: Sink> SessionChannels<'m, S> {
    /// Creates the channels of a session in `sink`. `origin` is the time at which the process's clock started, since
    /// 1970 \[ns\]. Frames of the arm are written once `arm` knows its geometry.
    pub fn new(sink: S, origin: u64, arm: ArmGeometry, streams: Streams<'m>) -> Self {
        let written = Written {
            modes: None,
            io: None,
            arm,
            picture: Schedule::every(PICTURE),
            scene: Schedule::every(REPEAT),
            repetition: Schedule::every(REPEAT),
        };
        Self { channels: Channels::new(sink, origin), streams, source: None, written, at: Instant::ZERO }
    }

    /// Returns the destination of the channels.
    pub const fn sink(&mut self) -> &mut S {
        self.channels.sink()
    }

    /// Returns the number of messages written, and their size before compression \[B\].
    pub const fn written(&self) -> (u64, u64) {
        self.channels.written()
    }

    /// Writes an item of the session's feed, decoded where possible: an entry, or a log line about lost entries.
    ///
    /// # Errors
    /// Returns the reason why the sink does not take it.
    pub fn item(&mut self, item: &Item) -> Result<(), S::Error> {
        match item {
            Item::Entry(entry) => self.entry(entry),
            Item::Lost(lost) => {
                self.streams.lost();
                let text = format!(
                    "{lost} entries lost (received bytes, sent bytes or events): they arrived faster than they were processed"
                );
                self.channels.log(Level::Warning, self.at, "recorder", &text)
            }
        }
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), S::Error> {
        let at = entry.at;
        self.at = at;
        match &entry.what {
            EntryContent::Opened { port } => {
                self.streams.opened(*port);
                self.channels.log(Level::Info, at, "link", &format!("connected to port {}", name_of(*port)))
            }
            EntryContent::Closed { port } => {
                self.source = self.source.filter(|source| source != port);
                self.channels.log(
                    Level::Warning,
                    at,
                    "link",
                    &format!("lost the connection to port {}", name_of(*port)),
                )
            }
            EntryContent::Sent { port, bytes } => {
                self.streams.sent(*port, bytes);
                let topic = WireFormat::of(*port).and_then(WireFormat::commands);
                if let (Some(topic), Ok(command)) = (topic, Command::new_checked(bytes)) {
                    let name = topic.trim_start_matches('/');
                    self.channels.message(topic, name, at, &|visitor| command.visit(visitor))?;
                }
                self.channels.raw(&sent_topic(*port), at, bytes)
            }
            EntryContent::Configuration(text) => self.channels.raw(CONFIGURATION, at, text.as_bytes()),
            EntryContent::Engine(bytes) => self.channels.raw(ENGINE, at, bytes),
            EntryContent::Received { port, bytes, first_start } => self.received(at, *port, bytes, *first_start),
            EntryContent::Notice(notice) => self.notice(notice),
            EntryContent::Link { mode, figures } => self.link(at, *mode, figures),
        }
    }

    fn received(&mut self, at: Instant, port: u16, bytes: &[u8], first_start: Option<usize>) -> Result<(), S::Error> {
        let Self { channels, streams, source, written: shared, .. } = self;
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
                        write_state(channels, topic, at, &message, first.then_some(&mut *shared))
                    }
                    Message::Fri(measurement) => {
                        topic.map_or(Ok(()), |topic| write_measurement(channels, topic, at, measurement, shared))
                    }
                    Message::RtdeText(text) => {
                        channels.log(Level::Info, at, "rtde", &primary::Text(text.message).to_string())
                    }
                    Message::SubPackage(package) => {
                        let name = package.name();
                        channels.message(&format!("/primary/{name}"), name, at, &|visitor| package.visit(visitor))
                    }
                    Message::Primary(message, software) => write_primary(channels, at, message, *software),
                    Message::Trouble(trouble) => channels.log(Level::Warning, at, "stream", trouble),
                };
            }
        });
        written?;
        let Some(taken) = taken else { return Ok(()) };
        let topic = raw_topic(port);
        if taken.begins {
            self.channels.raw(&topic, at, &[])?;
        }
        self.channels.raw(&topic, at, bytes.get(taken.from..).unwrap_or_default())
    }

    fn notice(&mut self, notice: &Notice) -> Result<(), S::Error> {
        // The controller's own text is in the log already, from the bytes that contained it.
        if notice.kind == "report" {
            return Ok(());
        }
        let level = match notice.kind {
            "down" | "refused" | "malformed" | "skipped" | "local-stall" => Level::Warning,
            _ => Level::Info,
        };
        self.channels.log(level, notice.at, notice.kind, &notice.text)
    }

    /// Writes the mode of the session and the figures of its link.
    fn link(&mut self, at: Instant, mode: Mode, figures: &Figures) -> Result<(), S::Error> {
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
        self.channels.described("/link", "link", &|visitor| fields(Some(Duration::ZERO), visitor))?;
        self.channels.message("/link", "link", at, &|visitor| fields(figures.age, visitor))
    }
}

/// Writes a state with all fields of its port. For one of the ports, also writes it under the names that both ports
/// share.
fn write_state<S: Sink>(
    channels: &mut Channels<S>,
    topic: &str,
    at: Instant,
    message: &Message<'_>,
    shared: Option<&mut Written>,
) -> Result<(), S::Error> {
    channels.message(topic, topic.trim_start_matches('/'), at, &|visitor| message.visit_state(visitor))?;
    let Some(shared) = shared else { return Ok(()) };
    let mut state = State::default();
    message.visit_state(&mut state);
    channels.message("/joint_states", "joint_states", at, &|visitor| state.joints(visitor))?;
    channels.message("/tool", "tool", at, &|visitor| state.tool(visitor))?;
    if state.has_pose() {
        let nanos = channels.nanos(at);
        channels.message("/tool_pose", "foxglove.PoseInFrame", at, &|visitor| state.pose_in_frame(nanos, visitor))?;
    }
    let repeated = S::REPEATS && shared.repetition.is_due(at);
    if shared.modes.replace(state.modes) != Some(state.modes) || repeated {
        channels.message("/modes", "modes", at, &|visitor| state.modes.visit(visitor))?;
    }
    if shared.io.replace(state.io) != Some(state.io) || repeated {
        channels.message("/io", "io", at, &|visitor| state.io.visit(visitor))?;
    }
    let Some((position, velocity)) = state.positions_and_speeds() else { return Ok(()) };
    write_picture(channels, at, &Joints { position, velocity, effort: &[] }, shared)
}

/// Writes the joints by name and the frames of the links, if they are due, and each second the shape of the arm.
fn write_picture<S: Sink>(
    channels: &mut Channels<S>,
    at: Instant,
    joints: &Joints<'_>,
    shared: &mut Written,
) -> Result<(), S::Error> {
    if !shared.picture.is_due(at) {
        return Ok(());
    }
    let nanos = channels.nanos(at);
    channels.message("/joints", "foxglove.JointStates", at, &|visitor| joint_states(nanos, joints, visitor))?;
    let Some(arm) = shared.arm.at(at) else { return Ok(()) };
    let Some(frames) = arm.transforms(joints.position) else { return Ok(()) };
    let transforms = |visitor: &mut dyn FieldVisitor| frame_transforms(nanos, &frames, visitor);
    channels.message("/transforms", "foxglove.FrameTransforms", at, &transforms)?;
    let channel = channels.described("/arm", "foxglove.SceneUpdate", &scene_example)?;
    if shared.scene.is_due(at) {
        channels.described_message(channel, at, &|visitor| scene(nanos, &arm.sticks, visitor))?;
    }
    Ok(())
}

/// Writes a measurement of a KRC with all fields, and its joints and tool under the names that all robots share.
fn write_measurement<S: Sink>(
    channels: &mut Channels<S>,
    topic: &str,
    at: Instant,
    measurement: &Measurement<'_>,
    shared: &mut Written,
) -> Result<(), S::Error> {
    channels.message(topic, topic.trim_start_matches('/'), at, &|visitor| measurement.visit(visitor))?;
    channels.message("/joint_states", "joint_states", at, &|visitor| {
        visitor.field("position", Value::F32s(&measurement.msr_jnt_pos()));
        visitor.field("target_position", Value::F32s(&measurement.setpoint()));
        visitor.field("torque", Value::F32s(&measurement.msr_jnt_trq()));
        visitor.field("external_torque", Value::F32s(&measurement.est_ext_jnt_trq()));
    })?;
    let (position, effort) = (measurement.msr_jnt_pos().map(f64::from), measurement.msr_jnt_trq().map(f64::from));
    write_picture(channels, at, &Joints { position: &position, velocity: &[], effort: &effort }, shared)?;
    let pose = pose_of(&measurement.msr_cart_pos());
    let finite = pose.position.iter().chain(&pose.rotation).all(|value| value.is_finite());
    let nanos = channels.nanos(at);
    if !finite {
        return Ok(());
    }
    channels.message("/tool_pose", "foxglove.PoseInFrame", at, &|visitor| pose_in_frame(nanos, &pose, visitor))
}

/// Writes a message of a UR's primary interface with its fields: a robot message, also as a log line if it is for
/// people, or program variables with their values. Other kinds are not written here.
fn write_primary<S: Sink>(
    channels: &mut Channels<S>,
    at: Instant,
    message: &primary::Message<'_>,
    software: Option<SoftwareVersion>,
) -> Result<(), S::Error> {
    // Of an incomplete message the fields before its end are written. The raw stream has its bytes.
    let visit = |visitor: &mut dyn FieldVisitor| {
        let _ = message.visit(software, visitor);
    };
    match message.kind() {
        MessageKind::RobotMessage(robot_message) => {
            let Ok(payload) = robot_message.payload(software) else {
                return channels.log(Level::Warning, at, "stream", "a truncated robot message");
            };
            let name = payload.name();
            channels.message(&format!("/messages/{name}"), name, at, &visit)?;
            let Some((level, text)) = spoken(&payload) else { return Ok(()) };
            channels.log(level, at, &robot_message.named_source().to_string(), &text)
        }
        MessageKind::ProgramState(_) => channels.message("/program_state", "program_state", at, &visit),
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
