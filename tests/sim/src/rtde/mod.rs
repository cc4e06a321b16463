//! Real-Time Data Exchange, port 30004 (`core/docs/protocol/ur-rtde.md`): what all its clients share.
//!
//! The specification leaves open what happens to a register whose writer has gone (here it keeps its value), how much a
//! slow reader may leave unread, and more that [`RtdeOptions`] has a choice for.

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

/// What is not known of real controllers, or differs between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtdeOptions {
    /// The highest protocol version that is accepted: 1 or 2. Old software knows only 1.
    pub highest_protocol: u16,
    /// Bytes of names that one recipe may have; by version where `None`: 2048, as the vendor's guide has it, and from 5.10
    /// as many as a package carries, for the vendor's tests of its client library ask newer simulators for more.
    pub names: Option<usize>,
    /// Whether variables exist whose first software is not confirmed.
    pub unconfirmed: bool,
    /// Whether inputs are taken before the start.
    pub inputs_before_start: bool,
    /// Whether the first data leaves before the reply to the start.
    pub data_before_start_reply: bool,
    /// Whether a package that breaks the rules ends the connection; else it is answered by a text.
    pub closes_on_violation: bool,
    /// Whether a fieldbus owns the lower registers.
    pub fieldbus: bool,
    /// Whether output registers show what is in the input registers while no program runs.
    pub echo: bool,
    /// How long after the controller's start the service is restarted once, its clock from zero; `None`: it is not.
    pub boot_restart: Option<Duration>,
    /// Bytes that a client may leave unread before its connection is closed.
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

/// What a watchdog does when its variable was not written in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Nothing.
    Ignore,
    /// The program is paused.
    Pause,
    /// The program is stopped.
    Stop,
}

impl WatchdogAction {
    /// The action of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "ignore" => Some(Self::Ignore),
            "pause" => Some(Self::Pause),
            "stop" => Some(Self::Stop),
            _ => None,
        }
    }
}

/// A watchdog that a program has set (`rtde_set_watchdog`).
#[derive(Clone, Debug, PartialEq)]
pub struct Watchdog {
    /// The variable it watches.
    pub variable: String,
    /// Longest time between two writes.
    pub period: Duration,
    /// What happens after it.
    pub action: WatchdogAction,
    /// When the variable was written last, or the watchdog set.
    pub fed: SimTime,
    /// Whether it has acted since.
    pub expired: bool,
}

/// The watchdogs of the running program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchdogs(Vec<Watchdog>);

impl Watchdogs {
    /// One per variable; a second takes the place of the first.
    pub(crate) fn set(&mut self, watchdog: Watchdog) {
        self.0.retain(|known| known.variable != watchdog.variable);
        self.0.push(watchdog);
    }

    pub(crate) fn all(&self) -> &[Watchdog] {
        &self.0
    }

    /// The program has ended.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    fn feed(&mut self, variable: &str, now: SimTime) {
        for watchdog in self.0.iter_mut().filter(|watchdog| watchdog.variable == variable) {
            watchdog.fed = now;
            watchdog.expired = false;
        }
    }

    /// Those whose time is over, each said once.
    pub(crate) fn expired(&mut self, now: SimTime) -> Vec<Watchdog> {
        let late = self.0.iter_mut().filter(|watchdog| !watchdog.expired && now.since(watchdog.fed) > watchdog.period);
        late.map(|watchdog| {
            watchdog.expired = true;
            watchdog.clone()
        })
        .collect()
    }
}

/// Whether there is an input of this name.
pub(crate) fn is_input(name: &str) -> bool {
    Field::named(name).is_some()
}

/// Texts of clients that are kept.
const LOG: usize = 100;

/// What the clients of one controller share: who owns which input, and what was written.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    owners: BTreeMap<String, Conn>,
    image: Image,
    /// Texts of clients, the newest last.
    pub(crate) log: Vec<String>,
    /// Speed of the tool in the cycle before, actual and target.
    tool_speed: Option<[[f64; 6]; 2]>,
}

impl Exchange {
    fn claim(&mut self, variable: String, conn: Conn) {
        self.owners.insert(variable, conn);
    }

    fn owner(&self, variable: &str) -> Option<Conn> {
        self.owners.get(variable).copied()
    }

    /// Inputs of connections that are over are free.
    pub(crate) fn release(&mut self, is_over: impl Fn(Conn) -> bool) {
        self.owners.retain(|_, owner| !is_over(*owner));
    }

    /// Values of one package; says which are not allowed.
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

    /// How the speed of the tool changes, from one published cycle to the next.
    pub(crate) fn acceleration(&mut self, speed: [[f64; 6]; 2], dt: f64) -> [[f64; 6]; 2] {
        let before = self.tool_speed.replace(speed).unwrap_or(speed);
        std::array::from_fn(|which| std::array::from_fn(|axis| (speed[which][axis] - before[which][axis]) / dt))
    }
}
