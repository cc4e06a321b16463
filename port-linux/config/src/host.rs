//! The table `[host]`: scheduling and memory that a process requests from the operating system.

use outrigger_core::settings;

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
        /// Time before an expected state from which the loop polls its sockets without sleeping \[µs\].
        pub busy_poll_micros at "busy_poll": Option<u32> [1 to 10000] = None,
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
        if let Some(micros) = self.busy_poll_micros {
            asked.push(format!("awake from {micros} µs before each state"));
        }
        if asked.is_empty() { "nothing".into() } else { asked.join(", ") }
    }

    pub(crate) fn of(section: Section<'_, '_>) -> Self {
        section.settings(|host: &mut Self, section| {
            let fifo = section.choice("scheduling", &[("other", false), ("fifo", true)], false);
            host.read(section);
            if host.fifo_priority.is_some() && !fifo {
                section.complain("priority", "scheduling = \"fifo\" with it");
            }
            host.fifo_priority = fifo.then(|| host.fifo_priority.unwrap_or(40));
        })
    }
}
