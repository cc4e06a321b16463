//! Programs and dashboard requests for a controller of Universal Robots.

use std::net::SocketAddr;
use std::time::Duration;

use outrigger::Failure;
use outrigger::config::RobotAddress;
use outrigger::core::client::dashboard::{Client, Timeouts};
use outrigger::core::client::robot_api;
use outrigger::core::client::script::{ScriptFile, Upload, UploadConfig, UploadEvent};
use outrigger::dashboard::connection::{Connection, LINE_MEMORY};
use outrigger::dashboard::reply_text::{readable, words};
use outrigger::dashboard::robot_api_port;
use outrigger::dashboard::transport::{Transport, software};
use outrigger::exit::Outcome;
use outrigger::host::clock::Clock;
use outrigger::host::target::Target;
use outrigger::requests::{UploadGuard, UploadPermit};
use outrigger::script::{UploadListener, Words, upload};
use outrigger::wire::dashboard::{PORT, Reply, Request};
use outrigger::wire::robot::SoftwareVersion;

/// The interval at which an upload looks for a reason to end.
const LOOK: Duration = Duration::from_millis(20);

/// Sends a dashboard request to the controller: to its dashboard server, or to the Robot API of PolyScope X. Returns its
/// answer as text.
/// If `is_stopped` returns `true` meanwhile, the answer is not awaited.
pub(crate) fn dashboard(
    address: &str,
    request: Request<'_>,
    mut is_stopped: impl FnMut() -> bool,
) -> Result<String, Failure> {
    let address: RobotAddress = address.parse().map_err(Failure::Usage)?;
    let target = Target::resolve(&address)?;
    let stopped = async {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            looks.tick().await;
            if is_stopped() {
                return Err(Failure::Interrupted("the answer was not awaited".into()));
            }
        }
    };
    outrigger::host::runtime::one_threaded()?.block_on(async {
        tokio::select! {
            answer = ask(&address, &target, request) => answer,
            stopped = stopped => stopped,
        }
    })
}

async fn ask(address: &RobotAddress, target: &Target, request: Request<'_>) -> Result<String, Failure> {
    let clock = Clock::start();
    {
        let timeouts = Timeouts::default();
        let mut memory = vec![0; LINE_MEMORY];
        let mut server = Connection::new(target.socket(PORT), clock, Client::new(&mut memory, timeouts));
        let nobody = match server.connect().await {
            Ok(()) => {
                let version = software(&mut server).await?;
                return answer(&mut server, version, request).await;
            }
            Err(trouble) => trouble,
        };
        let at = SocketAddr::new(target.ip, robot_api_port(address));
        let (host, mut window) = (at.to_string(), vec![0; LINE_MEMORY]);
        let mut api = Connection::new(at, clock, robot_api::Client::new(&mut window, &host, timeouts)).over_http();
        let connected = api.connect().await;
        match (connected, api.service().software()) {
            (Ok(()), Some(version)) => answer(&mut api, version, request).await,
            (Err(neither), _) => Err(Failure::Connection(format!("{nobody}. No Robot API either: {neither}"))),
            (Ok(()), None) => Err(Failure::Connection(nobody.to_string())),
        }
    }
}

async fn answer(
    transport: &mut impl Transport,
    version: SoftwareVersion,
    request: Request<'_>,
) -> Result<String, Failure> {
    let kind = request.kind();
    kind.check(version).map_err(|unsupported| Failure::Usage(unsupported.to_string()))?;
    let answer = transport.execute(request, |reply| match reply {
        Reply::Refused(_) => Err(Failure::Fault(format!("'{}': {}", kind.words(), words(reply)))),
        Reply::Other(text) => Err(Failure::Fault(format!("'{}': unknown reply: {}", kind.words(), readable(*text)))),
        reply => Ok(words(reply)),
    });
    answer.await?
}

/// The listener of an upload. It sends the program only with a permit of the session, if one is needed.
struct Listener<'p> {
    permit: Option<&'p UploadPermit>,
    guard: Option<UploadGuard>,
    is_sent: bool,
    texts: Words<'p>,
    trouble: Option<String>,
}

impl UploadListener for Listener<'_> {
    fn event(&mut self, event: &UploadEvent<'_>) {
        self.texts.learn(event);
    }

    fn trouble(&mut self, trouble: String) {
        self.trouble = Some(trouble);
    }

    fn may_send(&mut self) -> Outcome {
        if let Some(permit) = self.permit {
            let revoked = || Failure::Fault("commanding began before the program was sent".into());
            self.guard = Some(permit.begin_upload().ok_or_else(revoked)?);
        }
        self.is_sent = true;
        Ok(())
    }
}

/// Sends a program to the controller, and waits until it runs, or until it ends if `wait`. If `is_stopped` returns `true`
/// meanwhile, the program is stopped.
pub(crate) fn script(
    address: &str,
    program: &ScriptFile<'_>,
    wait: bool,
    permit: Option<&UploadPermit>,
    mut is_stopped: impl FnMut() -> bool,
) -> Result<(), Failure> {
    let parsed: RobotAddress = address.parse().map_err(Failure::Usage)?;
    let at = Target::resolve(&parsed)?.socket(Upload::PORT);
    let texts = Words::new(false, "script".into(), at, *program);
    let mut listener = Listener { permit, guard: None, is_sent: false, texts, trouble: None };
    let config = UploadConfig { wait, ..UploadConfig::default() };
    let mut stopped = false;
    let uploaded = outrigger::host::runtime::one_threaded()?.block_on(async {
        let mut looks = tokio::time::interval(LOOK);
        let interrupted = async || loop {
            looks.tick().await;
            if is_stopped() {
                stopped = true;
                return "stopped";
            }
        };
        upload(config, *program, at, &mut listener, interrupted).await
    });
    if stopped && !(listener.is_sent && program.replaces()) {
        return Err(Failure::Fault("stopped before the program was sent".into()));
    }
    if stopped {
        // The program may run already.
        dashboard(address, Request::Stop, || false)?;
        return Err(Failure::Fault("the program was stopped".into()));
    }
    match (listener.texts.judgement(uploaded?), listener.trouble) {
        (Ok(_), _) => Ok(()),
        (Err(Failure::Connection(_)), Some(trouble)) => Err(Failure::Connection(trouble)),
        (Err(failure), _) => Err(failure),
    }
}
