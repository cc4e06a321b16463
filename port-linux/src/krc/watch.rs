//! Listening to a KRC for commands that only look: `monitor`, `doctor` and `record`.
//!
//! Each measurement is answered by the KRC's own setpoint, which moves nothing: an unanswered KRC rates its link
//! UNACCEPTABLE, and nobody could see how good it is. Nothing is asked of the KRL program.

use outrigger_core::engine::krc::KrcOptions;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use outrigger_core::engine::krc::{KrcConfig, KrcEngine, KrlConvention};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::time::{Duration, Instant};

use super::panel::Panel;
use super::{Remote, words};
use crate::clock::Clock;
use crate::config::RobotAddress;
use crate::exit::Failure;
use crate::feed::Feed;
use crate::panel::Wish;
use crate::record::Progress;
use crate::show::Format;

/// A law that is never asked: nothing here requests.
pub(crate) type Idle = JointServo<7>;

/// Longest wait for the first measurement.
pub(crate) const FIRST_MEASUREMENT: Duration = Duration::from_secs(10);

/// Who is listened to, and how it is shown.
pub(crate) struct Listener {
    clock: Clock,
    remote: Remote<Idle>,
    panel: Panel,
    end_at: Option<Instant>,
    progress: Option<Arc<Progress>>,
}

/// Whom to listen to: the KRC's address, any where it is 0.0.0.0.
///
/// # Errors
/// [`Failure::Usage`] for a port base, which a KRC does not have; [`Failure::Connection`] for a name nobody has.
pub(crate) fn peer(robot: &RobotAddress) -> Result<Option<IpAddr>, Failure> {
    if robot.port(crate::config::FIRST_PORT) != crate::config::FIRST_PORT {
        return Err(Failure::Usage(format!(
            "'{robot}' has a port, and a KRC is not connected to: it sends. Give its address alone, and with --listen where \
             its measurements arrive"
        )));
    }
    let found = robot.resolve(crate::config::FIRST_PORT).map_err(|error| {
        Failure::Connection(format!("cannot find the host '{}': {error}; give the KRC's address", robot.host()))
    })?;
    Ok(Some(found.ip()).filter(|ip| !ip.is_unspecified()))
}

impl Listener {
    /// Begins to listen.
    ///
    /// # Errors
    /// Those of [`peer`] and [`Remote::open`].
    pub(crate) async fn open(
        title: &'static str,
        format: Format,
        clock: Clock,
        robot: &RobotAddress,
        listen: SocketAddr,
        seconds: Option<u64>,
    ) -> Result<Self, Failure> {
        let config = KrcConfig {
            peer: KrcOptions { address: peer(robot)?, handshake: KrlConvention::None, ..KrcOptions::default() },
            ..KrcConfig::default()
        };
        let law = Idle::new(Reference::Hold, JointServoConfig::default());
        let session = KrcEngine::new(config, law, ()).map_err(|error| Failure::BadInput(error.to_string()))?;
        let remote = Remote::open(listen, session, clock, None).await?;
        let panel = Panel::new(title, format, clock, robot.to_string())?;
        let end_at = seconds.map(|seconds| clock.now() + Duration::from_secs(seconds));
        Ok(Self { clock, remote, panel, end_at, progress: None })
    }

    /// From now on everything is put into `feed`; ends where `progress` has failed.
    #[must_use]
    pub(crate) fn recorded(mut self, feed: Feed, progress: Arc<Progress>) -> Self {
        self.remote.feed(feed);
        self.progress = Some(progress);
        self
    }

    /// Listens until the operator, the time or the disk ends it.
    ///
    /// # Errors
    /// [`Failure::Connection`] where nothing was heard.
    pub(crate) async fn run(mut self) -> Result<Remote<Idle>, Failure> {
        let first_by = self.clock.now() + FIRST_MEASUREMENT;
        loop {
            let unheard = self.remote.session().peer().counts().measurements == 0;
            let deadline = if unheard { Some(first_by) } else { None };
            let snapshot = self.panel.next_snapshot();
            let latest = [self.end_at, deadline].into_iter().flatten().fold(snapshot, Instant::min);
            tokio::select! {
                // In no order: datagrams that never end keep nobody else waiting.
                turned = self.remote.turn(latest) => turned?,
                wish = self.panel.next() => if let Wish::End(_) = wish { break },
            }
            while let Some(event) = self.remote.next_event() {
                self.panel.event(&self.remote, &event);
            }
            let now = self.clock.now();
            let progress = self.progress.as_ref();
            self.panel.observe(&self.remote, now, || progress.map_or_else(Vec::new, |p| crate::record::said(p)));
            let over = self.end_at.is_some_and(|at| now >= at) || deadline.is_some_and(|at| now >= at);
            if over || self.progress.as_ref().is_some_and(|progress| progress.has_failed()) {
                break;
            }
        }
        self.panel.finish();
        if self.remote.session().peer().counts().measurements == 0 {
            return Err(words::unheard(self.remote.session(), self.remote.listens()));
        }
        Ok(self.remote)
    }
}
