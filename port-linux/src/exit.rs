//! The result of a command: its exit code, and the messages printed at its end. Scripts rely on the exit codes.

use std::fmt;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// The error numbers for too many open files or sockets, of this process or of the whole system. On Windows
/// `WSAEMFILE` and `ERROR_TOO_MANY_OPEN_FILES`.
const OUT_OF_FILES: [i32; 2] = if cfg!(windows) { [10_024, 4] } else { [libc::EMFILE, libc::ENFILE] };

/// A reason why a command failed. Each kind has its own exit code.
#[derive(thiserror::Error)]
pub enum Failure {
    /// Exit code 1: a file, a stream or a configuration is not valid.
    #[error("{0}")]
    BadInput(String),
    /// Exit code 2: an argument is not valid, e.g. it names something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// Exit code 3: the robot or another process cannot be reached, rejects the connection or does not reply.
    #[error("{0}")]
    Connection(String),
    /// Exit code 4: commanding ended because of a fault (a fallback), or another fault was found, or a check failed.
    #[error("{0}")]
    Fault(String),
    /// Exit code 130: Ctrl-C ended the command before it had a result.
    #[error("{0}")]
    Interrupted(String),
}

/// Formats the message for users, which is what `fn main() -> Result<(), outrigger::Failure>` prints.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told())
    }
}

impl Failure {
    /// Puts the path of a file in front of the failure's message.
    #[must_use]
    pub fn at(self, path: &std::path::Path) -> Self {
        let shown = path.display();
        match self {
            Self::BadInput(text) => Self::BadInput(format!("{shown}: {text}")),
            Self::Usage(text) => Self::Usage(format!("{shown}: {text}")),
            Self::Connection(text) => Self::Connection(format!("{shown}: {text}")),
            Self::Fault(text) => Self::Fault(format!("{shown}: {text}")),
            Self::Interrupted(text) => Self::Interrupted(format!("{shown}: {text}")),
        }
    }

    /// Returns the message for users, with advice if it is about too many open files.
    #[must_use]
    pub fn told(&self) -> String {
        let text = self.to_string();
        let of_files = OUT_OF_FILES.iter().any(|number| text.contains(&format!("(os error {number})")));
        if of_files && !text.contains(TOO_FEW_FILES) { format!("{text}; {TOO_FEW_FILES}") } else { text }
    }

    /// Returns the exit code of the process for this kind of failure.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Self::BadInput(_) => 1,
            Self::Usage(_) => 2,
            Self::Connection(_) => 3,
            Self::Fault(_) => 4,
            // The code that a shell reports for a process that SIGINT has ended.
            Self::Interrupted(_) => 130,
        }
    }
}

impl From<Failure> for ExitCode {
    fn from(failure: Failure) -> Self {
        Self::from(failure.code())
    }
}

impl From<outrigger_config::Failure> for Failure {
    fn from(failure: outrigger_config::Failure) -> Self {
        Self::BadInput(failure.to_string())
    }
}

/// The advice for a process that has reached its limit of open files.
pub(crate) const TOO_FEW_FILES: &str = "this process may open too few files: raise the limit (ulimit -n 1024)";

/// Returns `true` if `error` means too many open files, of this process or of the whole machine.
pub(crate) fn is_too_few_files(error: &std::io::Error) -> bool {
    error.raw_os_error().is_some_and(|number| OUT_OF_FILES.contains(&number))
}

/// The result of a command: success, or the reason of its failure.
pub type Outcome = Result<(), Failure>;

/// Converts a failed write to standard output. A closed pipe (`| head`) ends the command quietly and successfully;
/// any other error is reported.
///
/// # Errors
/// Returns [`Failure::BadInput`] for anything but a closed pipe.
pub fn output_closed(error: &std::io::Error) -> Outcome {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Ok(());
    }
    Err(Failure::BadInput(format!("cannot write the output: {error}")))
}

/// A list of failed writes after which a command continued: the first one to standard output, and each one to
/// another file.
#[derive(Debug)]
struct Unwritten(Mutex<Vec<String>>);

impl Unwritten {
    const fn new() -> Self {
        Self(Mutex::new(vec![]))
    }

    /// Stores the error of a write to standard output if no failed write is stored yet, unless the pipe was closed.
    fn note(&self, error: &std::io::Error) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let (true, Err(failure)) = (texts.is_empty(), output_closed(error)) {
            texts.push(failure.to_string());
        }
    }

    /// Stores the failed writes among `written` for the end of the process, and returns the outcome `ended` of the
    /// command.
    fn despite(&self, written: impl IntoIterator<Item = Outcome>, ended: Outcome) -> Outcome {
        let failures = written.into_iter().filter_map(Result::err).map(|failure| failure.to_string());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(failures);
        ended
    }

    fn failures(&self) -> Vec<Failure> {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.iter().cloned().map(Failure::BadInput).collect()
    }
}

static UNWRITTEN: Unwritten = Unwritten::new();

/// Stores a failed write to standard output, for a command that continues to its end. The process then exits with
/// that failure.
pub fn output_failed(error: &std::io::Error) {
    UNWRITTEN.note(error);
}

/// Returns the outcome `ended` of a command, and stores each failed write among `written`. A failed write decides the
/// exit code only if `ended` is a success.
pub fn despite(written: impl IntoIterator<Item = Outcome>, ended: Outcome) -> Outcome {
    UNWRITTEN.despite(written, ended)
}

/// Returns the messages for standard error at the end of a command, and the exit code of the process. The reason for
/// the end is first, then the output that is missing.
pub fn ending(ended: Outcome) -> (Vec<String>, u8) {
    last_words(ended, UNWRITTEN.failures())
}

fn last_words(ended: Outcome, unwritten: Vec<Failure>) -> (Vec<String>, u8) {
    let failures: Vec<Failure> = ended.err().into_iter().chain(unwritten).collect();
    let mut said: Vec<String> = vec![];
    for told in failures.iter().map(Failure::told) {
        if !said.contains(&told) {
            said.push(told);
        }
    }
    (said, failures.first().map_or(0, Failure::code))
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn each_kind_of_failure_has_its_exit_code_and_too_few_files_their_remedy() {
        let kinds: [fn(String) -> Failure; 4] =
            [Failure::BadInput, Failure::Usage, Failure::Connection, Failure::Fault];
        assert_eq!(kinds.map(|kind| kind(String::new()).code()), [1, 2, 3, 4]);
        let error = Error::from_raw_os_error(OUT_OF_FILES[0]);
        assert!(is_too_few_files(&error));
        let told = Failure::Connection(format!("cannot connect: {error}")).told();
        assert!(told.ends_with(TOO_FEW_FILES), "{told}");
        assert_eq!(Failure::Usage("no file is opened".into()).told(), "no file is opened");
    }

    #[test]
    fn a_reader_that_has_gone_away_is_no_failure_and_any_other_error_of_the_output_is() {
        assert!(output_closed(&Error::from(ErrorKind::BrokenPipe)).is_ok());
        let full = output_closed(&Error::from(ErrorKind::StorageFull)).expect_err("it is not written");
        assert!(full.code() == 1 && full.to_string().starts_with("cannot write the output: "), "{full:?}");
    }

    #[test]
    fn the_first_failed_write_that_a_command_has_survived_is_the_failure_of_the_process() {
        let unwritten = Unwritten::new();
        unwritten.note(&Error::from(ErrorKind::BrokenPipe));
        assert!(unwritten.failures().is_empty());
        unwritten.note(&Error::from(ErrorKind::StorageFull));
        unwritten.note(&Error::from(ErrorKind::PermissionDenied));
        let [failure] = unwritten.failures().try_into().expect("it is not written");
        let said = format!("cannot write the output: {}", Error::from(ErrorKind::StorageFull));
        assert_eq!((failure.code(), failure.to_string()), (1, said.clone()));
        assert_eq!(last_words(Ok(()), unwritten.failures()), (vec![said.clone()], 1));
        assert_eq!(last_words(Err(failure), unwritten.failures()), (vec![said.clone()], 1));
        let fault = || Err(Failure::Fault("the arm stopped".into()));
        assert_eq!(last_words(fault(), unwritten.failures()), (vec!["the arm stopped".into(), said.clone()], 4));
        assert_eq!(last_words(Ok(()), vec![]), (vec![], 0));
        let page = Err(Failure::BadInput("cannot write there.html".into()));
        let interrupted = unwritten.despite([page, Ok(())], Err(Failure::Interrupted("Ctrl-C".into())));
        let texts = vec!["Ctrl-C".into(), said, "cannot write there.html".into()];
        assert_eq!(last_words(interrupted, unwritten.failures()), (texts, 130));
    }
}
