//! The goals of one action: their states, and the clients that wait for their results.

use std::collections::{BTreeSet, VecDeque};

use outrigger_ros2_messages::{
    CancelGoalRequest, CancelGoalResponse, GoalId, GoalInfo, GoalStatus, GoalStatusArray, Status, Time,
};

/// The time for which the result of an ended goal is kept for late requests \[ns\]: 15 min, as in ROS 2 Humble.
const KEPT: u64 = 15 * 60 * 1_000_000_000;
/// The largest number of goals kept, unless more are in progress. Of the goals that have ended, those accepted first
/// are dropped first.
const MOST: usize = 64;
/// The number of newest rejected goals whose reason is kept for later requests.
const REJECTED_KEPT: usize = 16;
/// The largest number of clients that may wait for the result of one goal.
const WAITING: usize = 16;

#[derive(Debug)]
struct Goal<R, W> {
    info: GoalInfo,
    status: Status,
    /// The result of the goal and the time of its end \[ns\]; `None` until the goal has ended.
    result: Option<(R, u64)>,
    waiting: Vec<W>,
}

/// The goals of an action with results of type `R`; `W` identifies a client that waits for a result.
#[derive(Debug)]
pub struct Goals<R, W> {
    goals: Vec<Goal<R, W>>,
    /// The newest rejected goals with their results. The reply to a goal contains no reason for a rejection; the
    /// reply to a request for its result does.
    rejected: VecDeque<(GoalId, R)>,
}

/// The `return_code` of a response that rejects a cancel request.
const REJECTED: i8 = 1;
/// The `return_code` of a response to a cancel request for a goal that does not exist.
const UNKNOWN_GOAL: i8 = 2;
const TERMINATED: i8 = 3;

impl<R, W> Default for Goals<R, W> {
    fn default() -> Self {
        Self { goals: vec![], rejected: VecDeque::new() }
    }
}

impl<R: Clone, W> Goals<R, W> {
    /// Adds a goal that is executed from now on.
    ///
    /// # Errors
    /// A text if a goal with this identifier exists already.
    pub fn accept(&mut self, goal_id: GoalId, stamp: Time) -> Result<(), &'static str> {
        if self.find(&goal_id).is_some() {
            return Err("a goal with this ID exists already");
        }
        let info = GoalInfo { goal_id, stamp };
        self.goals.push(Goal { info, status: Status::Executing, result: None, waiting: vec![] });
        Ok(())
    }

    /// Stores the result of a rejected goal, for clients that request it although the goal was rejected.
    pub fn reject(&mut self, goal_id: GoalId, result: R) {
        if self.find(&goal_id).is_some() {
            return;
        }
        self.rejected.retain(|(id, _)| *id != goal_id);
        if self.rejected.len() >= REJECTED_KEPT {
            self.rejected.pop_front();
        }
        self.rejected.push_back((goal_id, result));
    }

    fn find(&mut self, goal_id: &GoalId) -> Option<&mut Goal<R, W>> {
        self.goals.iter_mut().find(|goal| goal.info.goal_id == *goal_id)
    }

    /// Returns the status of a goal; [`Status::Unknown`] if there is no such goal.
    #[must_use]
    pub fn status(&self, goal_id: &GoalId) -> Status {
        let goal = self.goals.iter().find(|goal| goal.info.goal_id == *goal_id);
        goal.map_or(Status::Unknown, |goal| goal.status)
    }

    /// Returns the status of every goal of the action, as a message for its status topic.
    #[must_use]
    pub fn statuses(&self) -> GoalStatusArray {
        let of = |goal: &Goal<R, W>| GoalStatus { goal_info: goal.info, status: goal.status as i8 };
        GoalStatusArray { status_list: self.goals.iter().map(of).collect() }
    }

    /// Returns the goals that a cancel request selects, all of which are to be ended, and the response to it.
    pub fn cancel(&mut self, request: &CancelGoalRequest) -> (BTreeSet<GoalId>, CancelGoalResponse) {
        let GoalInfo { goal_id, stamp } = request.goal_info;
        let (any, always) = (goal_id == GoalId::default(), stamp == Time::default());
        let mut cancelled = CancelGoalResponse::default();
        let mut known = false;
        for goal in &mut self.goals {
            let named = goal.info.goal_id == goal_id;
            known |= named;
            let before = !always && goal.info.stamp <= stamp;
            if !(named || before || any && always) {
                continue;
            }
            if !goal.status.is_final() {
                goal.status = Status::Canceling;
                cancelled.goals_canceling.push(goal.info);
            } else if named {
                cancelled.return_code = TERMINATED;
            }
        }
        if cancelled.goals_canceling.is_empty() && cancelled.return_code == 0 {
            cancelled.return_code = if any || known { REJECTED } else { UNKNOWN_GOAL };
        } else if !cancelled.goals_canceling.is_empty() {
            cancelled.return_code = 0;
        }
        (cancelled.goals_canceling.iter().map(|info| info.goal_id).collect(), cancelled)
    }

    /// Returns a goal's result, or registers `who` to wait for it. The result is `None` if there is no such goal or
    /// too many clients wait. A rejected goal has its result with the status of an unknown one.
    pub fn ask(&mut self, goal_id: &GoalId, who: W) -> Result<(), (W, Option<(Status, R)>)> {
        let rejected = self.rejected.iter().find(|(id, _)| id == goal_id);
        let rejected = rejected.map(|(_, result)| (Status::Unknown, result.clone()));
        let Some(goal) = self.find(goal_id) else { return Err((who, rejected)) };
        match &goal.result {
            Some((result, _)) => Err((who, Some((goal.status, result.clone())))),
            None if goal.waiting.len() < WAITING => {
                goal.waiting.push(who);
                Ok(())
            }
            None => Err((who, None)),
        }
    }

    /// Ends a goal at `now` \[ns\] and returns the clients that wait for its result.
    pub fn end(&mut self, goal_id: &GoalId, status: Status, result: R, now: u64) -> Vec<W> {
        let Some(goal) = self.find(goal_id) else { return vec![] };
        if goal.result.is_some() {
            return vec![];
        }
        (goal.status, goal.result) = (status, Some((result, now)));
        std::mem::take(&mut goal.waiting)
    }

    /// Drops ended goals that were kept long enough at `now` \[ns\], and those beyond the largest number. Returns
    /// `true` if there were any.
    pub fn forget(&mut self, now: u64) -> bool {
        let before = self.goals.len();
        let kept = |goal: &Goal<R, W>| goal.result.as_ref().is_none_or(|(_, at)| now < at.saturating_add(KEPT));
        self.goals.retain(kept);
        while self.goals.len() > MOST
            && let Some(oldest) = self.goals.iter().position(|goal| goal.result.is_some())
        {
            self.goals.remove(oldest);
        }
        self.goals.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> GoalId {
        [number; 16]
    }

    fn at(sec: i32) -> Time {
        Time { sec, nanosec: 0 }
    }

    fn cancel(goals: &mut Goals<(), u8>, goal_id: GoalId, stamp: Time) -> (Vec<u8>, i8) {
        let (ids, response) = goals.cancel(&CancelGoalRequest { goal_info: GoalInfo { goal_id, stamp } });
        assert_eq!(ids.len(), response.goals_canceling.len());
        (ids.iter().map(|id| id[0]).collect(), response.return_code)
    }

    #[test]
    fn a_cancel_means_one_goal_or_all_before_a_time_or_every_one() {
        let mut goals = Goals::default();
        for number in 1..=4 {
            goals.accept(id(number), at(number.into())).expect("a new one");
        }
        assert_eq!(goals.accept(id(4), at(9)), Err("a goal with this ID exists already"));
        assert_eq!(cancel(&mut goals, id(9), at(0)), (vec![], UNKNOWN_GOAL));
        assert_eq!(cancel(&mut goals, id(3), at(0)), (vec![3], 0));
        assert_eq!(cancel(&mut goals, id(0), at(2)), (vec![1, 2], 0));
        assert_eq!(goals.end(&id(3), Status::Canceled, (), 0), Vec::<u8>::new());
        assert_eq!(cancel(&mut goals, id(3), at(0)), (vec![], TERMINATED));
        assert_eq!(cancel(&mut goals, id(0), at(0)), (vec![1, 2, 4], 0));
        for number in [1, 2, 4] {
            goals.end(&id(number), Status::Canceled, (), 0);
        }
        assert_eq!(cancel(&mut goals, id(0), at(0)), (vec![], REJECTED));
    }

    #[test]
    fn a_result_is_told_to_those_who_wait_and_to_whoever_asks_later() {
        let mut goals = Goals::default();
        goals.accept(id(1), at(1)).expect("a new one");
        assert_eq!(goals.ask(&id(2), 'x'), Err(('x', None)));
        assert_eq!((goals.ask(&id(1), 'a'), goals.ask(&id(1), 'b')), (Ok(()), Ok(())));
        assert_eq!(goals.end(&id(1), Status::Succeeded, "there", 5), ['a', 'b']);
        // A goal ends once.
        assert_eq!(goals.end(&id(1), Status::Aborted, "elsewhere", 6), []);
        assert_eq!(goals.ask(&id(1), 'c'), Err(('c', Some((Status::Succeeded, "there")))));
        assert_eq!(goals.statuses().status_list[0].status, Status::Succeeded as i8);
        assert!(!goals.forget(5 + KEPT - 1) && goals.forget(5 + KEPT));
        assert_eq!(goals.status(&id(1)), Status::Unknown);
    }

    #[test]
    fn why_a_goal_was_rejected_is_told_to_whoever_asks_for_its_result() {
        let mut goals = Goals::default();
        goals.accept(id(1), at(1)).expect("a new one");
        goals.reject(id(1), "it was accepted");
        assert_eq!(goals.ask(&id(1), 'a'), Ok(()));
        goals.reject(id(2), "nobody knows");
        goals.reject(id(2), "elsewhere");
        assert_eq!(goals.ask(&id(2), 'b'), Err(('b', Some((Status::Unknown, "elsewhere")))));
        assert_eq!((goals.status(&id(2)), goals.statuses().status_list.len()), (Status::Unknown, 1));
        // The same identifier may be sent again and is then a goal.
        goals.accept(id(2), at(2)).expect("it was none");
        assert_eq!(goals.ask(&id(2), 'b'), Ok(()));
        for number in 10..=200 {
            goals.reject(id(number), "no room");
        }
        let known = (10..=200).filter(|number| matches!(goals.ask(&id(*number), 'c'), Err((_, Some(_))))).count();
        assert_eq!(known, REJECTED_KEPT);
    }

    #[test]
    fn memory_is_bounded_by_what_has_ended_and_by_who_waits() {
        let mut goals = Goals::default();
        for number in 0..=200 {
            goals.accept(id(number), at(0)).expect("a new one");
            let waiting = (0..200).filter(|who| goals.ask(&id(number), *who).is_ok()).count();
            assert_eq!(waiting, WAITING);
            goals.end(&id(number), Status::Succeeded, (), 0);
            goals.forget(0);
        }
        assert_eq!((goals.statuses().status_list.len(), goals.status(&id(200))), (MOST, Status::Succeeded));
    }
}
