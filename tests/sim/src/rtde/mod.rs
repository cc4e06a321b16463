//! The state of Real-Time Data Exchange, port 30004 (`core/docs/protocol/ur-rtde.md`), that all its clients share.
//!
//! The specification does not define the value of a register after its writer has disconnected (here it stays), the
//! number of bytes that a slow reader may leave unread, and more that [`RtdeOptions`] has an option for.

mod inputs;
mod outputs;
mod registers;
mod session;
mod value;

use std::collections::BTreeMap;
use std::time::Duration;

pub use registers::{BITS, NUMBERS, Registers};

use inputs::{Field, Image, Targets};
pub(crate) use outputs::State;
pub(crate) use session::{Context, Deviations, Effect, Session};
use value::Value;

use crate::controller::Conn;
use crate::program::Plant;
use crate::time::SimTime;

/// Properties of RTDE that are not documented or differ between real controllers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtdeOptions {
    /// The highest RTDE protocol version that the controller accepts: 1 or 2. Old software supports only 1.
    pub highest_protocol: u16,
    /// The largest length of the variable names of one RTDE recipe (list of variables) \[bytes\]. `None` depends on the
    /// software: 2048 as in the vendor's guide, and from 5.10 as many as a package holds, because the vendor's tests of
    /// its client library send longer lists to newer simulators.
    pub names: Option<usize>,
    /// `true` if the controller has the RTDE variables whose first software version is not confirmed.
    pub unconfirmed: bool,
    /// `true` if RTDE inputs are accepted before the client has started the output of data.
    pub inputs_before_start: bool,
    /// `true` if the first RTDE data package is sent before the reply to the client's start request.
    pub data_before_start_reply: bool,
    /// `true` if a package that violates the RTDE protocol ends the connection; otherwise the answer is a text message.
    pub closes_on_violation: bool,
    /// `true` if a fieldbus owns the lower RTDE registers, so that RTDE clients cannot write them.
    pub fieldbus: bool,
    /// `true` if the RTDE output registers show the RTDE input registers while no program runs.
    pub echo: bool,
    /// The time after the controller's start at which the RTDE service is restarted once, with its clock from zero.
    /// `None` for no restart.
    pub boot_restart: Option<Duration>,
    /// The largest number of bytes that an RTDE client may have unread; with more, its connection is closed.
    pub buffer: usize,
}

impl Default for RtdeOptions {
    fn default() -> Self {
        Self {
            highest_protocol: 2,
            names: None,
            unconfirmed: true,
            inputs_before_start: true,
            data_before_start_reply: false,
            closes_on_violation: false,
            fieldbus: false,
            echo: false,
            boot_restart: Some(Duration::from_secs(3)),
            buffer: 128 * 1024,
        }
    }
}

/// The action of an RTDE watchdog whose variable was not written in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// An expired watchdog does not stop the program; the controller only sends a text message.
    Ignore,
    /// An expired watchdog pauses the program.
    Pause,
    /// An expired watchdog stops the program.
    Stop,
}

impl WatchdogAction {
    /// Returns the RTDE watchdog action that has this name in URScript.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "ignore" => Some(Self::Ignore),
            "pause" => Some(Self::Pause),
            "stop" => Some(Self::Stop),
            _ => None,
        }
    }
}

/// A watchdog of RTDE writes that a program has set (`rtde_set_watchdog`).
#[derive(Clone, Debug, PartialEq)]
pub struct Watchdog {
    /// The RTDE input variable whose writing the watchdog monitors.
    pub variable: String,
    /// The longest permitted time between two writes of the input variable.
    pub period: Duration,
    /// The action when the variable was not written within the permitted time.
    pub action: WatchdogAction,
    /// The time at which the variable was written last, or the watchdog set.
    pub fed: SimTime,
    /// `true` if the watchdog has acted since the last write of its variable.
    pub expired: bool,
}

/// The RTDE watchdogs of the running program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchdogs(Vec<Watchdog>);

impl Watchdogs {
    /// Adds a watchdog; it replaces an earlier one for the same variable.
    pub(crate) fn set(&mut self, watchdog: Watchdog) {
        self.0.retain(|known| known.variable != watchdog.variable);
        self.0.push(watchdog);
    }

    pub(crate) fn all(&self) -> &[Watchdog] {
        &self.0
    }

    /// Removes all RTDE watchdogs, at the end of the program.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn feed(&mut self, variable: &str, now: SimTime) {
        for watchdog in self.0.iter_mut().filter(|watchdog| watchdog.variable == variable) {
            watchdog.fed = now;
            watchdog.expired = false;
        }
    }

    /// Returns the RTDE watchdogs that have expired, each of them once.
    pub(crate) fn expired(&mut self, now: SimTime) -> Vec<Watchdog> {
        let late = self.0.iter_mut().filter(|watchdog| !watchdog.expired && now.since(watchdog.fed) > watchdog.period);
        late.map(|watchdog| {
            watchdog.expired = true;
            watchdog.clone()
        })
        .collect()
    }
}

/// Returns whether RTDE has an input variable of this name.
pub(crate) fn is_input(name: &str) -> bool {
    Field::named(name).is_some()
}

/// The highest number of stored texts that RTDE clients have sent for the operator.
const LOG: usize = 100;

/// The state that the RTDE clients of one controller share: the owners of input variables, and the written values.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    owners: BTreeMap<String, Conn>,
    image: Image,
    /// Texts that RTDE clients have sent for the operator, the newest last.
    pub(crate) log: Vec<String>,
    /// The speed of the tool in the last published cycle, actual and target \[m/s, rad/s\]; `None` before the first
    /// one.
    tool_speed: Option<[[f64; 6]; 2]>,
}

impl Exchange {
    fn claim(&mut self, variable: String, conn: Conn) {
        self.owners.insert(variable, conn);
    }

    fn owner(&self, variable: &str) -> Option<Conn> {
        self.owners.get(variable).copied()
    }

    /// Releases the RTDE input variables whose owners are connections for which `is_over` returns `true`.
    pub(crate) fn release(&mut self, is_over: impl Fn(Conn) -> bool) {
        self.owners.retain(|_, owner| !is_over(*owner));
    }

    /// Writes the values of one RTDE input package. Returns the errors of the values that are not allowed.
    pub(crate) fn write(&mut self, values: &[(Field, Value)], plant: &mut Plant) -> Vec<String> {
        for (field, _) in values {
            plant.watchdogs.feed(&field.name(), plant.now);
        }
        let Plant { io, robot, force, inputs: registers, .. } = plant;
        self.image.apply(values, &mut Targets { io, robot, registers, external_wrench: &mut force.external })
    }

    pub(crate) fn log(&mut self, text: String) {
        if self.log.len() == LOG {
            self.log.remove(0);
        }
        self.log.push(text);
    }

    /// Returns the acceleration of the tool, actual and target: the change of `speed` since the last published cycle,
    /// divided by the time `dt` between them \[s\].
    pub(crate) fn acceleration(&mut self, speed: [[f64; 6]; 2], dt: f64) -> [[f64; 6]; 2] {
        let before = self.tool_speed.replace(speed).unwrap_or(speed);
        std::array::from_fn(|which| std::array::from_fn(|axis| (speed[which][axis] - before[which][axis]) / dt))
    }
}
