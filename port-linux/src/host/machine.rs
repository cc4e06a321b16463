//! Asks the operating system for what the configuration wants, and reads back what is in force.

use std::fmt;

use outrigger_config::HostSettings;

use crate::exit::Failure;
use crate::host::os::{self, MOST_PROCESSORS, Scheduling};

/// What the operating system grants the calling thread, as read back from it.
#[derive(Clone, Debug)]
pub struct InForce {
    scheduling: Option<Scheduling>,
    processors: Vec<usize>,
    locked_kib: Option<u64>,
    busy_poll_micros: Option<u32>,
}

/// Applies `settings` to the calling thread. What is asked for and not granted is a failure: a loop that
/// was meant to be real-time and silently is not would be found out at the worst moment.
///
/// # Errors
/// [`Failure::BadInput`] naming the key, what the kernel said and what to do about it.
pub fn apply(settings: &HostSettings) -> Result<InForce, Failure> {
    let refused = |key: &str, error: std::io::Error, advice: &str| {
        Failure::BadInput(format!("host.{key}: the kernel refuses ({error}); {advice}"))
    };
    if let Some(cpu) = settings.cpu {
        // The kernel silently drops processors it does not have from a mask, so ask for exactly one.
        if cpu >= MOST_PROCESSORS {
            return Err(Failure::BadInput(format!("host.cpu: found {cpu}, expected less than {MOST_PROCESSORS}")));
        }
        os::pin(cpu).map_err(|e| refused("cpu", e, "choose a processor this machine lets the process use"))?;
    }
    if settings.lock_memory {
        os::lock_memory()
            .map_err(|e| refused("lock_memory", e, "raise the memlock limit (ulimit -l) or grant CAP_IPC_LOCK"))?;
    }
    if let Some(priority) = settings.fifo_priority {
        os::set_fifo(priority).map_err(|e| {
            refused("scheduling", e, "raise the rtprio limit (ulimit -r) or grant CAP_SYS_NICE, or use \"other\"")
        })?;
        // Reading back catches sandboxes that accept the call and do nothing.
        if os::scheduling().ok() != Some(Scheduling::Fifo(priority)) {
            return Err(Failure::BadInput(
                "host.scheduling: the kernel accepted SCHED_FIFO but does not show it; use \"other\" here".into(),
            ));
        }
    }
    Ok(InForce { busy_poll_micros: settings.busy_poll_micros, ..in_force() })
}

/// Priority of a loop, of the simulator beside it and of what measures both, where nothing else is configured.
const PRIORITY: u8 = 20;

/// Real-time priority of the calling thread and of those that it starts from now on, and locked memory, as far as the system
/// grants them.
#[derive(Debug)]
pub struct RealTime {
    priority: Result<Scheduling, std::io::Error>,
    memory: Result<(), std::io::Error>,
    /// The thread had the time-sharing scheduler before.
    raised: bool,
}

impl RealTime {
    /// Asks for both. A thread that has real-time priority already keeps the one it has.
    #[must_use]
    pub fn ask() -> Self {
        let before = os::scheduling();
        let (priority, raised) = match before {
            Ok(Scheduling::Fifo(_)) => (before, false),
            _ => (os::set_fifo(PRIORITY).and_then(|()| os::scheduling()), true),
        };
        let raised = raised && matches!(priority, Ok(Scheduling::Fifo(_)));
        let memory = if may_lock_all() { os::lock_memory() } else { Err(std::io::ErrorKind::PermissionDenied.into()) };
        Self { priority, memory, raised }
    }

    /// Returns the calling thread to the scheduler that it had; threads started meanwhile keep the priority.
    pub fn give_back(&self) {
        if self.raised {
            // Refused, it stays as it is, which hurts nobody.
            let _ = os::set_other();
        }
    }
}

impl fmt::Display for RealTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.priority {
            Ok(Scheduling::Fifo(priority)) => write!(f, "scheduling: real-time priority {priority} (SCHED_FIFO)")?,
            Ok(_) => f.write_str("scheduling: normal (the system grants no real-time priority)")?,
            Err(error) => write!(f, "scheduling: normal (no real-time priority: {})", plain(error))?,
        }
        match &self.memory {
            Ok(()) => f.write_str(", memory locked"),
            Err(error) => write!(f, ", memory not locked ({})", plain(error)),
        }
    }
}

/// The system's words without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Returns `true` if memory can be locked without a limit that a later allocation would meet.
fn may_lock_all() -> bool {
    /// `CAP_IPC_LOCK`.
    const LOCKS: u32 = 14;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"));
    let unlimited = limit.is_some_and(|line| line.split_whitespace().next() == Some("unlimited"));
    unlimited || capabilities >> LOCKS & 1 == 1
}

/// What is in force for the calling thread.
#[must_use]
pub fn in_force() -> InForce {
    InForce {
        scheduling: os::scheduling().ok(),
        processors: os::processors(),
        locked_kib: locked_kib(),
        busy_poll_micros: None,
    }
}

/// Kernel and processor of this machine, for reports.
#[must_use]
pub fn describe() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!(
        "{}, {}, {} processor(s)",
        os::name(),
        model.map_or("unknown processor", |(_, model)| model),
        std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
    )
}

/// `VmLck` of this process: memory that cannot be swapped out \[KiB\].
fn locked_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmLck:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheduling {
            Some(Scheduling::Other) => f.write_str("time-sharing scheduler")?,
            Some(Scheduling::Fifo(priority)) => write!(f, "SCHED_FIFO {priority}")?,
            Some(Scheduling::Policy(number)) => write!(f, "scheduling policy {number}")?,
            None => f.write_str("scheduler unknown")?,
        }
        match self.processors.as_slice() {
            [] => f.write_str(", processors unknown")?,
            [one] => write!(f, ", pinned to processor {one}")?,
            many => write!(f, ", {} processors", many.len())?,
        }
        match self.locked_kib {
            None => f.write_str(", locked memory unknown")?,
            Some(0) => f.write_str(", memory not locked")?,
            Some(kib) => write!(f, ", {kib} KiB locked")?,
        }
        if let Some(micros) = self.busy_poll_micros {
            write!(f, ", awake from {micros} µs before each state")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_asked_for_is_nothing_changed() {
        let before = in_force();
        let after = apply(&HostSettings::default()).expect("nothing to refuse");
        assert_eq!((before.scheduling, before.processors), (after.scheduling, after.processors));
    }

    #[test]
    fn what_the_system_grants_is_one_line() {
        let refused = || std::io::Error::from_raw_os_error(libc::EPERM);
        let none = RealTime { priority: Err(refused()), memory: Err(refused()), raised: false };
        assert_eq!(
            none.to_string(),
            "scheduling: normal (no real-time priority: operation not permitted), memory not locked (operation not permitted)"
        );
        let all = RealTime { priority: Ok(Scheduling::Fifo(20)), memory: Ok(()), raised: true };
        assert_eq!(all.to_string(), "scheduling: real-time priority 20 (SCHED_FIFO), memory locked");
    }

    #[test]
    fn a_processor_that_does_not_exist_is_refused_by_name() {
        let settings = HostSettings { cpu: Some(MOST_PROCESSORS - 1), ..HostSettings::default() };
        let Err(failure) = apply(&settings) else { panic!("processor {} granted", MOST_PROCESSORS - 1) };
        assert!(failure.to_string().starts_with("host.cpu:"), "{failure}");
    }
}
