//! What a run is to do, and who takes part in it.

use std::net::SocketAddr;
use std::sync::Arc;

use outrigger_config::{HostSettings, RunSettings, SourceSettings, VariableSettings};

use crate::companion::{Companion, Companions};
use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::motion::asked::Moving;
use crate::record::fallbacks::{Kept, Recordings, Whose};
use crate::requests::{Desk, Local, Requests};
use crate::show::Format;

/// Bytes of the recorder: several seconds of the fastest stream in each half.
pub(super) const RECORDER: usize = 8 << 20;
/// More than a recording has before and behind that.
pub(super) const AROUND: usize = 4096;

/// A run, whatever the controller.
pub struct Plan<const N: usize> {
    /// The controller, as other processes are told.
    robot: String,
    pub(super) sources: Vec<SourceSettings>,
    variables: Vec<VariableSettings>,
    pub(super) run: RunSettings,
    pub(super) host: HostSettings,
    /// The configuration as it was written.
    pub(super) text: String,
    pub(super) format: Format,
    /// The time after which it ends by itself.
    pub(super) seconds: Option<u64>,
    /// Other processes can ask it.
    asked: bool,
    pub(super) companions: Companions<N>,
}

impl<const N: usize> Plan<N> {
    /// Returns the plan of a run of the controller that is called `robot`, which nobody can ask and nobody is beside.
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

    /// Accepts requests of other processes if `asked` and `run.expert.requests`.
    pub fn asked(self, asked: bool) -> Self {
        Self { asked, ..self }
    }

    /// Returns the same with the text of its configuration, for a recording.
    pub fn with_text(self, text: String) -> Self {
        Self { text, ..self }
    }

    /// Returns the same, which ends by itself after `seconds`.
    pub fn ending_after(self, seconds: Option<u64>) -> Self {
        Self { seconds, ..self }
    }

    /// Returns the same beside a program on the controller that shares these variables.
    pub fn with_variables(self, variables: Vec<VariableSettings>) -> Self {
        Self { variables, ..self }
    }

    /// Returns the same with these beside it.
    pub fn with_companions(self, companions: impl IntoIterator<Item = Arc<dyn Companion<N>>>) -> Self {
        Self { companions: self.companions.into_iter().chain(companions).collect(), ..self }
    }

    /// Returns the names of the sensors.
    pub(super) fn source_names(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.name.clone()).collect()
    }

    /// Takes requests to the run beside the robot at `seat`: of other processes where they are wanted, of companions where one
    /// `commands`.
    pub(super) fn requests(
        &self,
        seat: SocketAddr,
        moving: Moving<N>,
        clock: Clock,
        commands: bool,
    ) -> Option<Result<(Requests, Desk<N>, Local<N>), Failure>> {
        let told = (&*self.sources, &*self.variables);
        let listens = self.asked && self.run.requests;
        // The setting of a run that others could ask holds for companions as well.
        let commands = commands && (!self.asked || self.run.requests);
        (listens || commands).then(|| Requests::start(seat, listens, &self.robot, told, moving, clock))
    }

    /// Returns the writer of fallbacks, where they are wanted.
    pub(super) fn recordings(&self) -> Option<Result<Recordings, Failure>> {
        let directory = self.run.recordings.as_ref()?;
        let files = usize::try_from(self.run.recordings_kept).unwrap_or(usize::MAX);
        let kept = Kept { files, bytes: self.run.recordings_bytes, whose: Whose::Run };
        Some(Recordings::start(directory, RECORDER + AROUND, Some(kept)))
    }
}
