//! `[host]`: what this process asks of the operating system.

use outrigger_core::settings;

use crate::reader::Section;

settings! {
    /// What is asked of the operating system. Nothing is asked by default.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HostSettings in "host." {
        /// `SCHED_FIFO` with this priority; `None` leaves the time-sharing scheduler.
        pub fifo_priority at "priority": Option<u8> [1 to 99] = None,
        /// Whether all memory, present and future, is kept out of swap.
        pub lock_memory: bool = false,
        /// The one processor to run on.
        pub cpu: Option<usize> [0 to 1023] = None,
        /// From how long before a state is due the loop looks at its sockets without sleeping \[µs\].
        pub busy_poll_micros at "busy_poll": Option<u32> [1 to 10000] = None,
    }
}

impl HostSettings {
    /// What is asked for, in words.
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
                section.complain("priority", "scheduling = \"fifo\" beside it");
            }
            host.fifo_priority = fifo.then(|| host.fifo_priority.unwrap_or(40));
        })
    }
}
