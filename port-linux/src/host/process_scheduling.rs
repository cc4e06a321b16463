//! Requests the scheduling and memory of the configuration from the operating system, and reads back what is in
//! force.

use std::fmt;

use outrigger_config::{BusyPoll, HostSettings};

use crate::exit::Failure;
use crate::host::os::{self, MOST_PROCESSORS, Scheduling};

/// The scheduling and memory in force for the calling thread, as read back from the operating system.
#[derive(Clone, Debug)]
pub struct InForce {
    scheduling: Option<Scheduling>,
    processors: Vec<usize>,
    locked_kib: Option<u64>,
    busy_poll: BusyPoll,
}

/// Applies the real-time settings (processor, locked memory, priority) to the calling thread. A setting that the system
/// does not grant is an error, because a loop that is not real-time as configured would fail at the worst moment.
///
/// # Errors
/// Returns [`Failure::BadInput`] with the key, the error of the kernel and advice.
pub fn apply(settings: &HostSettings) -> Result<InForce, Failure> {
    let refused = |key: &str, error: std::io::Error, advice: &str| {
        Failure::BadInput(format!("host.{key}: the kernel refuses ({error}); {advice}"))
    };
    if let Some(cpu) = settings.cpu {
        // The kernel silently removes processors that it does not have from a mask, so exactly one is requested.
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
        // Reading back detects sandboxes that accept the call and do nothing.
        if os::scheduling().ok() != Some(Scheduling::Fifo(priority)) {
            return Err(Failure::BadInput(
                "host.scheduling: the kernel accepted SCHED_FIFO but does not show it; use \"other\" here".into(),
            ));
        }
    }
    Ok(InForce { busy_poll: settings.busy_poll.unwrap_or_default(), ..in_force() })
}

/// The real-time priority of the thread of a control loop, of its simulator and of measurements of both, unless another
/// one is configured.
const PRIORITY: u8 = 20;

/// The real-time priority and the locked memory that the system granted to the calling thread, or the reasons why not.
/// Threads that it starts later inherit the priority.
#[derive(Debug)]
pub struct RealTime {
    priority: Result<Scheduling, std::io::Error>,
    memory: Result<(), std::io::Error>,
    /// `true` if the thread has its priority only since this request, because it was not under `SCHED_FIFO` before.
    raised: bool,
}

impl RealTime {
    /// Requests real-time priority and locked memory for the calling thread. A thread that is under `SCHED_FIFO`
    /// already keeps its priority.
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

    /// Puts the calling thread under the time-sharing scheduler if its priority was raised by this request. Threads
    /// that it started in the meantime keep the real-time priority.
    pub fn give_back(&self) {
        if self.raised {
            // If this is refused, the thread keeps the priority, which does no harm.
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

/// Returns the operating system's text for `error`, without the error number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Returns `true` if all memory can be locked without a limit that a later allocation would hit.
fn may_lock_all() -> bool {
    /// The number of the Linux capability `CAP_IPC_LOCK`, which permits locking memory.
    const LOCKS: u32 = 14;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"));
    let unlimited = limit.is_some_and(|line| line.split_whitespace().next() == Some("unlimited"));
    unlimited || capabilities >> LOCKS & 1 == 1
}

/// Returns the real-time settings in force for the calling thread.
#[must_use]
pub fn in_force() -> InForce {
    InForce {
        scheduling: os::scheduling().ok(),
        processors: os::processors(),
        locked_kib: locked_kib(),
        busy_poll: BusyPoll::Off,
    }
}

/// Returns the kernel and the processor of this machine, for reports.
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

/// Returns the memory of this process that cannot be swapped out, `VmLck` \[KiB\]. `None` if the system does not report
/// it.
fn locked_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmLck:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheduling {
            Some(Scheduling::Other) => f.write_str("normal scheduling (SCHED_OTHER)")?,
            Some(Scheduling::Fifo(priority)) => write!(f, "SCHED_FIFO {priority}")?,
            Some(Scheduling::Named(name)) => f.write_str(name)?,
            Some(Scheduling::Policy(number)) => write!(f, "scheduling policy {number}")?,
            None => f.write_str("scheduler unknown")?,
        }
        match self.processors.as_slice() {
            [] => f.write_str(", CPUs unknown")?,
            [one] => write!(f, ", pinned to CPU {one}")?,
            many => write!(f, ", {} CPUs", many.len())?,
        }
        match self.locked_kib {
            None => f.write_str(", locked memory unknown")?,
            Some(0) => f.write_str(", memory not locked")?,
            Some(kib) => write!(f, ", {kib} KiB locked")?,
        }
        match self.busy_poll.text() {
            Some(text) => write!(f, ", {text}"),
            None => Ok(()),
        }
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
