//! What a run is to do, and who takes part in it.

use std::net::SocketAddr;
use std::path::Path;

use outrigger_config::{
    HostSettings, RunSettings, ServeSettings, SourceInput, SourceSettings, VariableSettings, files,
};

use super::listeners::{Further, Listeners, Listening};
use crate::args::{RunArgs, Web};
use crate::clock::Clock;
use crate::exit::Failure;
use crate::feed::{Feed, What};
use crate::maker::Maker;
use crate::motion::asked::Moving;
use crate::page::{About, Page, Tap};
use crate::recordings::{Kept, Recordings, Whose};
use crate::requests::{Desk, Local, Requests};
use crate::show::Format;

/// Bytes of the recorder: several seconds of the fastest stream in each half.
pub(super) const RECORDER: usize = 8 << 20;
/// More than a recording has before and behind that.
pub(super) const AROUND: usize = 4096;

/// What a configuration says of a run, whatever the controller.
pub(crate) struct Plan {
    /// The controller, for the facts of a recording.
    robot: String,
    pub(super) sources: Vec<SourceSettings>,
    variables: Vec<VariableSettings>,
    pub(super) run: RunSettings,
    pub(super) host: HostSettings,
    serve: ServeSettings,
    /// The configuration as it was written.
    text: String,
    pub(super) format: Format,
    /// Where the page is wanted.
    pub(super) web: Option<Web>,
    /// The time after which it ends by itself.
    pub(super) seconds: Option<u64>,
    /// It is a process of its own, that others can ask.
    own: bool,
    /// The node beside it, and whether it may command.
    #[cfg(feature = "ros2")]
    pub(super) node: Option<(crate::ros2::Settings, bool)>,
}

/// Who takes part in a run beside its operator.
pub(super) struct Beside {
    pub(super) listening: Option<Listening>,
    pub(super) recordings: Option<Recordings>,
}

impl Plan {
    pub(crate) fn new(
        robot: String,
        sources: Vec<SourceSettings>,
        mut run: RunSettings,
        host: HostSettings,
        serve: ServeSettings,
        args: &RunArgs,
    ) -> Result<Self, Failure> {
        if let Some(file) = &args.record {
            run.record = Some(file.clone());
        }
        let path = args.config.display();
        let text = files::read_text(&args.config, files::CONFIGURATION)
            .map_err(|error| Failure::BadInput(format!("cannot read {path}: {error}")))?;
        let format = match Format::choose(args.json) {
            // The view would read the sensor's lines as keys.
            Format::View if sources.iter().any(|source| source.input == SourceInput::Stdin) => Format::Lines,
            format => format,
        };
        Ok(Self {
            robot,
            sources,
            variables: vec![],
            run,
            host,
            serve,
            text,
            format,
            web: args.web,
            seconds: args.seconds,
            own: true,
            #[cfg(feature = "ros2")]
            node: None,
        })
    }

    /// Of a program that has no file of it, and is a process of its `own` that others can ask, or not.
    pub(crate) fn of_program(
        robot: String,
        sources: Vec<SourceSettings>,
        run: RunSettings,
        host: HostSettings,
        format: Format,
        own: bool,
    ) -> Self {
        Self {
            robot,
            sources,
            variables: vec![],
            run,
            host,
            serve: ServeSettings::default(),
            text: String::new(),
            format,
            web: None,
            seconds: None,
            own,
            #[cfg(feature = "ros2")]
            node: None,
        }
    }

    /// The same beside a program on the controller that shares these variables.
    pub(crate) fn with_variables(self, variables: Vec<VariableSettings>) -> Self {
        Self { variables, ..self }
    }

    /// The same beside a node of ROS 2, which may command or not.
    #[cfg(feature = "ros2")]
    pub(crate) fn with_node(self, settings: crate::ros2::Settings, commands: bool) -> Self {
        Self { node: Some((settings, commands)), ..self }
    }

    /// Whether there is one.
    const fn has_node(&self) -> bool {
        #[cfg(feature = "ros2")]
        return self.node.is_some();
        #[cfg(not(feature = "ros2"))]
        false
    }

    /// Variables of RTDE that are asked for beside those of the session.
    pub(super) fn further_variables(&self) -> Vec<String> {
        let recorded = &self.run.record_variables;
        #[cfg(feature = "ros2")]
        if self.node.is_some() {
            return crate::ros2::variables(recorded);
        }
        recorded.clone()
    }

    /// The page that shows it, where one is wanted, with events from `feed`.
    pub(super) fn page<M: Clone + Maker + Send + 'static, const N: usize>(
        &self,
        feed: Option<&Feed>,
    ) -> Option<Result<(Page, Tap<M, N>), Failure>> {
        let (Web(at), feed) = self.web.zip(feed)?;
        let sources = self.sources.iter().map(|source| source.name.clone()).collect();
        Some(Page::start(at, About { command: "run", sources, workpiece: None }, feed.reader()))
    }

    fn record(&self) -> Option<&Path> {
        self.run.record.as_deref()
    }

    /// Takes requests of other processes to the run beside the robot at `seat`, where they are wanted.
    pub(super) fn requests<const N: usize>(
        &self,
        seat: SocketAddr,
        moving: Moving<N>,
        clock: Clock,
    ) -> Option<Result<(Requests, Desk<N>, Local<N>), Failure>> {
        let wanted = self.own && self.run.requests;
        let told = (&*self.sources, &*self.variables);
        wanted.then(|| Requests::start(seat, &self.robot, told, moving, clock))
    }

    /// Runs `session` beside everything that was asked for, with a queue of `entries` for slow readers.
    pub(super) fn carry_out<T>(
        &self,
        clock: Clock,
        entries: usize,
        session: impl AsyncFnOnce(Beside) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let listeners = Listeners::start(
            &self.robot,
            self.record(),
            &self.run.record_variables,
            &self.serve,
            Further { node: self.has_node(), page: self.web.is_some() },
            entries,
            clock,
        )?;
        let listening = listeners.as_ref().map(Listeners::feed);
        if let Some(Listening { feed, progress: Some(_), .. }) = &listening
            && !self.text.is_empty()
        {
            feed.put(clock.now(), What::Configuration(self.text.clone()));
        }
        let recordings = self.recordings().transpose()?;
        let served = crate::runtime::block_on(session(Beside { listening, recordings }));
        // What they listen to has ended: the file is completed, and readers are sent away.
        let recorded = listeners.map_or(Ok(()), |listeners| listeners.finish(self.format));
        if let (Err(Failure::Connection(_)), Some(file)) = (&served, self.record()) {
            // Nothing was heard: the next try may have the name.
            let _ = std::fs::remove_file(file);
        }
        served.and_then(|served| recorded.map(|()| served))
    }

    /// The writer of fallbacks, where they are wanted.
    fn recordings(&self) -> Option<Result<Recordings, Failure>> {
        let directory = self.run.recordings.as_ref()?;
        let files = usize::try_from(self.run.recordings_kept).unwrap_or(usize::MAX);
        let kept = Kept { files, bytes: self.run.recordings_bytes, whose: Whose::Run };
        Some(Recordings::start(directory, RECORDER + AROUND, Some(kept)))
    }
}
