//! The requests of ROS 2 clients to this node: service calls, goals, and commands by topics. Each becomes a request to
//! the control loop that the node runs beside.

use outrigger_core::command::Guidance;
use outrigger_core::command::outputs::Write;
use outrigger_core::mode::{GuideLimits, Mode};
use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::endpoint::{Offer, Qos};
use outrigger_ros2_messages::{Flag, QueryTrajectoryStateResponse, Time};
use outrigger_wire::time::{Duration, Instant};

use super::controller_queries::Listing;
use super::dds::{Arrival, Asker, Dds, In, Offers};
use super::goal_motion::compared;
use super::hand_back::HandBackCalls;
use super::joint_command_topics::Streams;
use super::script_upload::Scripts;
use super::settings::{Remarks, Settings};
use super::trajectory_action::TrajectoryActions;
use crate::arm::Arm;
use crate::command_acceptance::{Command, MotionSource, ONLY_LOOKS, Run, SessionFacts};
use crate::driver::tool_pose;
use crate::driver_services::{self, FREEDRIVE, Operation};
use crate::frames::{self, Frames, Transforms};
use crate::native_calls::{self, NATIVE_OFFERS};
use crate::readings::Readings;
use outrigger::exit::Failure;
use outrigger::host::target::Target;
use outrigger::motion::requested_motion::{MotionExecutor, RejectedMotions};
use outrigger::released::ReleasedBy;
use outrigger::requests::{Client, Decided, RequestKind, Status};

/// The interval at which a force mode that a call has started is renewed, because the call is made only once.
const RENEWAL: Duration = Duration::from_millis(200);
/// The text of a refusal because the queue of requests to the control loop is full.
const BUSY: &str = "too many requests are queued: try again";

/// The force mode or freedrive that this node has started and that must be renewed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Guided {
    /// A force mode, which this node renews; `at` is the time of the next renewal.
    Force { at: Instant },
    /// Freedrive, which the client renews by publishing on its topic.
    Hand,
}

/// A service call that sets several values of the controller together.
struct Several {
    asker: Asker,
    offer: &'static Offer,
    ids: Vec<u32>,
    success: bool,
}

/// The node's endpoints that clients call, and the state of their requests.
pub(super) struct ClientRequests<const N: usize> {
    client: Option<Client<N>>,
    offers: Vec<(In, &'static Offer)>,
    natives: Vec<(In, &'static Offer)>,
    freedrive: In,
    /// The topic on which clients send the force and torque that an external sensor measures.
    external_wrench: Option<In>,
    /// The topics of frames that other nodes publish; `true` marks the topic of fixed frames.
    tf: Vec<(In, bool)>,
    transforms: Transforms,
    listing: Option<Listing>,
    scripts: Option<Scripts>,
    followed: TrajectoryActions<N>,
    streams: Streams<N>,
    settings: Settings,
    /// The calls that set several values of which the control loop has not yet decided all.
    several: Vec<Several>,
    /// The calls that wait for the control loop's decision, each with the number of its request.
    owed: Vec<(u32, Asker, &'static Offer)>,
    hands_back: HandBackCalls,
    guided: Option<Guided>,
}

impl<const N: usize> ClientRequests<N> {
    /// Opens every service, action and topic of the node for clients; with `client` their requests act on the control
    /// loop.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub(super) fn offer(
        dds: &mut impl Offers,
        settings: &Settings,
        (arm, target): (Arm, Option<&Target>),
        client: Option<Client<N>>,
    ) -> Result<Self, Failure> {
        let mut offers = vec![];
        for offer in driver_services::OFFERS.iter().filter(|_| settings.surface.has_driver()) {
            offers.push((dds.serves(&settings.names.of(offer.name), offer.service)?, *offer));
        }
        let legacy = settings.legacy_names && settings.surface.has_driver();
        for offer in driver_services::LEGACY_OFFERS.iter().filter(|_| legacy) {
            offers.push((dds.serves(&settings.names.of(offer.name), offer.service)?, *offer));
        }
        let mut natives = vec![];
        for offer in NATIVE_OFFERS.iter().filter(|_| settings.surface.has_native()) {
            natives.push((dds.serves(&settings.names.of(offer.name), offer.service)?, *offer));
        }
        let freedrive = dds.listens(&settings.names.of(FREEDRIVE.name), FREEDRIVE.message, Qos::SERVICES)?;
        let mut tf = vec![];
        for (topic, qos, fixed) in
            [(frames::MOVING, frames::MOVING_QOS, false), (frames::FIXED, frames::FIXED_QOS, true)]
        {
            if settings.surface.has_driver() {
                tf.push((dds.listens(topic.name, topic.message, qos)?, fixed));
            }
        }
        let external_wrench = settings.surface.has_native().then(|| {
            let topic = native_calls::EXTERNAL_WRENCH;
            dds.listens(&settings.names.of(topic.name), topic.message, Qos::SYSTEM)
        });
        let external_wrench = external_wrench.transpose()?;
        let listing = settings.surface.has_driver();
        let listing =
            listing.then(|| Listing::offer(dds, &settings.names, arm.clone(), settings.distro)).transpose()?;
        let scripts = target.filter(|_| settings.surface.has_driver());
        let scripts = scripts.map(|target| Scripts::offer(dds, settings, target)).transpose()?;
        let streams = Streams::offer(dds, settings, arm.joints.clone())?;
        let followed = TrajectoryActions::offer(dds, settings, arm.joints)?;
        Ok(Self {
            client,
            offers,
            natives,
            several: vec![],
            freedrive,
            external_wrench,
            tf,
            transforms: Transforms::default(),
            listing,
            scripts,
            followed,
            streams,
            settings: settings.clone(),
            owed: vec![],
            hands_back: HandBackCalls::default(),
            guided: None,
        })
    }

    /// Returns `true` if the control loop beside the node commands the arm.
    pub(super) fn commands(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.status().mode == Mode::Command)
    }

    /// Returns the status of the control loop beside the node; `None` if the node may not command.
    pub(super) fn status(&self) -> Option<Status> {
        self.client.as_ref().map(Client::status)
    }

    /// Returns the facts about the session that decide which goals and commands are accepted.
    fn standing(&self, readings: &Readings) -> SessionFacts {
        let run = self.client.as_ref().map(|client| {
            let (Status { mode, latch, unmet, .. }, moving) = (client.status(), client.moving());
            let RejectedMotions { trajectories, speeds, positions, torques } = moving.refuses;
            let by = match moving.by {
                MotionExecutor::Controller => MotionSource::Controller,
                MotionExecutor::Law => MotionSource::Law { follows: !trajectories, speeds, positions, torques },
            };
            Run { goals_request: self.settings.goals_request, mode, latch, unmet, by }
        });
        SessionFacts { run, software: readings.software() }
    }

    /// Handles data that arrived for one of the node's topics, services or actions.
    pub(super) fn arrival(
        &mut self,
        arrival: Arrival,
        readings: &Readings,
        dds: &mut Dds,
        (now, stamp): (Instant, Time),
        remarks: &mut Remarks,
    ) {
        let standing = self.standing(readings);
        let taken = self.followed.arrival(arrival, (self.client.as_mut(), &standing), dds, (now, stamp), remarks);
        let taken = match &self.listing {
            Some(listing) => taken.and_then(|taken| listing.arrival(taken, &standing, dds, remarks)),
            None => taken,
        };
        let taken = match &mut self.scripts {
            Some(scripts) => taken.and_then(|taken| scripts.arrival(taken, self.client.as_mut(), dds, remarks)),
            None => taken,
        };
        let Some(Arrival { at, bytes, asker }) = taken else { return };
        if self.streams.arrival((at, &bytes), &standing, remarks) {
            return;
        }
        if at == self.freedrive {
            return self.hand(&bytes, &standing, remarks);
        }
        if let Some((_, fixed)) = self.tf.iter().find(|(of, _)| *of == at) {
            if let Err(error) = self.transforms.take(&bytes, *fixed, now) {
                remarks.push(format!("a transform: {error}"));
            }
            return;
        }
        if self.external_wrench == Some(at) {
            if let Err(why) = self.wrench(&bytes) {
                remarks.push(format!("{}: {why}", native_calls::EXTERNAL_WRENCH.name));
            }
            return;
        }
        let Some(asker) = asker else { return };
        if let Some((_, offer)) = self.natives.iter().find(|(of, _)| *of == at) {
            return self.native(offer, &bytes, asker, dds, remarks);
        }
        let Some((_, offer)) = self.offers.iter().find(|(of, _)| *of == at) else { return };
        let offer = *offer;
        let [min, max] = self.settings.payload;
        let names = &self.settings.names;
        let frames = Frames { names, tool: tool_pose(readings), others: &self.transforms, now };
        let deed = driver_services::deed(offer, &bytes, self.settings.distro, frames);
        let deed = deed.and_then(|deed| driver_services::within(deed, min, max));
        let deed = match deed {
            Ok(deed) => deed,
            Err(why) => {
                remarks.push(format!("{}: {why}", offer.name));
                return dds.answer(asker, driver_services::answer(offer, false, &why.to_string()));
            }
        };
        match deed {
            Operation::Version => {
                let software = readings.software();
                let four = software.map_or([0; 4], |of| [of.major.into(), of.minor.into(), of.bugfix, 0]);
                dds.answer(asker, driver_services::version(four));
            }
            Operation::Query(_) => dds.answer(asker, self.queried()),
            deed => self.ask(deed, (asker, offer), &standing, (now, dds), remarks),
        }
    }

    /// Handles a call of a service of PolyScope X. One value that is not allowed refuses the whole call. If the control
    /// loop's request queue has room for only a part of the values, that part is requested, and the call fails.
    fn native(&mut self, offer: &'static Offer, bytes: &[u8], asker: Asker, dds: &mut Dds, remarks: &mut Remarks) {
        let refused = match (native_calls::writes(offer, bytes), &mut self.client) {
            (Ok(writes), Some(client)) => {
                let epoch = client.status().epoch;
                let ids: Vec<_> =
                    writes.iter().filter_map(|write| client.ask(RequestKind::Set(epoch, *write))).collect();
                if !ids.is_empty() {
                    let success = ids.len() == writes.len();
                    return self.several.push(Several { asker, offer, ids, success });
                }
                BUSY.to_owned()
            }
            (Ok(_), None) => ONLY_LOOKS.to_owned(),
            (Err(why), _) => why.to_string(),
        };
        remarks.push(format!("{}: {refused}", offer.name));
        dds.answer(asker, native_calls::answer(offer, false));
    }

    fn ask(
        &mut self,
        deed: Operation,
        (asker, offer): (Asker, &'static Offer),
        standing: &SessionFacts,
        (now, dds): (Instant, &mut Dds),
        remarks: &mut Remarks,
    ) {
        let mut rejects = |why: &str, dds: &mut Dds| {
            remarks.push(format!("{}: {why}", offer.name));
            dds.answer(asker, driver_services::answer(offer, false, why));
        };
        let command = match deed {
            Operation::Force(_) => Some(Command::Force),
            Operation::Set(Write::Gravity(_)) => Some(Command::Gravity),
            _ => None,
        };
        if let Some(Err(rejection)) = command.map(|command| standing.accepts(command)) {
            return rejects(&rejection.with_name(), dds);
        }
        let Some(client) = &mut self.client else { return rejects(ONLY_LOOKS, dds) };
        let epoch = client.status().epoch;
        let asked = match deed {
            Operation::Set(write) => RequestKind::Set(epoch, write),
            Operation::HandBack => {
                if let Err(asker) = self.hands_back.call(asker, offer, now) {
                    remarks.push(format!("{}: {BUSY}", offer.name));
                    dds.answer(asker, driver_services::answer(offer, false, BUSY));
                }
                return;
            }
            Operation::Resend => RequestKind::Resend(epoch),
            Operation::Request => RequestKind::Request(epoch),
            Operation::Release => RequestKind::Release(ReleasedBy::Ros),
            Operation::Acknowledge => RequestKind::Acknowledge,
            Operation::Force(mode) => {
                self.guided = Some(Guided::Force { at: now + RENEWAL });
                RequestKind::Guide(epoch, client.asker(), Guidance::Force(mode), GuideLimits::default())
            }
            Operation::Stiffen => {
                self.guided = None;
                RequestKind::Stiffen
            }
            Operation::Version | Operation::Query(_) => return,
        };
        match client.ask(asked) {
            Some(id) => self.owed.push((id, asker, offer)),
            None => rejects(BUSY, dds),
        }
    }

    /// Returns the response to a query for the present target of the current motion.
    fn queried(&self) -> Vec<u8> {
        let compared = self.client.as_ref().and_then(|client| compared(&client.stands()));
        encode(&match compared {
            Some((desired, ..)) => QueryTrajectoryStateResponse {
                success: true,
                name: self.followed.joints().to_vec(),
                position: desired.positions,
                velocity: desired.velocities,
                ..Default::default()
            },
            None => QueryTrajectoryStateResponse { message: "no motion is running".into(), ..Default::default() },
        })
    }

    /// Passes a measured wrench on to the configured sensor (source) that represents the external force sensor, so that
    /// the control loop can write it to the controller.
    fn wrench(&mut self, bytes: &[u8]) -> Result<(), String> {
        let values = native_calls::external_wrench(bytes).map_err(|error| error.to_string())?;
        let client = self.client.as_mut().ok_or(ONLY_LOOKS)?;
        let source = self.settings.external_wrench.as_deref().ok_or(native_calls::NO_SOURCE)?;
        client.sample(source, &values)
    }

    fn hand(&mut self, bytes: &[u8], standing: &SessionFacts, remarks: &mut Remarks) {
        let Some(client) = &mut self.client else {
            return remarks.push(format!("{}: {ONLY_LOOKS}", FREEDRIVE.name));
        };
        match (decode::<Flag>(bytes), self.guided) {
            (Ok(Flag { data: true }), Some(_)) => drop(client.ask(RequestKind::Renew(client.asker()))),
            (Ok(Flag { data: true }), None) => {
                if let Err(rejection) = standing.accepts(Command::Freedrive) {
                    return remarks.push(format!("{}: {}", FREEDRIVE.name, rejection.with_name()));
                }
                let (epoch, limits) = (client.status().epoch, self.settings.freedrive());
                let asked = RequestKind::Guide(epoch, client.asker(), Guidance::Freedrive, limits);
                self.guided = client.ask(asked).map(|_| Guided::Hand);
            }
            (Ok(Flag { data: false }), _) => {
                self.guided = None;
                let _ = client.ask(RequestKind::Stiffen);
            }
            (Err(error), _) => remarks.push(format!("{}: {error}", FREEDRIVE.name)),
        }
    }

    /// Discards the requests that have not begun, because the process was interrupted (e.g. by SIGSTOP) after they had
    /// arrived. So nothing moves without a new request when the process continues.
    pub(super) fn discard(&mut self, dds: &mut Dds, remarks: &mut Remarks) {
        // A force mode and freedrive end if they are not renewed.
        self.guided = None;
        self.streams.discard();
        self.hands_back.discard(dds, remarks);
        if let Some(client) = &mut self.client {
            self.followed.discard(client, dds, remarks);
        }
    }

    /// Advances the requests in progress, and answers those that the control loop has decided.
    pub(super) fn step(&mut self, dds: &mut Dds, (now, stamp): (Instant, Time), remarks: &mut Remarks) {
        let Some(client) = &mut self.client else { return };
        let mut decided = vec![];
        while let Some(one) = client.decided() {
            decided.push(one);
        }
        for one in &decided {
            let Decided { id, done, .. } = one;
            if self.hands_back.decided(one, dds, remarks) {
                continue;
            }
            if self.scripts.as_mut().is_some_and(|scripts| scripts.decided(one, client, dds, stamp, remarks)) {
                continue;
            }
            if self.followed.decided(one, dds, stamp, remarks) || one_of(&mut self.several, *id, done, dds, remarks) {
                continue;
            }
            if let Some(at) = self.owed.iter().position(|(owed, ..)| owed == id) {
                let (_, asker, offer) = self.owed.swap_remove(at);
                let why = done.as_ref().err().map_or("", String::as_str);
                // Some responses contain only that the call failed, so the reason is logged.
                if done.is_err() {
                    remarks.push(format!("{}: {why}", offer.name));
                }
                dds.answer(asker, driver_services::answer(offer, done.is_ok(), why));
            } else if let Err(why) = done {
                // These need no answer: a freedrive that was refused, and a renewal of something that has ended.
                self.guided = None;
                remarks.push(why.clone());
            }
        }
        if client.status().mode != Mode::Command {
            self.guided = None;
        }
        if let Some(Guided::Force { at }) = &mut self.guided
            && now >= *at
        {
            *at = now + RENEWAL;
            let _ = client.ask(RequestKind::Renew(client.asker()));
        }
        if let Some(scripts) = &mut self.scripts {
            scripts.step(client, dds, stamp, remarks);
        }
        self.hands_back.step(client, dds, now, remarks);
        self.followed.step(client, dds, (now, stamp), remarks);
        self.streams.step(client, remarks);
    }

    /// Ends the goals and URScript programs in progress, because the node ends.
    pub(super) fn leave(&mut self, dds: &mut Dds, stamp: Time) {
        self.followed.leave(dds, stamp);
        if let Some(scripts) = &mut self.scripts {
            scripts.leave(dds, stamp);
        }
    }
}

/// Records the control loop's decision on one value of a service call that sets several. Returns `false` if the
/// decision belongs to no such call.
fn one_of(
    several: &mut Vec<Several>,
    id: u32,
    done: &Result<(), String>,
    dds: &mut Dds,
    remarks: &mut Remarks,
) -> bool {
    let Some(at) = several.iter().position(|several| several.ids.contains(&id)) else { return false };
    let Some(call) = several.get_mut(at) else { return false };
    call.ids.retain(|other| *other != id);
    call.success &= done.is_ok();
    if let Err(why) = done {
        remarks.push(format!("{}: {why}", call.offer.name));
    }
    if call.ids.is_empty() {
        let Several { asker, offer, success, .. } = several.swap_remove(at);
        dds.answer(asker, native_calls::answer(offer, success));
    }
    true
}
