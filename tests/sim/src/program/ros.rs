//! The ROS 2 functions of a program (`core/docs/protocol/ros2-surface.md` 4.1): factories, and the methods of their
//! results. Each takes at least one control cycle. A call that waits for other participants waits in control cycles,
//! and other threads continue.

use outrigger_interpreter::{Call, CallResult, Value};
use outrigger_ros2_messages::endpoint::Qos;

use super::host::{ProgramHost, done};
use crate::ros::{self, End, Role, Taken};

/// The number of messages that a ROS 2 queue keeps with the history policy "keep_all", and the largest depth of a
/// queue.
const DEEPEST: u16 = 1000;

/// The reason for which a ROS 2 function failed, as text for the program's error.
type Refused = String;

impl ProgramHost<'_> {
    /// Executes the URScript functions `ros_…_factory` and the methods of their results.
    pub(super) fn ros(&mut self, call: &mut Call<'_>) -> Option<CallResult> {
        let result = if call.name.starts_with('.') { self.method(call) } else { self.factory(call) };
        Some(result.unwrap_or_else(|why| CallResult::Error(format!("{}: {why}", call.name.trim_start_matches('.')))))
    }

    /// Returns whether the time that every ROS 2 operation takes has passed for this call.
    fn is_through(&self, call: &Call<'_>) -> bool {
        call.repeat >= self.plant.ros.options.cycles
    }

    fn factory(&mut self, call: &mut Call<'_>) -> Result<CallResult, Refused> {
        if call.repeat == 0 {
            let name = whole_name(call.arg(0))?;
            let kind = call.arg(1).text().ok_or_else(|| wants("type", "a text", call.arg(1)))?;
            let (role, qos) = match call.name {
                "ros_publisher_factory" => (Role::Publisher(ros::message(kind)?), quality(call, true)?),
                "ros_subscriber_factory" => (Role::Subscriber(ros::message(kind)?), quality(call, false)?),
                _ => (Role::Client(ros::service(kind)?), Qos::SERVICES),
            };
            let opened = self.plant.ros.open(role, name, qos);
            let most = self.plant.ros.options.count;
            let End(number) = opened.ok_or_else(|| format!("{most} publishers, subscribers and clients are open"))?;
            *call.scratch = f64::from(number);
        }
        let handle = Value::Handle(*call.scratch as u32);
        Ok(if self.is_through(call) { CallResult::Value(handle) } else { CallResult::Again })
    }

    fn method(&mut self, call: &mut Call<'_>) -> Result<CallResult, Refused> {
        if call.name == ".to_string" {
            let text = call.arg(0).to_string();
            let most = ros::TEXT;
            return match text.chars().count() <= most {
                true => Ok(CallResult::Value(Value::String(text))),
                false => Err(format!("the text is longer than {most} characters")),
            };
        }
        let Value::Handle(number) = call.arg(0) else {
            return Err(format!("{} has no methods", call.arg(0).kind()));
        };
        let end = End(*number);
        // An endpoint that is closed during a call ends the call with the same error as one closed before; `close`
        // itself succeeds.
        let role = match self.plant.ros.find(end) {
            Some((role, _)) => Some(role),
            None if call.name == ".close" && call.repeat > 0 => None,
            None if self.plant.ros.ever(end) => return Err("it is closed".into()),
            None => return Err("there is no such object".into()),
        };
        match (call.name, role) {
            (".write" | ".publish", Some(Role::Publisher(kind))) => self.write(call, end, kind),
            (".read", Some(Role::Subscriber(_))) => Ok(self.read_newest(call, end)),
            (".read_history", Some(Role::Subscriber(_))) => self.read_history(call, end),
            (".wait", Some(Role::Subscriber(_))) => self.wait(call, end),
            (".call", Some(Role::Client(pair))) => self.ask(call, end, pair),
            (".wait_for_service", Some(Role::Client(_))) => self.wait_for_service(call, end),
            (".close", _) => {
                self.plant.ros.close(end);
                Ok(if self.is_through(call) { done() } else { CallResult::Again })
            }
            (_, Some(Role::Publisher(_))) => Err("a publisher has write, publish and close".into()),
            (_, Some(Role::Subscriber(_))) => Err("a subscriber has read, read_history, wait and close".into()),
            (_, _) => Err("a client of a service has call, wait_for_service and close".into()),
        }
    }

    fn write(&mut self, call: &Call<'_>, end: End, kind: &ros::Kind) -> Result<CallResult, Refused> {
        if call.repeat == 0 {
            let bytes = (kind.encode)(call.arg(1)).map_err(|mismatch| format!("{}: {mismatch}", kind.name))?;
            self.plant.ros.publish(end, bytes);
        }
        Ok(if self.is_through(call) { done() } else { CallResult::Again })
    }

    /// Waits without a timeout for a message of the subscriber `end`, and returns the newest one.
    fn read_newest(&mut self, call: &Call<'_>, end: End) -> CallResult {
        if !self.is_through(call) {
            return CallResult::Again;
        }
        self.plant.ros.read(end, 1).pop().map_or(CallResult::Again, CallResult::Value)
    }

    fn read_history(&mut self, call: &Call<'_>, end: End) -> Result<CallResult, Refused> {
        let count = match call.arg(1) {
            Value::None => usize::MAX,
            count => count
                .whole()
                .and_then(|count| usize::try_from(count).ok())
                .ok_or_else(|| wants("count", "a whole number, 0 or above", count))?,
        };
        if !self.is_through(call) {
            return Ok(CallResult::Again);
        }
        Ok(CallResult::Value(Value::List(self.plant.ros.read(end, count))))
    }

    /// Waits for a message of the subscriber `end`, at most for the call's timeout, without removing the message. The
    /// result of the call is `True` if there is one.
    fn wait(&mut self, call: &Call<'_>, end: End) -> Result<CallResult, Refused> {
        let timeout = seconds(call.arg(1))?.ok_or_else(|| wants("timeout", "seconds, 0 or above", call.arg(1)))?;
        let through = self.is_through(call);
        Ok(match self.plant.ros.has_news(end) {
            true if through => CallResult::Value(Value::Bool(true)),
            false if through && self.passed(call, timeout) => CallResult::Value(Value::Bool(false)),
            _ => CallResult::Again,
        })
    }

    /// Waits until a server exists for the service of the client `end`, for the number of seconds in the call, or
    /// without a timeout if the call has none. The result of the call is `True` if a server exists.
    fn wait_for_service(&mut self, call: &Call<'_>, end: End) -> Result<CallResult, Refused> {
        let timeout = seconds(call.arg(1))?;
        let through = self.is_through(call);
        Ok(match self.plant.ros.is_served(end) {
            true if through => CallResult::Value(Value::Bool(true)),
            false if through && timeout.is_some_and(|timeout| self.passed(call, timeout)) => {
                CallResult::Value(Value::Bool(false))
            }
            _ => CallResult::Again,
        })
    }

    fn ask(&mut self, call: &mut Call<'_>, end: End, pair: &ros::Pair) -> Result<CallResult, Refused> {
        let timeout = seconds(call.arg(2))?.or(self.plant.ros.options.call_timeout.map(|time| time.as_secs_f64()));
        if call.repeat == 0 {
            let bytes = (pair.request.encode)(call.arg(1));
            let bytes = bytes.map_err(|mismatch| format!("{}: {mismatch}", pair.request.name))?;
            *call.scratch = self.plant.ros.ask(end, bytes) as f64;
        }
        if !self.is_through(call) {
            return Ok(CallResult::Again);
        }
        let number = *call.scratch as u64;
        if let Taken::Answer(answer) = self.plant.ros.answer(end, number) {
            return Ok(CallResult::Value(answer));
        }
        match timeout {
            Some(time) if self.passed(call, time) => {
                self.plant.ros.give_up(end, number);
                let name = self.plant.ros.find(end).map(|(_, name)| name.to_owned()).unwrap_or_default();
                Err(format!("{name} has not answered within {time} s"))
            }
            _ => Ok(CallResult::Again),
        }
    }
}

/// Returns the timeout argument of a ROS 2 call in a script \[s\]; `None` if it is not set.
fn seconds(value: &Value) -> Result<Option<f64>, Refused> {
    if *value == Value::None {
        return Ok(None);
    }
    let time = value.number().filter(|time| time.is_finite() && *time >= 0.0);
    time.map(Some).ok_or_else(|| wants("timeout", "seconds, 0 or above", value))
}

fn wants(what: &str, expected: &str, found: &Value) -> Refused {
    format!("{what}: expected {expected}, found {found}")
}

/// Returns the name of a ROS 2 topic or service in a script, with `/` at its beginning.
fn whole_name(value: &Value) -> Result<String, Refused> {
    let expected = "a name such as /cell/ready: letters, digits and '_', no digit first";
    let text = value.text().ok_or_else(|| wants("name", expected, value))?;
    let word = |part: &str| {
        let mut chars = part.chars();
        chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let inner = text.strip_prefix('/').unwrap_or(text);
    if inner.split('/').all(word) { Ok(format!("/{inner}")) } else { Err(wants("name", expected, value)) }
}

/// Returns the quality of service of a publisher or subscriber that a script opens. The defaults are those of Fast DDS:
/// publishers retransmit lost messages, and subscribers do not request it.
fn quality(call: &Call<'_>, publishes: bool) -> Result<Qos, Refused> {
    let word = |at: usize, name: &str, known: &[&str]| {
        let given = call.arg(at).text().and_then(|text| known.iter().position(|word| *word == text));
        given.ok_or_else(|| wants(name, &format!("one of {}", known.join(", ")), call.arg(at)))
    };
    let history = word(2, "history", &["default", "keep_last", "keep_all"])?;
    let depth = call.arg(3).whole().and_then(|depth| u16::try_from(depth).ok());
    let depth = depth.filter(|depth| (1..=DEEPEST).contains(depth));
    let depth = depth.ok_or_else(|| wants("depth", &format!("1 to {DEEPEST}"), call.arg(3)))?;
    let reliability = word(4, "reliability", &["default", "reliable", "best_effort"])?;
    let durability = word(5, "durability", &["default", "transient_local", "volatile"])?;
    for (at, name) in [(6, "deadline"), (7, "lifespan"), (9, "lease_duration")] {
        let time = call.arg(at).number().filter(|time| time.is_finite() && *time >= 0.0);
        time.ok_or_else(|| wants(name, "seconds, 0 or above", call.arg(at)))?;
    }
    word(8, "liveliness", &["default", "automatic", "manual"])?;
    Ok(Qos {
        reliable: if reliability == 0 { publishes } else { reliability == 1 },
        latched: durability == 1,
        depth: match history {
            1 => depth,
            2 => DEEPEST,
            _ => 1,
        },
    })
}
