//! The table `[host]`: scheduling and memory that a process requests from the operating system.

use outrigger_core::{settings, words};

use crate::reader::Section;

settings! {
    /// The scheduling and memory that are requested from the operating system. By default nothing is requested.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HostSettings in "host." {
        /// The process's priority in the real-time scheduler `SCHED_FIFO`. `None` keeps the time-sharing scheduler.
        pub fifo_priority at "priority": Option<u8> [1 to 99] = None,
        /// Locks all memory of the process, present and future, so that it is never swapped out.
        pub lock_memory: bool = false,
        /// The number of the processor to which the thread of the control loop is bound. `None` binds it to none.
        pub cpu: Option<usize> [0 to 1023] = None,
        /// The choice between polling for the next state and sleeping: by default automatic in the real-time scheduler,
        /// else sleeping.
        pub busy_poll: Option<BusyPoll> = None,
    }
}

/// The choice of a control loop between polling for the next state of the robot and sleeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BusyPoll {
    /// Never.
    #[default]
    Off,
    /// Shortly before each expected state, for at most 5 % of a processor. The loop sleeps where polling does not pay.
    Automatic,
    /// All the time while states arrive.
    Always,
}

words!(BusyPoll { "off" = Off, "auto" = Automatic, "always" = Always });

impl BusyPoll {
    /// Returns a description for people; `None` if the loop never polls.
    #[must_use]
    pub const fn text(self) -> Option<&'static str> {
        match self {
            Self::Off => None,
            Self::Automatic => Some("polls shortly before each state"),
            Self::Always => Some("polls all the time"),
        }
    }
}

impl HostSettings {
    /// Returns the scheduling and memory settings that are requested, as text for people: `nothing` if there are none.
    #[must_use]
    pub fn asked(&self) -> String {
        let mut asked = Vec::new();
        if let Some(priority) = self.fifo_priority {
            asked.push(format!("SCHED_FIFO {priority}"));
        }
        if self.lock_memory {
            asked.push("locked memory".into());
        }
        if let Some(cpu) = self.cpu {
            asked.push(format!("processor {cpu}"));
        }
        asked.extend(self.busy_poll.and_then(BusyPoll::text).map(str::to_owned));
        if asked.is_empty() { "nothing".into() } else { asked.join(", ") }
    }

    pub(crate) fn of(section: Section<'_, '_>) -> Self {
        section.settings(|host: &mut Self, section| {
            let fifo = section.choice("scheduling", &[("other", false), ("fifo", true)], false);
            host.read(section);
            if host.fifo_priority.is_some() && !fifo {
                section.complain("priority", "scheduling = \"fifo\" with it");
            }
            host.busy_poll = host.busy_poll.or(fifo.then_some(BusyPoll::Automatic));
            host.fifo_priority = fifo.then(|| host.fifo_priority.unwrap_or(40));
        })
    }
}
