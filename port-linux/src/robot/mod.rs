//! The main interface of this library: a robot, a law, and its sensors.

mod controller_kinds;
mod follow;
mod goal_move;
mod play;
mod sensor;
mod session_handle;
mod states;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use outrigger_config::{End, HostSettings, RunSettings, SourceSettings, Start};
use outrigger_core::engine::{Config, Controller};
use outrigger_core::law::Law;
use outrigger_core::mode::OperatorConfig;
use outrigger_wire::time::Duration;

use self::controller_kinds::{Job, SessionRunner};
pub use self::follow::{Followed, Stopped};
pub use self::goal_move::Arrival;
pub use self::sensor::Sensor;
pub use self::session_handle::{Ended, Running};
pub use self::states::States;
use crate::boxed_law::BoxedLaw;
use crate::companion::{Companion, Companions};
use crate::exit::Failure;
pub use crate::run::state_publisher::SessionState;
use crate::show::Format;

/// A robot with `N` joints, with the settings of its sessions. Created by [`Robot::ur`] or [`Robot::krc`].
///
/// Nothing is sent to the robot before a session starts, e.g. by [`run`](Self::run), [`start`](Self::start) or
/// [`states`](Self::states). From then on events are printed to standard error, one per line, unless
/// [`quiet`](Self::quiet) is used. The most important ones are the preconditions that a request is waiting for.
pub struct Robot<const N: usize, P: Controller<N>> {
    name: String,
    config: Config<N, P::Options>,
    host: HostSettings,
    run: RunSettings,
    format: Format,
    asked: bool,
    motion: Option<String>,
    companions: Companions<N>,
    beside: Arc<dyn SessionRunner<N, P>>,
}

impl<const N: usize, P: Controller<N> + 'static> Robot<N, P> {
    fn new(name: String, config: Config<N, P::Options>, beside: Arc<dyn SessionRunner<N, P>>) -> Self {
        let run = RunSettings { request: Start::Start, end: End::Over, ..RunSettings::default() };
        let (host, format) = (HostSettings::default(), Format::Remarks);
        Self { name, config, host, run, format, asked: false, motion: None, companions: vec![], beside }
    }

    /// Sets the engine's configuration: limits, link, modes, and the options of this kind of controller. Its `sources`
    /// are ignored: the sensors of a session are those passed to [`run`](Self::run) or [`start`](Self::start).
    #[must_use]
    pub fn with_config(mut self, config: Config<N, P::Options>) -> Self {
        self.config = config;
        self
    }

    /// Returns the engine's configuration for sessions with this robot.
    #[must_use]
    pub const fn config(&self) -> &Config<N, P::Options> {
        &self.config
    }

    /// Sets the scheduling, the processor and the locked memory that are requested for the thread that commands. If
    /// the operating system refuses one of them, the session fails.
    #[must_use]
    pub fn with_host(mut self, host: HostSettings) -> Self {
        self.host = host;
        self
    }

    /// Sets the time for which a request to command waits for unmet preconditions. The default is 60 s, the maximum an
    /// hour.
    #[must_use]
    pub fn start_within(mut self, time: std::time::Duration) -> Self {
        self.run.start_within = Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        self
    }

    /// Records all traffic of the links, and the engine's inputs and outputs, to this file, like
    /// `outrigger run --record`.
    #[cfg(feature = "record")]
    #[must_use]
    pub fn recording_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.run.record = Some(file.into());
        self
    }

    /// Writes a recording of each fallback (end of commanding by a fault) into this directory. `outrigger replay` runs
    /// such a recording again.
    #[must_use]
    pub fn recording_fallbacks_to(mut self, directory: impl Into<PathBuf>) -> Self {
        self.run.recordings = Some(directory.into());
        self
    }

    /// Runs `companion`, e.g. a recording or a web page, beside each session that commands, after the companions added
    /// before it.
    #[must_use]
    pub fn with_companion(mut self, companion: impl Companion<N> + 'static) -> Self {
        self.companions.push(Arc::new(companion));
        self
    }

    /// Makes the sessions of [`start`](Self::start) begin without a request to command: the robot is only observed until
    /// the handle or a companion requests commanding.
    #[must_use]
    pub const fn awaiting_request(mut self) -> Self {
        self.run.request = Start::Operator;
        self
    }

    /// Makes the session accept requests of other processes through the command `outrigger ctl`, like `outrigger run`.
    #[must_use]
    pub const fn answering(mut self) -> Self {
        self.asked = true;
        self
    }

    /// Puts this name, such as that of a file, in front of error messages about a motion.
    #[must_use]
    pub fn naming_the_motion(mut self, name: String) -> Self {
        self.motion = Some(name);
        self
    }

    /// Returns the error for a motion that the arm cannot follow, with the description `what`.
    fn unfit(&self, what: impl fmt::Display) -> Failure {
        Failure::BadInput(match &self.motion {
            Some(motion) => format!("{motion}: {what}"),
            None => what.to_string(),
        })
    }

    /// Checks that all companions of a session (recordings, pages, readers) will be able to start.
    fn check_companions(&self) -> Result<(), Failure> {
        self.companions().iter().try_for_each(|companion| companion.check())
    }

    /// Returns all companions of a session (components that run beside it). The recording is first, if there is one.
    fn companions(&self) -> Companions<N> {
        #[cfg(feature = "record")]
        if let Some(path) = &self.run.record {
            let recording = crate::companion::Recording::new(path.clone(), self.run.record_variables.clone());
            let recording: Arc<dyn Companion<N>> = Arc::new(recording);
            return std::iter::once(recording).chain(self.companions.iter().cloned()).collect();
        }
        self.companions.clone()
    }

    /// Disables the output of the session's events to standard error.
    #[must_use]
    pub const fn quiet(mut self) -> Self {
        self.format = Format::Silent;
        self
    }

    /// Requests commanding once, moves the arm by `law` with the readings of `sensors`, and returns when the motion has
    /// ended and the arm is at standstill: after the end of the law's motion, after a fallback (end of commanding by a
    /// fault), or after a release. A release is a signal (SIGINT, SIGTERM, SIGHUP), or an input of the robot if the
    /// configuration has one. A second request is never made.
    ///
    /// `sensors` is one [`Sensor`], an array or list of up to four, or `None`. The arm moves only while the readings
    /// of all sensors are fresh, and the law receives all of them.
    ///
    /// From this call on, signals are handled by this library for the life of the process. A second signal ends the
    /// process immediately.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] and [`Failure::BadInput`] for arguments that are not valid and for what the
    /// operating system refuses; [`Failure::Connection`] if there was no session within 10 s, or if another process
    /// of this machine commands the robot; [`Failure::Fault`], with the unmet preconditions, if the request was not
    /// granted within [`start_within`](Self::start_within).
    pub fn run<L>(&self, law: L, sensors: impl IntoIterator<Item = Sensor>) -> Result<Ended, Failure>
    where
        L: Law<N> + Send + 'static,
    {
        Running::start(&self.beside, self.job(law, sensors)?, true)?.wait()
    }

    /// Runs a session in a thread of its own. Signals are not handled. The handle reports the state, and has the
    /// functions of an operator. After a fallback (end of commanding by a fault) or a release (requested end) the
    /// session continues without motion, until the handle requests commanding again, stops it, or is dropped.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] and [`Failure::BadInput`] for arguments that are not valid. All other errors are
    /// returned by [`Running::stop`] and [`Running::wait`].
    pub fn start<L>(&self, law: L, sensors: impl IntoIterator<Item = Sensor>) -> Result<Running<N, P::Event>, Failure>
    where
        L: Law<N> + Send + 'static,
    {
        self.start_job(self.job(law, sensors)?)
    }

    /// Runs a session like [`start`](Self::start), with the law and the sensors of a configuration.
    ///
    /// # Errors
    /// Returns the errors of [`start`](Self::start).
    pub fn start_configured(
        &self,
        law: BoxedLaw<N>,
        sources: Vec<SourceSettings>,
    ) -> Result<Running<N, P::Event>, Failure> {
        self.start_job(self.job_with(law, sources)?)
    }

    fn start_job(&self, mut job: Job<N, P>) -> Result<Running<N, P::Event>, Failure> {
        job.run.end = End::Never;
        Running::start(&self.beside, job, false)
    }

    /// Reads the robot's states without requesting anything. A KRC is answered with its own setpoint, which moves
    /// nothing.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if the operating system starts no thread. All other errors are returned with the
    /// first state.
    pub fn states(&self) -> Result<States<N>, Failure> {
        self.states_in(self.format)
    }

    fn states_in(&self, format: Format) -> Result<States<N>, Failure> {
        States::start(&self.beside, self.config, format)
    }

    fn job<L>(&self, law: L, sensors: impl IntoIterator<Item = Sensor>) -> Result<Job<N, P>, Failure>
    where
        L: Law<N> + Send + 'static,
    {
        let numbered = (0..).zip(sensors).map(|(number, sensor): (u8, Sensor)| sensor.settings(number));
        let sources: Vec<SourceSettings> = numbered.collect::<Result<_, _>>()?;
        let ids = sources.iter().map(|source| source.judged.id).collect();
        self.job_with(BoxedLaw::sensing(law, ids), sources)
    }

    fn job_with(&self, law: BoxedLaw<N>, sources: Vec<SourceSettings>) -> Result<Job<N, P>, Failure> {
        let mut config = self.config;
        let room = config.sources.len();
        if sources.len() > room {
            return Err(Failure::Usage(format!("found {} sensors, expected at most {room}", sources.len())));
        }
        config.sources = std::array::from_fn(|number| sources.get(number).map(|source| source.judged));
        config.operator = OperatorConfig { start_within: self.run.asks_within(), ..config.operator };
        Ok(Job {
            robot: self.name.clone(),
            config,
            law,
            sources,
            run: self.run.clone(),
            host: self.host.clone(),
            format: self.format,
            task: None,
            asked: self.asked,
            companions: self.companions(),
        })
    }
}

impl<const N: usize, P: Controller<N>> fmt::Debug for Robot<N, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Robot").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "record"))]
mod tests {
    use outrigger_core::trajectory::{Setpoint, Waypoint};
    use outrigger_wire::robot::JointPositions;

    use super::*;
    use crate::motion::Motion;

    #[test]
    fn a_session_requests_to_command_by_itself_unless_it_awaits_a_request() {
        let robot = || Robot::ur("127.0.0.1:1").expect("an address").quiet();
        let within = |robot: Robot<6, outrigger_core::engine::ur::Ur<'static>>| {
            use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
            let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
            robot.job(law, None).expect("a job").config.operator.start_within
        };
        assert_eq!(within(robot()), Some(Duration::from_secs(60)));
        assert_eq!(within(robot().awaiting_request()), None);
    }

    #[test]
    fn a_recording_that_cannot_be_written_is_named_before_the_robot_is_asked() {
        let folder = std::env::temp_dir().join(format!("outrigger-no-folder-{}", std::process::id()));
        let path = folder.join("there.mcap");
        let at =
            |micros| Waypoint { setpoint: Setpoint::default(), accelerations: None, at: Duration::from_micros(micros) };
        let motion = Motion::<6>::through(vec![at(0), at(1_000_000)]).expect("a motion");
        let robot = Robot::ur("127.0.0.1:1").expect("an address").quiet().recording_to(&path);
        let robot = robot.naming_the_motion("swing.csv".into());
        for failure in [
            robot.follow(&motion).expect_err("no folder"),
            robot.play(&motion).expect_err("no folder"),
            robot.move_to(JointPositions::ZERO, 0.5, 0.8).expect_err("no folder"),
        ] {
            let said = failure.to_string();
            assert!(failure.code() == 1 && said.starts_with(&format!("cannot create {}: ", path.display())), "{said}");
        }
        assert_eq!(robot.unfit("found no waypoint").to_string(), "swing.csv: found no waypoint");
    }
}
