//! Goals of `FollowJointTrajectory`, and of its variant until a contact: validates them, starts them as requests to the
//! control loop, tracks them and reports their progress and results.
//!
//! One motion is in progress at a time, whichever action it came from. A goal is accepted once the control loop has
//! started it, and rejected otherwise. The response to a goal has no text, so the reason for a rejection is logged, and
//! returned as the result to a client that requests it. A goal of no length succeeds at once where the arm is, and
//! nothing is requested of the control loop.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use outrigger_core::mode::Mode;
use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::endpoint::{Distro, Qos};
use outrigger_ros2_messages::{
    FollowError, FollowFeedback, FollowFeedbackIndexed, FollowGoal, FollowResult, GoalId, Header, JointTrajectory,
    SendGoalRequest, Status, Time, UntilFeedback, UntilGoal, UntilResult,
};
use outrigger_wire::time::{Duration, Instant};

use super::action::{Action, Incoming};
use super::contact_watch::ContactWatch;
use super::dds::{Arrival, Asker, Dds, In, Offers};
use super::goal_motion::{compared, motion, nanos_of};
use super::settings::{Remarks, Settings};
use super::trajectory_result::{CancelOrigin, Ended, REACHED, REPLACED, TOUCHED, aborted, ended_as, invalid};
use crate::command_acceptance::{Command, ONLY_LOOKS, Rejection, SessionFacts};
use crate::contact_goals;
use crate::trajectory_goals::{self, Tolerance, TrajectoryGoal, Unfit};
use outrigger::exit::Failure;
use outrigger::host::worker::Worker;
use outrigger::motion::MotionStage;
use outrigger::motion::requested_motion::{MotionExecutor, MotionRequest, Ready, ready};
use outrigger::released::ReleasedBy;
use outrigger::requests::{Client, Decided, RequestKind};

/// The interval of the feedback messages of a trajectory goal.
const FEEDBACK: Duration = Duration::from_millis(50);
/// The longest wait until commanding has begun, and until a motion that is to be replaced has ended.
const PATIENCE: Duration = Duration::from_secs(15);

/// The joint speed below which the arm counts as at rest \[rad/s\].
const AT_REST: f32 = 0.02;
/// The longest wait for the arm to come to rest after a motion has ended.
const RESTS: Duration = Duration::from_secs(1);

/// An action that follows trajectories, with the topic of trajectories beside it if there is one.
struct Served {
    /// The name of the trajectory action.
    name: &'static str,
    /// `true` if a goal is rejected while another motion is in progress.
    exclusive: bool,
    /// The kind of command as which goals of the action are accepted or rejected.
    command: Command,
    action: Action,
    /// The topic on which clients send trajectories without a goal, which therefore have no result; `None` if the
    /// action has none.
    topic: Option<In>,
}

impl Served {
    /// Returns `true` if a contact of the tool ends the motion of the action's goals.
    fn ends_by_contact(&self) -> bool {
        self.command == Command::FollowUntilContact
    }
}

/// The action and goal that a motion came from; `None` for a trajectory from a topic.
type By = Option<(usize, GoalId)>;

/// A motion that a client has requested and that has not started yet.
struct PendingMotion<const N: usize> {
    by: By,
    wanted: TrajectoryGoal,
    replaces: bool,
    /// The client of a goal, until the goal is accepted or rejected.
    asker: Option<Asker>,
    at: PendingState<N>,
    until: Instant,
    /// The number of contacts counted before the motion; `None` unless it ends at a contact and the watch for contacts
    /// is on.
    contacts: Option<u32>,
}

enum PendingState<const N: usize> {
    /// The motion is being computed on another thread.
    Read(Receiver<Result<Ready<N>, String>>),
    /// The motion is valid, and the motion in progress is being ended to replace it. The new one is then computed again
    /// from the arm's position at rest.
    Room,
    /// The motion is computed and is to be started. If needed, commanding or a watch for contacts is requested first.
    Waits(Ready<N>),
    /// The motion waits for commanding, which was requested of the control loop by the request of this number.
    Requests(u32, Ready<N>),
    /// The control loop has been requested to start the motion, by the request of this number.
    Begins(u32),
    /// The motion has no length, because the arm is already at its end.
    There,
}

/// The motion that the control loop executes for a goal or a topic.
struct Current {
    by: By,
    /// The number that the control loop has given the motion.
    number: u32,
    cancelling: bool,
    /// `true` if the end of the motion was requested, so that another motion can start.
    makes_room: bool,
    /// The time by which the arm must be at rest after the motion has ended; `None` until it has ended.
    rests_by: Option<Instant>,
    /// The number of contacts of the tool that were counted before the motion.
    contacts: u32,
}

/// The actions and topics of trajectories, and the motions in progress and about to start.
pub(super) struct TrajectoryActions<const N: usize> {
    served: Vec<Served>,
    touch: ContactWatch,
    joints: Vec<String>,
    distro: Distro,
    goals_request: bool,
    coming: Option<PendingMotion<N>>,
    current: Option<Current>,
    feedback_at: Instant,
}

impl<const N: usize> TrajectoryActions<N> {
    /// Offers the actions that follow trajectories, and subscribes to the topics of trajectories.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub(super) fn offer(dds: &mut impl Offers, settings: &Settings, joints: Vec<String>) -> Result<Self, Failure> {
        let Settings { names, distro, goals_request, legacy_names, surface, .. } = settings;
        let legacy = (*legacy_names && surface.has_driver()).then_some(&trajectory_goals::LEGACY_ACTION);
        let mut served = vec![];
        for trajectory_goals::Follower { task, exclusive, command } in trajectory_goals::ACTIONS.iter().chain(legacy) {
            let (exclusive, command) = (*exclusive, *command);
            if command == Command::FollowUntilContact {
                let action = Action::offer::<UntilResult>(dds, names, task)?;
                served.push(Served { name: task.name, exclusive, command, action, topic: None });
                continue;
            }
            let action = Action::offer::<FollowResult>(dds, names, task)?;
            let topic = match task.name.split_once('/') {
                Some((controller, _)) => {
                    let topic = names.of(&format!("{controller}/joint_trajectory"));
                    Some(dds.listens(&topic, "trajectory_msgs/msg/JointTrajectory", Qos::SERVICES)?)
                }
                None => None,
            };
            served.push(Served { name: task.name, exclusive, command, action, topic });
        }
        let (touch, feedback_at) = (ContactWatch::offer(dds, names)?, Instant::ZERO);
        let (distro, goals_request) = (*distro, *goals_request);
        Ok(Self { served, touch, joints, distro, goals_request, coming: None, current: None, feedback_at })
    }

    /// Returns the names of the arm's joints, in the order of the arm.
    pub(super) fn joints(&self) -> &[String] {
        &self.joints
    }

    /// Handles data that arrived for one of the actions or topics of trajectories; returns it if it is for none of
    /// them.
    pub(super) fn arrival(
        &mut self,
        arrival: Arrival,
        (mut client, standing): (Option<&mut Client<N>>, &SessionFacts),
        dds: &mut Dds,
        (now, stamp): (Instant, Time),
        remarks: &mut Remarks,
    ) -> Option<Arrival> {
        if let Some(index) = self.served.iter().position(|served| served.topic == Some(arrival.at)) {
            self.trajectory(index, &arrival.bytes, (client, standing), (now, stamp), remarks);
            return None;
        }
        let mut arrival = self.touch.arrival(arrival, (client.as_deref_mut(), standing), dds, remarks)?;
        for index in 0..self.served.len() {
            let served = self.served.get_mut(index)?;
            let name = served.name;
            match served.action.arrival(arrival, dds, remarks) {
                Incoming::Goal(bytes, asker) => {
                    match self.goal(index, &bytes, (client, standing), (now, stamp)) {
                        Ok(coming) => self.coming = Some(PendingMotion { asker: Some(asker), ..coming }),
                        Err((id, unfit)) => {
                            remarks.push(format!("a goal of {name} was rejected: {}", unfit.text));
                            self.refuse((index, id), Some(asker), unfit, dds);
                        }
                    }
                    return None;
                }
                Incoming::Cancel(ids) => {
                    if let (Some(current), Some(client)) = (&mut self.current, client)
                        && current.by.is_some_and(|(by, id)| by == index && ids.contains(&id))
                    {
                        current.cancelling = client.ask(RequestKind::Cancel).is_some();
                    }
                    return None;
                }
                Incoming::Nothing => return None,
                Incoming::Other(other) => arrival = other,
            }
        }
        Some(arrival)
    }

    /// Reads a goal and prepares its motion, for the action with the index `index`.
    ///
    /// # Errors
    /// The reason for a rejection, with the goal's identifier if it was read.
    fn goal(
        &self,
        index: usize,
        bytes: &[u8],
        (client, standing): (Option<&mut Client<N>>, &SessionFacts),
        (now, stamp): (Instant, Time),
    ) -> Result<PendingMotion<N>, (Option<GoalId>, Unfit)> {
        let served = self.served.get(index).ok_or_else(|| (None, invalid("there is no such action")))?;
        let (goal_id, wanted) = if served.ends_by_contact() {
            let request = decode(bytes).map_err(|error| (None, invalid(error.to_string())))?;
            let SendGoalRequest::<UntilGoal> { goal_id, goal } = request;
            (goal_id, trajectory_goals::until(goal, &self.joints, stamp))
        } else {
            let request = decode(bytes).map_err(|error| (None, invalid(error.to_string())))?;
            let SendGoalRequest::<FollowGoal> { goal_id, goal } = request;
            (goal_id, trajectory_goals::goal(&goal, &self.joints, stamp))
        };
        let refused = |unfit| (Some(goal_id), unfit);
        if served.action.knows(&goal_id) {
            return Err(refused(invalid("a goal with this ID exists already")));
        }
        if served.exclusive && self.current.is_some() {
            let text = "a motion is running, and this action accepts one at a time: wait, or cancel it";
            return Err(refused(invalid(text)));
        }
        let wanted = wanted.map_err(refused)?;
        let coming = self.comes(Some((index, goal_id)), served, &wanted, (client, standing), now);
        coming.map_err(|text| refused(invalid(text)))
    }

    /// Handles a trajectory that arrived on a topic: validates it and prepares its motion, or logs the rejection. One
    /// without points cancels the motion in progress.
    fn trajectory(
        &mut self,
        index: usize,
        bytes: &[u8],
        (mut client, standing): (Option<&mut Client<N>>, &SessionFacts),
        (now, stamp): (Instant, Time),
        remarks: &mut Remarks,
    ) {
        let Some(served) = self.served.get(index) else { return };
        let mut comes = || {
            let trajectory: JointTrajectory = decode(bytes).map_err(|error| error.to_string())?;
            if trajectory.points.is_empty() && self.current.is_some() {
                // A trajectory without points cancels the current one.
                if let Some(client) = client.as_deref_mut() {
                    let _ = client.ask(RequestKind::Cancel);
                }
                return Ok(None);
            }
            if served.exclusive && self.current.is_some() {
                return Err("a motion is running, and this controller accepts one at a time".to_owned());
            }
            let points = trajectory_goals::trajectory(&trajectory, &self.joints, stamp).map_err(|unfit| unfit.text)?;
            let tolerances = vec![Tolerance::Default; N];
            let wanted = TrajectoryGoal { points, path: tolerances.clone(), goal: tolerances, goal_time: None };
            self.comes(None, served, &wanted, (client.as_deref_mut(), standing), now).map(Some)
        };
        match comes() {
            Ok(Some(coming)) => self.coming = Some(coming),
            Ok(None) => {}
            Err(why) => remarks.push(format!("trajectory rejected: {why}")),
        }
    }

    fn comes(
        &self,
        by: By,
        served: &Served,
        wanted: &TrajectoryGoal,
        (client, standing): (Option<&mut Client<N>>, &SessionFacts),
        now: Instant,
    ) -> Result<PendingMotion<N>, String> {
        standing.accepts(served.command).map_err(Rejection::with_name)?;
        let client = client.ok_or(ONLY_LOOKS)?;
        if self.coming.is_some() {
            return Err("another goal is being started: send it again".into());
        }
        let at = self.read(wanted, client)?;
        let replaces = !served.exclusive;
        Ok(PendingMotion {
            by,
            wanted: wanted.clone(),
            replaces,
            asker: None,
            at,
            until: now + PATIENCE,
            contacts: None,
        })
    }

    /// Starts to compute the motion for a trajectory on another thread, from the arm's present position unless a motion
    /// is in progress.
    fn read(&self, wanted: &TrajectoryGoal, client: &Client<N>) -> Result<PendingState<N>, String> {
        let (moving, stands) = (client.moving(), client.stands());
        let motion = motion::<N>(wanted, stands.at.filter(|_| self.current.is_none()))?;
        let (tell, told) = sync_channel(1);
        // A long motion takes a while to compute.
        let read = move || drop(tell.send(ready(MotionRequest::Motion(Box::new(motion)), &moving, &stands)));
        Worker::start("goal", read).map_err(|error| format!("no thread to read it in: {error}"))?;
        Ok(PendingState::Read(told))
    }

    /// Rejects the motion that has not started, and withdraws the request to command that was made for it.
    pub(super) fn discard(&mut self, client: &mut Client<N>, dds: &mut Dds, remarks: &mut Remarks) {
        let Some(coming) = self.coming.take() else { return };
        if matches!(coming.at, PendingState::Requests(..)) {
            let _ = client.ask(RequestKind::Release(ReleasedBy::Ros));
        }
        self.reject(coming, "the node was stopped before the goal started: send it again", dds, remarks);
    }

    /// Advances the motions in progress and about to start, and publishes feedback.
    pub(super) fn step(
        &mut self,
        client: &mut Client<N>,
        dds: &mut Dds,
        (now, stamp): (Instant, Time),
        remarks: &mut Remarks,
    ) {
        if let Some(mut coming) = self.coming.take() {
            match self.advance(&mut coming, client, now) {
                Ok(()) if matches!(coming.at, PendingState::There) => self.is_there(coming, dds, stamp),
                Ok(()) => self.coming = Some(coming),
                Err(why) => self.reject(coming, &why, dds, remarks),
            }
        }
        self.look(client, dds, (now, stamp));
        self.touch.step(client, dds, stamp, remarks);
        if now >= self.feedback_at {
            self.feedback_at = now + FEEDBACK;
            self.tell_progress(client, dds, stamp);
            let nanos = nanos_of(stamp);
            self.served.iter_mut().for_each(|served| served.action.forget(nanos, dds));
        }
    }

    fn advance(&mut self, coming: &mut PendingMotion<N>, client: &mut Client<N>, now: Instant) -> Result<(), String> {
        if now > coming.until {
            return Err(format!("it could not be started within {} s", PATIENCE.as_secs_f32()));
        }
        let at = std::mem::replace(&mut coming.at, PendingState::Begins(u32::MAX));
        let full = || "too many requests are queued".to_owned();
        coming.at = match at {
            PendingState::Read(told) => match told.try_recv() {
                // The controller executes one motion at a time.
                Ok(Ok(_)) if self.current.is_some() && client.moving().by == MotionExecutor::Controller => {
                    PendingState::Room
                }
                Ok(ready) => PendingState::Waits(ready?),
                Err(TryRecvError::Empty) => PendingState::Read(told),
                Err(TryRecvError::Disconnected) => return Err("its reader failed".into()),
            },
            PendingState::Room => match &mut self.current {
                Some(current) => {
                    if !current.cancelling && !current.makes_room {
                        current.makes_room = client.ask(RequestKind::Cancel).is_some();
                    }
                    PendingState::Room
                }
                None => self.read(&coming.wanted, client)?,
            },
            // This motion needs no request to command.
            PendingState::Waits(ready) if ready.stays() && client.status().mode == Mode::Monitor => PendingState::There,
            PendingState::Waits(mut ready) => {
                let status = client.status();
                if status.mode == Mode::Monitor && self.goals_request {
                    PendingState::Requests(client.ask(RequestKind::Request(status.epoch)).ok_or_else(full)?, ready)
                } else if self.ends_by_contact(&coming.by) && coming.contacts.is_none() {
                    coming.contacts = self.touch.motion(client)?;
                    PendingState::Waits(ready)
                } else {
                    ready.replaces = coming.replaces;
                    PendingState::Begins(client.begin(status.epoch, ready).ok_or_else(full)?)
                }
            }
            PendingState::Requests(id, ready) => match client.status().mode {
                Mode::Command => PendingState::Waits(ready),
                _ => PendingState::Requests(id, ready),
            },
            at @ (PendingState::Begins(_) | PendingState::There) => at,
        };
        Ok(())
    }

    fn ends_by_contact(&self, by: &By) -> bool {
        by.and_then(|(index, _)| self.served.get(index)).is_some_and(Served::ends_by_contact)
    }

    /// Handles the control loop's decision on a request. Returns `false` if that decides neither on a motion that has
    /// not started yet nor on the watch for contacts.
    pub(super) fn decided(&mut self, outcome: &Decided, dds: &mut Dds, stamp: Time, remarks: &mut Remarks) -> bool {
        if self.touch.decided(outcome, dds, stamp, remarks) {
            return true;
        }
        let Some(coming) = self.coming.take_if(|coming| match coming.at {
            PendingState::Begins(id) => id == outcome.id,
            PendingState::Requests(id, _) => id == outcome.id && outcome.done.is_err(),
            _ => false,
        }) else {
            return false;
        };
        match (&outcome.done, outcome.status.motion) {
            (Ok(()), Some(motion)) => self.accept(coming, motion.number, outcome.status.contacts.seen, dds, stamp),
            (Ok(()), None) => self.reject(coming, "it was not started", dds, remarks),
            (Err(why), _) => self.reject(coming, why, dds, remarks),
        }
        true
    }

    fn accept(&mut self, coming: PendingMotion<N>, number: u32, contacts: u32, dds: &mut Dds, stamp: Time) {
        if let Some(before) = self.current.take() {
            self.end(before, aborted(REPLACED), dds, stamp);
        }
        let (by, contacts) = (coming.by, coming.contacts.unwrap_or(contacts));
        if let Some((index, goal_id)) = by
            && let Some(served) = self.served.get_mut(index)
        {
            served.action.accept(goal_id, coming.asker, dds, stamp);
        }
        self.current = Some(Current { by, number, cancelling: false, makes_room: false, rests_by: None, contacts });
    }

    /// Answers a trajectory goal whose end the arm is at already: accepts the goal, and ends it as reached without a
    /// motion.
    fn is_there(&mut self, coming: PendingMotion<N>, dds: &mut Dds, stamp: Time) {
        let PendingMotion { by, asker, .. } = coming;
        if let Some((index, goal_id)) = by
            && let Some(served) = self.served.get_mut(index)
        {
            served.action.accept(goal_id, asker, dds, stamp);
        }
        let current = Current { by, number: 0, cancelling: false, makes_room: false, rests_by: None, contacts: 0 };
        let ended = Ended { how: Status::Succeeded, code: FollowError::Successful, text: REACHED, touched: false };
        self.end(current, ended, dds, stamp);
    }

    fn reject(&mut self, coming: PendingMotion<N>, why: &str, dds: &mut Dds, remarks: &mut Remarks) {
        if self.ends_by_contact(&coming.by) {
            self.touch.motion_ends();
        }
        if let Some((index, goal_id)) = coming.by {
            self.refuse((index, Some(goal_id)), coming.asker, invalid(why), dds);
        }
        let served = coming.by.and_then(|(index, _)| self.served.get(index));
        let what = match served {
            Some(served) => format!("a goal of {} was rejected", served.name),
            None => "trajectory rejected".to_owned(),
        };
        remarks.push(format!("{what}: {why}"));
    }

    /// Rejects a goal of this action, and keeps the reason as its result.
    fn refuse(&mut self, (index, id): (usize, Option<GoalId>), asker: Option<Asker>, unfit: Unfit, dds: &mut Dds) {
        let Some(served) = self.served.get_mut(index) else { return };
        let (error_code, error_string) = (unfit.code as i32, unfit.text);
        if served.ends_by_contact() {
            let result = UntilResult { error_code, until_condition_result: 1, error_string };
            served.action.reject(id, asker, result, dds);
        } else {
            served.action.reject(id, asker, FollowResult { error_code, error_string }, dds);
        }
    }

    /// Checks the state of the motion in progress, and ends its goal once the motion has ended.
    fn look(&mut self, client: &Client<N>, dds: &mut Dds, (now, stamp): (Instant, Time)) {
        let Some(mut current) = self.current.take() else { return };
        let status = client.status();
        let standing = status.motion.filter(|motion| motion.number == current.number);
        let why_left = status.left.filter(|_| status.mode != Mode::Command);
        // The motion's time is over a little before the arm rests.
        let ended = matches!(
            standing.map(|motion| motion.stage),
            Some(MotionStage::Done | MotionStage::Cancelled | MotionStage::Touched | MotionStage::Missed(_))
        );
        if ended && client.stands().speed.max_abs() > AT_REST && now < *current.rests_by.get_or_insert(now + RESTS) {
            self.current = Some(current);
            return;
        }
        let whose = CancelOrigin { cancelled: current.cancelling, makes_room: current.makes_room };
        let Some((how, code, text)) = ended_as(standing.map(|motion| motion.stage), whose, why_left, status.released)
        else {
            self.current = Some(current);
            return;
        };
        let touched = contact_goals::touched(current.contacts, status.contacts.seen);
        let by_contact = contact_goals::until(how, touched, status.mode == Mode::Command);
        let ended = match by_contact {
            (how, true) if self.ends_by_contact(&current.by) => {
                let code = if how == Status::Succeeded { FollowError::Successful } else { code };
                Ended { how, code, text: TOUCHED, touched }
            }
            (_, true) if how == Status::Aborted => Ended { how, code, text: TOUCHED, touched },
            _ => Ended { how, code, text: &text, touched: false },
        };
        self.end(current, ended, dds, stamp);
    }

    fn end(&mut self, current: Current, ended: Ended<'_>, dds: &mut Dds, stamp: Time) {
        let Some((index, goal_id)) = current.by else { return };
        let Some(served) = self.served.get_mut(index) else { return };
        let Ended { how, code, text, touched } = ended;
        let (error_code, error_string) = (code as i32, text.to_owned());
        if served.ends_by_contact() {
            let until_condition_result = i32::from(!touched);
            let result = UntilResult { error_code, until_condition_result, error_string };
            served.action.end(&goal_id, how, result, nanos_of(stamp), dds);
            self.touch.motion_ends();
        } else {
            served.action.end(&goal_id, how, FollowResult { error_code, error_string }, nanos_of(stamp), dds);
        }
    }

    fn tell_progress(&self, client: &Client<N>, dds: &mut Dds, stamp: Time) {
        let Some(Current { by: Some((index, goal_id)), .. }) = self.current else { return };
        let Some(served) = self.served.get(index) else { return };
        let Some((desired, actual, error)) = compared(&client.stands()) else { return };
        let (header, joint_names) = (Header { stamp, frame_id: String::new() }, self.joints.clone());
        if served.ends_by_contact() {
            served.action.progress(goal_id, UntilFeedback { header, joint_names, desired, actual, error }, dds);
        } else if self.distro < Distro::Kilted {
            let feedback = FollowFeedback { header, joint_names, desired, actual, error, ..Default::default() };
            served.action.progress(goal_id, feedback, dds);
        } else {
            let feedback = FollowFeedbackIndexed { header, joint_names, desired, actual, error, ..Default::default() };
            served.action.progress(goal_id, feedback, dds);
        }
    }

    /// Ends the trajectory goal in progress as aborted, and the goal that waits for a contact, because the node ends.
    pub(super) fn leave(&mut self, dds: &mut Dds, stamp: Time) {
        if let Some(current) = self.current.take() {
            self.end(current, aborted("the node has ended"), dds, stamp);
        }
        self.touch.leave(dds, stamp);
    }
}
