//! The Robot API over HTTP.

use std::net::SocketAddr;

use outrigger_core::client::dashboard::Timeouts;
use outrigger_core::robot::SoftwareVersion;
use outrigger_core::time::Duration;
use outrigger_core::wire::dashboard::{Refusal, Reply, Request, RequestKind};
use outrigger_core::wire::primary::Text;

use super::robot_api::{self, BASE, Call, DESCRIPTION};
use super::transport::{Transport, Trouble};
use crate::clock::std_duration;

/// The longest answer that is read \[B\]: the description is the longest.
const LONGEST: u64 = 16 << 20;

/// The Robot API of one controller.
#[derive(Debug)]
pub(super) struct RobotApi {
    at: SocketAddr,
    agent: ureq::Agent,
    software: SoftwareVersion,
    timeouts: Timeouts,
    /// What is handed out: the body, and the same in the words of a dashboard.
    answer: (String, String),
    /// What was asked, and its call where there is one.
    asked: Option<(RequestKind, Option<Call>)>,
}

/// An answer over HTTP: its status, and its text.
type Answered = (u16, String);

impl RobotApi {
    /// The API at this address: asks for its description, which tells its generation.
    ///
    /// # Errors
    /// [`Trouble`] where nobody, or no Robot API, is there.
    pub(super) async fn connect(at: SocketAddr, timeouts: Timeouts) -> Result<Self, Trouble> {
        // A robot is on this network: no proxy is asked for it, and nobody else answers in its place.
        let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).max_redirects(0).build();
        let software = SoftwareVersion::new(10, 11);
        let mut api = Self { at, agent: agent.into(), software, timeouts, answer: Default::default(), asked: None };
        let (status, description) = api.send(Call::Get(DESCRIPTION), timeouts.greeting).await?;
        match robot_api::software(&description) {
            Some(software) if status < 300 => api.software = software,
            _ => {
                return Err(Trouble(format!(
                    "{at} has no Robot API (status {status}): it comes with PolyScope X 10.11; is it switched on in the \
                     security settings?"
                )));
            }
        }
        Ok(api)
    }

    /// The oldest software with this API.
    #[must_use]
    pub(super) const fn software(&self) -> SoftwareVersion {
        self.software
    }

    /// One exchange, on a thread that may wait.
    async fn send(&self, call: Call, limit: Duration) -> Result<Answered, Trouble> {
        let (agent, at) = (self.agent.clone(), self.at);
        let exchange = tokio::task::spawn_blocking(move || exchange(&agent, at, &call, std_duration(limit)));
        let answered = exchange.await.map_err(|error| Trouble(format!("the request was given up: {error}")))?;
        answered.map_err(|error| {
            let at = self.at;
            Trouble(match error {
                ureq::Error::Timeout(_) => {
                    format!("no answer from http://{at}{BASE} within {} s", limit.as_secs_f64())
                }
                ureq::Error::Io(error) => crate::net::cannot_connect(at, &error),
                other => format!("http://{at}{BASE}: {other}"),
            })
        })
    }

    /// The program is to run: to go on with a paused one is `resume` here.
    async fn play(&self) -> Result<Option<Call>, Trouble> {
        let asked = Call::Get(robot_api::PROGRAM_STATE);
        let (_, body) = self.send(asked, self.timeouts.of(RequestKind::ProgramState)).await?;
        let state = robot_api::line(RequestKind::ProgramState, &body).unwrap_or_default();
        Ok(robot_api::program(if state.eq_ignore_ascii_case("PAUSED") { "resume" } else { "play" }))
    }

    /// Whether the controller says that it is not in remote control, where it has a word for it.
    async fn is_in_local_control(&self) -> bool {
        let asked = RequestKind::IsInRemoteControl;
        if asked.check(self.software).is_err() {
            return false;
        }
        let answered = self.send(Call::Get(robot_api::CONTROL_MODE), self.timeouts.of(asked)).await;
        answered.is_ok_and(|(_, body)| robot_api::line(asked, &body).as_deref() == Some("false"))
    }
}

fn exchange(
    agent: &ureq::Agent,
    at: SocketAddr,
    call: &Call,
    limit: std::time::Duration,
) -> Result<Answered, ureq::Error> {
    let url = |path: &str| format!("http://{at}{BASE}{path}");
    let mut response = match call {
        Call::Get(path) => agent.get(url(path)).config().timeout_global(Some(limit)).build().call()?,
        Call::Put(path, body) => agent
            .put(url(path))
            .config()
            .timeout_global(Some(limit))
            .build()
            .header("Content-Type", "application/json")
            .send(body)?,
    };
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(LONGEST).lossy_utf8(true).read_to_string()?;
    Ok((status, body))
}

impl Transport for RobotApi {
    fn ask(&mut self, request: Request<'_>) {
        self.asked = Some((request.kind(), robot_api::call(&request, self.software)));
    }

    async fn answer<R>(&mut self, read: impl FnOnce(&Reply<'_>) -> R) -> Result<R, Trouble> {
        let Some((kind, call)) = self.asked.take() else { return Err(Trouble("nothing was asked".to_owned())) };
        let call = if kind == RequestKind::Play { self.play().await? } else { call };
        let Some(call) = call else {
            return Ok(read(&Reply::Refused(Refusal::NotUnderstood(Text(b"the Robot API offers nothing for it")))));
        };
        let (status, body) = self.send(call, self.timeouts.of(kind)).await?;
        if (200..300).contains(&status) {
            let line = robot_api::line(kind, &body).unwrap_or_default();
            self.answer = (body, line);
            return Ok(read(&robot_api::reply(kind, &self.answer.0, &self.answer.1)));
        }
        if kind.needs_remote_control() && self.is_in_local_control().await {
            return Ok(read(&Reply::Refused(Refusal::NeedsRemoteControl)));
        }
        self.answer.0 = robot_api::refusal(status, &body);
        Ok(read(&robot_api::refused(&self.answer.0)))
    }
}
