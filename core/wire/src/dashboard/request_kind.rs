//! The dashboard requests: their words, the first software that supports each, and whether it needs remote control.

use super::request::{Argument, FlightReport, OperationalMode, UserRole};
use crate::robot::{Generation, SoftwareVersion};

/// The first software version of a controller family that supports a dashboard request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// The dashboard request is supported from software `major.minor` on.
    From(u8, u8),
    /// The dashboard request is supported from software `major.minor` on, as a single source says; no second source
    /// confirms it.
    Reported(u8, u8),
    Never,
}

use Since::{From, Never, Reported};

/// The answer to the question whether a software version supports a dashboard request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Support {
    /// The controller's software supports the dashboard request.
    Yes,
    /// The sources do not settle whether the software supports the dashboard request. It can be tried, because an
    /// unsupported request changes nothing.
    Perhaps,
    /// The software does not support the dashboard request yet: its family (CB2 and CB3 are one) supports it from this
    /// version on.
    From(SoftwareVersion),
    /// No software of the controller's family supports the dashboard request.
    Never,
}

macro_rules! plain {
    ($kind:ident) => {
        Some(Request::$kind)
    };
    ($kind:ident $argument:ty) => {
        None
    };
}

macro_rules! requests {
    ($($(#[$doc:meta])* $kind:ident $(($argument:ty))? $words:literal, $cb:expr, $e:expr, $x:expr, $remote:literal;)+) => {
        /// A dashboard request with its argument, if it has one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub enum Request<'a> { $($(#[$doc])* #[doc = concat!("`", $words, "`.")] $kind $(($argument))?,)+ }

        impl Request<'_> {
            /// Returns the kind of this dashboard request, without its argument.
            #[must_use]
            pub const fn kind(&self) -> RequestKind {
                match self { $(Self::$kind { .. } => RequestKind::$kind),+ }
            }
        }

        /// The kind of a dashboard [`Request`], without its argument.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum RequestKind { $($(#[$doc])* #[doc = concat!("`", $words, "`.")] $kind,)+ }

        impl RequestKind {
            /// The list of all dashboard requests, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Returns the text with which the request line begins, without any argument.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$kind => $words),+ }
            }

            /// Returns the dashboard request of this kind. `None` if it has an argument.
            pub(super) const fn plain(self) -> Option<Request<'static>> {
                match self { $(Self::$kind => plain!($kind $($argument)?)),+ }
            }

            /// Returns whether e-Series and PolyScope X accept the dashboard request only in remote control. The mode
            /// that counts is the one that was selected when the connection was opened.
            #[must_use]
            pub const fn needs_remote_control(self) -> bool {
                match self { $(Self::$kind => $remote),+ }
            }

            /// Returns the first software that supports the dashboard request: of the CB series, of e-Series and of
            /// PolyScope X.
            const fn since(self) -> [Since; 3] {
                match self { $(Self::$kind => [$cb, $e, $x]),+ }
            }
        }
    };
}

// PolyScope X: the Robot API of 10.11, and what 10.12 (API 3.1.4) added (`core/docs/protocol/ur-dashboard.md 6`).
requests! {
    /// Loads a program from a file. The path is absolute or relative to the folder of programs.
    Load(Argument<'a>) "load", From(1, 4), From(5, 0), From(10, 11), true;
    /// Starts the loaded program, or resumes a paused one.
    Play "play", From(1, 4), From(5, 0), From(10, 11), true;
    /// Stops the running program or script.
    Stop "stop", From(1, 4), From(5, 0), From(10, 11), true;
    /// Pauses the running program.
    Pause "pause", From(1, 4), From(5, 0), From(10, 11), true;
    /// Makes the server close the dashboard connection.
    Quit "quit", From(1, 4), From(5, 0), Never, false;
    /// Switches off the arm and the controller.
    Shutdown "shutdown", From(1, 4), From(5, 0), Never, true;
    /// Asks whether a program is running on the controller.
    Running "running", From(1, 6), From(5, 0), Never, false;
    /// Asks for the robot mode, which shows whether the arm is powered and running.
    RobotMode "robotmode", From(1, 6), From(5, 0), From(10, 12), false;
    /// Asks for the file path of the loaded program.
    LoadedProgram "get loaded program", From(1, 6), From(5, 0), From(10, 12), false;
    /// Shows a pop-up text on the pendant.
    Popup(Argument<'a>) "popup", From(1, 6), From(5, 0), Never, false;
    /// Closes the pop-up text on the pendant.
    ClosePopup "close popup", From(1, 6), From(5, 0), Never, false;
    /// Writes a line to the controller's log.
    AddToLog(Argument<'a>) "addToLog", From(1, 8), From(5, 0), Never, false;
    /// Asks whether the loaded program is saved.
    IsProgramSaved "isProgramSaved", From(1, 8), From(5, 0), Never, false;
    /// Asks for the state of the loaded program. Scripts sent to the client interfaces are not reported.
    ProgramState "programState", From(1, 8), From(5, 0), From(10, 11), false;
    /// Asks for the version of the controller's software, with its date.
    PolyscopeVersion "PolyscopeVersion", From(1, 8), From(5, 0), Never, false;
    /// Asks for the version of the controller's software.
    Version "version", Never, From(5, 0), Never, false;
    /// Sets the user role: what a person at the pendant may do.
    SetUserRole(UserRole) "setUserRole", From(3, 1), Never, Never, false;
    /// Asks for the user role: what a person at the pendant may do.
    UserRole "getUserRole", From(3, 1), Never, Never, false;
    /// Sets the operational mode, manual or automatic. The pendant can no longer change it.
    SetOperationalMode(OperationalMode) "set operational mode", Never, From(5, 0), Never, false;
    /// Asks for the controller's operational mode, manual or automatic.
    OperationalMode "get operational mode", Never, From(5, 6), From(10, 12), false;
    /// Returns the choice between manual and automatic mode to the pendant.
    ClearOperationalMode "clear operational mode", Never, From(5, 0), Never, false;
    /// Powers on the arm.
    PowerOn "power on", From(3, 0), From(5, 0), From(10, 11), true;
    /// Powers off the arm.
    PowerOff "power off", From(3, 0), From(5, 0), From(10, 11), true;
    /// Releases the brakes of the arm; powers on the arm first if necessary.
    BrakeRelease "brake release", From(3, 0), From(5, 0), From(10, 11), true;
    /// Asks for the controller's safety mode.
    SafetyMode "safetymode", From(3, 0), From(5, 0), From(10, 12), false;
    /// Asks for the safety mode, with separate values for the kinds of safeguard stop.
    SafetyStatus "safetystatus", Reported(3, 11), From(5, 4), Never, false;
    /// Unlocks a protective stop of the arm, at the earliest 5 s after it occurred.
    UnlockProtectiveStop "unlock protective stop", From(3, 1), From(5, 0), From(10, 11), true;
    /// Closes the safety system's pop-up on the pendant.
    CloseSafetyPopup "close safety popup", From(3, 1), From(5, 0), Never, false;
    /// Loads an installation from a file. The arm is powered off afterwards.
    LoadInstallation(Argument<'a>) "load installation", From(3, 2), From(5, 0), Never, true;
    /// Restarts the safety system after a violation or a fault. The arm is powered off afterwards.
    RestartSafety "restart safety", From(3, 7), From(5, 1), From(10, 11), true;
    /// Asks whether the controller is in remote or local control.
    IsInRemoteControl "is in remote control", Never, From(5, 6), From(10, 12), false;
    /// Asks for the arm's serial number.
    SerialNumber "get serial number", From(3, 12), From(5, 6), Never, false;
    /// Asks for the arm's model, e.g. `UR5`.
    RobotModel "get robot model", From(3, 12), From(5, 6), Never, false;
    /// Writes a flight report; without an argument the controller chooses its subject. Takes minutes.
    GenerateFlightReport(Option<FlightReport>) "generate flight report", From(3, 13), From(5, 8), Never, false;
    /// Writes a support file to a folder of the controller. Takes up to ten minutes.
    GenerateSupportFile(Argument<'a>) "generate support file", From(3, 13), From(5, 8), Never, false;
    /// Writes the controller's log to its disk.
    SaveLog "saveLog", Reported(3, 13), From(5, 8), Never, false;
}

impl RequestKind {
    /// Returns whether this software supports the dashboard request.
    #[must_use]
    pub fn support(self, software: SoftwareVersion) -> Support {
        let generation = software.generation();
        let [cb, e, x] = self.since();
        let since = match generation {
            Generation::Cb2 | Generation::Cb3 => cb,
            Generation::ESeries => e,
            Generation::PolyScopeX => x,
        };
        match since {
            From(major, minor) if software.at_least(major, minor) => Support::Yes,
            From(major, minor) => Support::From(SoftwareVersion::new(major, minor)),
            // No source claims it for an earlier generation.
            Reported(major, minor) if generation == Generation::Cb2 => {
                Support::From(SoftwareVersion::new(major, minor))
            }
            Reported(..) => Support::Perhaps,
            Never => Support::Never,
        }
    }

    /// Checks that this dashboard request may be sent to this software.
    ///
    /// # Errors
    /// [`Unsupported`] if the software is known not to support it.
    pub fn check(self, software: SoftwareVersion) -> Result<(), Unsupported> {
        match self.support(software) {
            Support::Yes | Support::Perhaps => Ok(()),
            Support::From(since) => Err(Unsupported { request: self, software, since: Some(since) }),
            Support::Never => Err(Unsupported { request: self, software, since: None }),
        }
    }
}

/// The error for a dashboard request that the controller's software does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unsupported {
    /// The kind of the rejected dashboard request.
    pub request: RequestKind,
    /// The version of the controller's software.
    pub software: SoftwareVersion,
    /// The first software of the same family (CB2 and CB3 are one) that supports the dashboard request; `None` if there is
    /// none.
    pub since: Option<SoftwareVersion>,
}

impl core::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { request, software, since } = self;
        write!(f, "software {software} does not know '{}': ", request.words())?;
        let family = match software.generation() {
            Generation::Cb2 | Generation::Cb3 => "controllers of the CB series",
            Generation::ESeries => "e-Series controllers",
            Generation::PolyScopeX => "PolyScope X controllers",
        };
        match since {
            Some(since) => write!(f, "{family} do from {}.{} on", since.major, since.minor),
            None => write!(f, "no {family} do"),
        }
    }
}

impl core::error::Error for Unsupported {}
