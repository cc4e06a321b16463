//! The settings of a run, and its participants.

use std::net::SocketAddr;
use std::sync::Arc;

use outrigger_config::{HostSettings, RunSettings, SourceSettings, VariableSettings};

use crate::companion::{Companion, Companions};
use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::motion::requested_motion::Moving;
use crate::record::fallbacks::{Kept, RecordingOwner, Recordings};
use crate::requests::{Local, RequestQueue, Requests};
use crate::show::Format;

/// The size of the engine's recorder of inputs and outputs \[B\]. Each of its two halves has room for several seconds
/// at the highest rate of robot states.
pub(super) const RECORDER: usize = 8 << 20;
/// The maximum size of the header and the end of the recording of a fallback (end of commanding by a fault) together
/// \[B\].
pub(super) const AROUND: usize = 4096;

/// The settings of a run with any controller, and its companions (components that run beside it, e.g. a recording).
pub struct Plan<const N: usize> {
    /// The name of the controller in status answers to clients.
    robot: String,
    pub(super) sources: Vec<SourceSettings>,
    variables: Vec<VariableSettings>,
    pub(super) run: RunSettings,
    pub(super) host: HostSettings,
    /// The text of the run's configuration file.
    pub(super) text: String,
    pub(super) format: Format,
    /// The time after which the run ends by itself \[s\]. `None` if it does not.
    pub(super) seconds: Option<u64>,
    /// `true` if the run accepts requests of other processes through `outrigger ctl`.
    asked: bool,
    pub(super) companions: Companions<N>,
}

impl<const N: usize> Plan<N> {
    /// Creates the settings of a run of the controller `robot`, without requests of other processes and without
    /// companions (components that run beside it, e.g. a recording).
    pub fn new(
        robot: String,
        sources: Vec<SourceSettings>,
        run: RunSettings,
        host: HostSettings,
        format: Format,
    ) -> Self {
        let (variables, text, seconds, companions) = (vec![], String::new(), None, vec![]);
        let format = format.possible();
        Self { robot, sources, variables, run, host, text, format, seconds, asked: false, companions }
    }

    /// Makes the run accept requests of other processes if `asked` is `true` and `run.expert.requests` permits it.
    pub fn asked(self, asked: bool) -> Self {
        Self { asked, ..self }
    }

    /// Adds the text of the configuration file, for recordings.
    pub fn with_text(self, text: String) -> Self {
        Self { text, ..self }
    }

    /// Makes the run end by itself after `seconds`, if given.
    pub fn ending_after(self, seconds: Option<u64>) -> Self {
        Self { seconds, ..self }
    }

    /// Adds the variables that a program on the controller shares.
    pub fn with_variables(self, variables: Vec<VariableSettings>) -> Self {
        Self { variables, ..self }
    }

    /// Adds companions to the run: components beside it (e.g. a recording) that read its session's traffic and events.
    pub fn with_companions(self, companions: impl IntoIterator<Item = Arc<dyn Companion<N>>>) -> Self {
        Self { companions: self.companions.into_iter().chain(companions).collect(), ..self }
    }

    /// Returns the names of the sensors, in the order of their numbers.
    pub(super) fn source_names(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.name.clone()).collect()
    }

    /// Starts to accept requests to the run of the robot that the address `seat` identifies: of other processes if that
    /// is configured, and of companions (components that run beside it, e.g. a page) if one of them `commands`.
    pub(super) fn requests(
        &self,
        seat: SocketAddr,
        moving: Moving<N>,
        clock: Clock,
        commands: bool,
    ) -> Option<Result<(Requests, RequestQueue<N>, Local<N>), Failure>> {
        let told = (&*self.sources, &*self.variables);
        let listens = self.asked && self.run.requests;
        // This setting applies to companions as well, in a run that accepts other processes.
        let commands = commands && (!self.asked || self.run.requests);
        (listens || commands).then(|| Requests::start(seat, listens, &self.robot, told, moving, clock))
    }

    /// Starts the thread that writes recordings of fallbacks (ends of commanding by a fault). `None` if it is not
    /// configured.
    pub(super) fn recordings(&self) -> Option<Result<Recordings, Failure>> {
        let directory = self.run.recordings.as_ref()?;
        let files = usize::try_from(self.run.recordings_kept).unwrap_or(usize::MAX);
        let kept = Kept { files, bytes: self.run.recordings_bytes, whose: RecordingOwner::Run };
        Some(Recordings::start(directory, RECORDER + AROUND, Some(kept)))
    }
}
