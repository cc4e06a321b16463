//! The state of the operator's interface: files, the loaded program, popups, the log, roles and modes.
//!
//! The dashboard server and the Robot API change it. It commands no motion itself: the controller executes its
//! decisions.

mod files;

pub use files::{Files, InstallationFile, ProgramFile};
pub(crate) use files::{file_name, program_name};

use std::time::Duration;

use crate::time::SimTime;

/// The highest number of stored lines of the controller's log; the oldest is dropped for a new one.
const LOG: usize = 1000;

/// The role of the person at the pendant (CB series, 3.1 on). Clients set and read it; the simulated pendant restricts
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserRole {
    /// A user who may do everything except change parts of the robot's setup.
    #[default]
    Programmer,
    /// A user who may only run programs and shut down the robot.
    Operator,
    /// A user without any restriction.
    None,
    /// A user who may do nothing.
    Locked,
    /// A user with the rights of an operator, but without access to the pendant's tab for moving the arm.
    Restricted,
}

impl UserRole {
    /// Every role with the word that sets it over the dashboard.
    pub(crate) const NAMED: [(Self, &'static str); 5] = [
        (Self::Programmer, "programmer"),
        (Self::Operator, "operator"),
        (Self::None, "none"),
        (Self::Locked, "locked"),
        (Self::Restricted, "restricted"),
    ];

    /// Returns the word that sets the role over the dashboard.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMED.into_iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }
}

/// The operational mode: manual or automatic (e-Series).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationalMode {
    /// Manual mode: programs are edited, and run slowly.
    Manual,
    /// Automatic mode: programs run, and cannot be changed.
    Automatic,
}

impl OperationalMode {
    /// Returns the operational mode that this word names, in upper or lower case.
    pub(crate) fn named(word: &str) -> Option<Self> {
        [Self::Manual, Self::Automatic].into_iter().find(|mode| mode.name().eq_ignore_ascii_case(word))
    }

    /// Returns the word that is displayed for the operational mode.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "MANUAL",
            Self::Automatic => "AUTOMATIC",
        }
    }
}

/// The kind of a flight report that a client requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Controller,
    Software,
    System,
    /// The client's request named no kind of flight report.
    Unnamed,
}

impl Report {
    pub(crate) fn named(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "controller" => Some(Self::Controller),
            "software" => Some(Self::Software),
            "system" => Some(Self::System),
            "" => Some(Self::Unnamed),
            _ => None,
        }
    }
}

/// An operation of the operator's interface that takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Load(String),
    LoadInstallation(String),
    Play,
    Pause,
    Stop,
    Report(Report),
    SupportFile(String),
    SaveLog,
    /// Powers on the arm; finished when the joints are ready (PolyScope X).
    ReachIdle,
    /// Releases the brakes; finished when the brakes are open (PolyScope X).
    ReachRunning,
}

/// The result of an operation of the operator's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    NotFound,
    Failed,
}

/// The durations of operations of the operator's interface. None of them is documented, except that reports take
/// minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationTiming {
    /// Duration of loading a program, or an installation.
    pub load: Duration,
    /// Duration of starting, pausing or stopping a program.
    pub play: Duration,
    /// Duration of creating a flight report.
    pub report: Duration,
    /// Duration of creating a support file.
    pub support_file: Duration,
    /// Duration of writing the controller's log to the disk.
    pub save_log: Duration,
}

impl Default for OperationTiming {
    fn default() -> Self {
        Self {
            load: Duration::from_millis(500),
            play: Duration::from_millis(100),
            report: Duration::from_secs(60),
            support_file: Duration::from_secs(120),
            // The vendor's client library waits 1 s for it.
            save_log: Duration::from_millis(500),
        }
    }
}

impl OperationTiming {
    pub(crate) fn of(&self, operation: &Operation) -> Duration {
        match operation {
            Operation::Load(_) | Operation::LoadInstallation(_) => self.load,
            Operation::Play | Operation::Pause | Operation::Stop => self.play,
            Operation::Report(_) => self.report,
            Operation::SupportFile(_) => self.support_file,
            Operation::SaveLog => self.save_log,
            // The state of the arm decides.
            Operation::ReachIdle | Operation::ReachRunning => Duration::ZERO,
        }
    }
}

/// The shortest time between two flight reports of a kind (`core/docs/protocol/ur-dashboard.md 3`).
const BETWEEN_REPORTS: Duration = Duration::from_secs(30);

/// The state of one controller's operator interface.
#[derive(Clone, Debug)]
pub struct Pendant {
    /// The contents of the disk of the operator's interface.
    pub files: Files,
    /// Path of the loaded program file; `None` if none is loaded.
    pub loaded: Option<String>,
    /// Path of the loaded installation file.
    pub installation: String,
    /// The text of the popup that is displayed; `None` if none is.
    pub popup: Option<String>,
    /// `true` if a popup at the pendant reports that a safety function acted.
    pub safety_popup: bool,
    /// Lines that clients wrote to the controller's log, the newest last.
    pub log: Vec<String>,
    /// The role of the person at the pendant.
    pub role: UserRole,
    /// The operational mode chosen at the pendant; `None` if no password protects the mode.
    pub mode: Option<OperationalMode>,
    /// The operational mode that a client has set; `None` if none has. While it is set, the pendant cannot change the
    /// mode.
    pub dashboard_mode: Option<OperationalMode>,
    reports: Vec<(Report, SimTime)>,
}

impl Pendant {
    pub(crate) fn new(files: Files) -> Self {
        let installation = files.resolve(files.installations.first().map_or("", |file| file.name.as_str()));
        Self {
            files,
            loaded: None,
            installation,
            popup: None,
            safety_popup: false,
            log: vec![],
            role: UserRole::default(),
            mode: None,
            dashboard_mode: None,
            reports: vec![],
        }
    }

    /// Returns the operational mode in effect; `None` if none was chosen.
    #[must_use]
    pub fn operational_mode(&self) -> Option<OperationalMode> {
        self.dashboard_mode.or(self.mode)
    }

    /// Chooses an operational mode at the pendant itself. Has no effect while a client controls the mode.
    pub(crate) fn choose_mode(&mut self, mode: Option<OperationalMode>) {
        if self.dashboard_mode.is_none() {
            self.mode = mode;
        }
    }

    pub(crate) fn add_to_log(&mut self, text: String) {
        if self.log.len() == LOG {
            self.log.remove(0);
        }
        self.log.push(text);
    }

    /// Returns the file of the loaded program; `None` if no program is loaded or its file does not exist.
    pub(crate) fn program(&self) -> Option<&ProgramFile> {
        self.files.program(self.loaded.as_deref()?)
    }

    /// Loads a program with its installation. Returns the outcome, and whether the installation changed. If
    /// `minds_confirmation` is `true`, loading fails for an installation that needs a confirmation.
    pub(crate) fn load(&mut self, name: &str, minds_confirmation: bool) -> (Outcome, bool) {
        let Some(file) = self.files.named(name) else { return (Outcome::NotFound, false) };
        let installation = match file.installation.as_deref().map(|name| self.files.installation(name)) {
            None => None,
            Some(Some(found)) if !(minds_confirmation && found.needs_confirmation) => Some(found),
            Some(_) => return (Outcome::Failed, false),
        };
        if file.broken {
            return (Outcome::Failed, false);
        }
        let other = installation.map(|found| self.files.resolve(&found.name)).filter(|path| *path != self.installation);
        self.loaded = Some(self.files.resolve(&file.name));
        let changed = other.is_some();
        self.installation = other.unwrap_or_else(|| std::mem::take(&mut self.installation));
        (Outcome::Done, changed)
    }

    /// Loads an installation from the disk without a program.
    pub(crate) fn load_installation(&mut self, name: &str) -> Outcome {
        match self.files.installation(name) {
            None => Outcome::NotFound,
            Some(file) if file.broken || file.needs_confirmation => Outcome::Failed,
            Some(_) => {
                self.installation = self.files.resolve(name);
                Outcome::Done
            }
        }
    }

    /// Begins a flight report. Returns `false`, and begins none, if one of the same kind began less than 30 s ago.
    pub(crate) fn begin_report(&mut self, report: Report, now: SimTime) -> bool {
        let last = self.reports.iter().rfind(|(kind, _)| *kind == report);
        let allowed = last.is_none_or(|(_, at)| now.since(*at) >= BETWEEN_REPORTS);
        if allowed {
            self.reports.push((report, now));
        }
        allowed
    }

    /// Returns the number of flight reports that were begun.
    pub(crate) fn reports(&self) -> usize {
        self.reports.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pendant() -> Pendant {
        let mut files = Files::default();
        files.programs.push(ProgramFile { broken: true, ..ProgramFile::named("bad.urp") });
        files
            .programs
            .push(ProgramFile { installation: Some("cell.installation".into()), ..ProgramFile::named("weld.urp") });
        files
            .installations
            .push(InstallationFile { needs_confirmation: true, ..InstallationFile::named("cell.installation") });
        Pendant::new(files)
    }

    #[test]
    fn a_program_loads_only_where_it_exists_and_is_whole() {
        let mut pendant = pendant();
        assert_eq!(pendant.load("none.urp", true), (Outcome::NotFound, false));
        assert_eq!(pendant.load("bad.urp", true), (Outcome::Failed, false));
        assert_eq!(pendant.loaded, None);
        assert_eq!(pendant.load("idle.urp", true), (Outcome::Done, false));
        assert_eq!(pendant.loaded.as_deref(), Some("/programs/idle.urp"));
    }

    #[test]
    fn an_installation_that_wants_confirmation_fails_where_the_software_waits_for_it() {
        let mut pendant = pendant();
        assert_eq!(pendant.load("/programs/weld.urp", true), (Outcome::Failed, false));
        assert_eq!(pendant.load("/programs/weld.urp", false), (Outcome::Done, true));
        assert_eq!(pendant.installation, "/programs/cell.installation");
    }

    #[test]
    fn the_pendant_cannot_change_a_mode_that_a_client_controls() {
        let mut pendant = pendant();
        pendant.dashboard_mode = Some(OperationalMode::Automatic);
        pendant.choose_mode(Some(OperationalMode::Manual));
        assert_eq!(pendant.operational_mode(), Some(OperationalMode::Automatic));
        pendant.dashboard_mode = None;
        assert_eq!(pendant.operational_mode(), None);
    }

    #[test]
    fn reports_of_a_kind_are_half_a_minute_apart() {
        let mut pendant = pendant();
        assert!(pendant.begin_report(Report::System, SimTime::ZERO));
        assert!(!pendant.begin_report(Report::System, SimTime::from_secs(29)));
        assert!(pendant.begin_report(Report::Software, SimTime::from_secs(29)));
        assert!(pendant.begin_report(Report::System, SimTime::from_secs(30)));
    }
}
