//! The states and outcomes of goals that wait for the tool to touch something (`core/docs/protocol/ros2-surface.md` 3).
//!
//! The control loop watches for contacts of the tool on behalf of such a goal. The watch is switched off before the
//! goal's end is reported.

use outrigger_ros2_messages::endpoint::Task;
use outrigger_ros2_messages::{Action, Status, ToolContact};

/// The action `detect_tool_contact`, which waits for a contact and makes no motion of its own.
pub static DETECT: Task = Task {
    name: "tool_contact_controller/detect_tool_contact",
    action: ToolContact::TYPE,
    does: "a contact of the tool ends the controller's motion, and then this goal; while commanding, with \
           session.path = \"player\", from CB 3.14 and e-Series 5.4 on",
};

/// The state of the session, as far as it matters to a goal that waits for a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactFacts {
    /// `true` if the arm is commanded.
    pub commands: bool,
    /// `true` if the control loop watches for contacts of the tool: a contact would end a motion.
    pub watched: bool,
    /// The number of contacts counted so far; the counter wraps, and its start is arbitrary.
    pub contacts: u32,
}

/// The way in which a goal that waits for a contact ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The tool touched something, so the goal succeeded.
    Touched,
    /// The client cancelled the goal that waits for a contact.
    Cancelled,
    /// Commanding ended before the tool touched anything, so the goal was aborted.
    NotCommanding,
    /// Another client switched off the control loop's watch for contacts, so the goal was aborted.
    NotWatched,
}

impl Ended {
    /// Returns the final status of the goal that waited for a contact.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Touched => Status::Succeeded,
            Self::Cancelled => Status::Canceled,
            Self::NotCommanding | Self::NotWatched => Status::Aborted,
        }
    }
}

impl Ended {
    /// Returns the reason why the goal was aborted; `None` if it ended in another way.
    #[must_use]
    pub const fn why(self) -> Option<&'static str> {
        match self {
            Self::Touched | Self::Cancelled => None,
            Self::NotCommanding => Some("commanding ended before the tool touched anything"),
            Self::NotWatched => Some("another client ended the watch for contacts"),
        }
    }
}

/// The next step for a goal that waits for a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// No step is due, so the goal waits further for a contact.
    Wait,
    /// The control loop's watch for contacts is to be switched off. This step is returned again if an earlier attempt
    /// had no effect.
    SwitchOff,
    /// The goal that waits for a contact ends with this outcome.
    End(Ended),
}

/// A goal that waits for a contact of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    /// The value of the contact counter when the goal began.
    began: u32,
    touched: bool,
    cancelled: bool,
    /// `true` once the session has reported that the watch for contacts is on. A granted request is reported with a
    /// delay.
    shown: bool,
    /// `true` if the end of the watch for contacts was requested.
    switched: bool,
}

/// Returns `true` if the contact counter advanced from `began` to `contacts`: the tool touched something in between.
/// The counter wraps.
#[must_use]
pub const fn touched(began: u32, contacts: u32) -> bool {
    matches!(contacts.wrapping_sub(began), 1..=0x7fff_ffff)
}

impl Watch {
    /// Creates the state of a goal that begins now; `contacts` is the present value of the contact counter.
    #[must_use]
    pub const fn new(contacts: u32) -> Self {
        Self { began: contacts, touched: false, cancelled: false, shown: false, switched: false }
    }

    /// Records that the client cancels the goal that waits for a contact.
    pub const fn cancel(&mut self) {
        self.cancelled = true;
    }

    /// Returns the goal's next step, given the newest state of the session. A contact that was counted decides the
    /// outcome, whatever else happens.
    #[must_use]
    pub const fn look(&mut self, seen: ContactFacts) -> Next {
        self.touched |= touched(self.began, seen.contacts);
        self.shown |= seen.watched;
        let ends = self.touched || self.cancelled;
        if ends && seen.commands && (seen.watched || !(self.shown || self.switched)) {
            self.switched = true;
            return Next::SwitchOff;
        }
        match (self.touched, self.cancelled) {
            (true, _) => Next::End(Ended::Touched),
            (false, true) => Next::End(Ended::Cancelled),
            (false, false) if !seen.commands => Next::End(Ended::NotCommanding),
            (false, false) if self.shown && !seen.watched => Next::End(Ended::NotWatched),
            (false, false) => Next::Wait,
        }
    }
}

/// Returns the status of a motion that ends at a contact, and whether a contact ended it. `how` is the motion's own
/// end, `touched` says whether the tool touched something meanwhile, and `commands` whether the arm is still
/// commanded.
#[must_use]
pub const fn until(how: Status, touched: bool, commands: bool) -> (Status, bool) {
    match how {
        // A motion that ended for another reason is reported with that reason.
        Status::Succeeded | Status::Aborted if touched && commands => (Status::Succeeded, true),
        how => (how, touched && commands),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Explores every order of contacts, cancellations, switches of the watch and ends of commanding, with a control
    /// loop that may or may not obey a request to switch the watch off. A goal ends once, and a contact has precedence.
    /// No watch remains on its behalf while the arm is commanded.
    #[test]
    fn a_goal_ends_by_what_happened_and_leaves_nobody_watching() {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        struct World {
            watch: Watch,
            seen: (bool, bool, u32),
            cancelled: bool,
            /// `true` if the session has reported that it watches for contacts.
            shown: bool,
            /// `true` if the watch was requested to be switched off.
            switched: bool,
        }
        const BEGAN: u32 = u32::MAX;
        let mut worlds = HashSet::new();
        for (watched, contacts) in [(true, BEGAN), (false, BEGAN), (false, BEGAN - 1)] {
            let seen = (true, watched, contacts);
            worlds.insert(World { watch: Watch::new(BEGAN), seen, cancelled: false, shown: false, switched: false });
        }
        let (mut seen_ends, mut known) = (vec![], worlds.clone());
        while !worlds.is_empty() {
            let mut next = HashSet::new();
            for world in worlds {
                for happens in 0..6 {
                    let World { mut watch, seen: (mut commands, mut watched, mut contacts), .. } = world;
                    let World { mut cancelled, mut shown, mut switched, .. } = world;
                    match happens {
                        0 => {}
                        1 => contacts = BEGAN.wrapping_add(1),
                        2 => {
                            watch.cancel();
                            cancelled = true;
                        }
                        3 => watched = false,
                        4 => watched = commands && !switched,
                        _ => (commands, watched) = (false, false),
                    }
                    shown |= watched;
                    let fresh = !(shown || switched);
                    let touched = contacts == 0;
                    match watch.look(ContactFacts { commands, watched, contacts }) {
                        Next::Wait => {
                            assert!(commands && (watched || fresh) && !touched && !cancelled);
                        }
                        Next::SwitchOff => {
                            assert!(commands && (watched || fresh) && (cancelled || touched));
                            switched = true;
                        }
                        Next::End(how) => {
                            assert!(!(commands && (watched || fresh)), "{how:?} with somebody watching");
                            let expected = match () {
                                () if touched => Ended::Touched,
                                () if cancelled => Ended::Cancelled,
                                () if !commands => Ended::NotCommanding,
                                () => Ended::NotWatched,
                            };
                            assert_eq!(how, expected);
                            seen_ends.push(how);
                            continue;
                        }
                    }
                    let world = World { watch, seen: (commands, watched, contacts), cancelled, shown, switched };
                    if known.insert(world) {
                        next.insert(world);
                    }
                }
            }
            worlds = next;
        }
        for end in [Ended::Touched, Ended::Cancelled, Ended::NotCommanding, Ended::NotWatched] {
            assert!(seen_ends.contains(&end) && end.status().is_final(), "{end:?} never happens");
        }
    }

    #[test]
    fn a_motion_that_a_contact_ended_has_succeeded_while_the_arm_is_commanded() {
        for how in [Status::Succeeded, Status::Canceled, Status::Aborted] {
            for (touched, commands) in [(false, false), (false, true), (true, false), (true, true)] {
                let (ended, triggered) = until(how, touched, commands);
                assert_eq!(triggered, touched && commands);
                let success = how == Status::Succeeded || how == Status::Aborted && triggered;
                assert_eq!(ended == Status::Succeeded, success, "{how:?} {touched} {commands}");
                assert_eq!(ended == Status::Canceled, how == Status::Canceled);
            }
        }
    }
}
