//! `[host]`: what this process asks of the operating system.

use crate::reader::Section;

/// What is asked of the operating system. Nothing is asked by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// `SCHED_FIFO` with this priority, 1 … 99; `None` leaves the time-sharing scheduler.
    pub fifo_priority: Option<u8>,
    /// Whether all memory, present and future, is kept out of swap.
    pub lock_memory: bool,
    /// The one processor to run on.
    pub cpu: Option<usize>,
    /// How long a read polls the network device before it sleeps \[µs\].
    pub busy_poll_micros: Option<u32>,
    /// Whether the loop spins on its sockets instead of sleeping until something arrives.
    pub spin: bool,
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
            asked.push(format!("device polling for {micros} µs"));
        }
        if self.spin {
            asked.push("spinning".into());
        }
        if asked.is_empty() { "nothing".into() } else { asked.join(", ") }
    }

    pub(crate) fn read(mut section: Section<'_, '_>) -> Self {
        let fifo = section.choice("scheduling", &[("other", false), ("fifo", true)], false);
        let priority = section.integer("priority", None, 1..=99);
        if priority.is_some() && !fifo {
            section.complain("priority", "scheduling = \"fifo\" beside it");
        }
        let settings = Self {
            fifo_priority: fifo.then(|| priority.and_then(|p| u8::try_from(p).ok()).unwrap_or(40)),
            lock_memory: section.flag("lock_memory", false),
            cpu: section.integer("cpu", None, 0..=1023).and_then(|cpu| usize::try_from(cpu).ok()),
            busy_poll_micros: section.integer("busy_poll", None, 1..=10_000).and_then(|us| u32::try_from(us).ok()),
            spin: section.flag("spin", false),
        };
        section.finish();
        settings
    }
}
