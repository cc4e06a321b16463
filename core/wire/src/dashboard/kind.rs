//! Every request: its words, the first software that knows it, and whether it needs remote control.

use super::request::{Argument, FlightReport, OperationalMode, UserRole};
use crate::robot::{Generation, SoftwareVersion};

/// From when on the software of a family knows a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// From `major.minor` on.
    From(u8, u8),
    /// One source says from `major.minor` on, and nothing confirms it.
    Reported(u8, u8),
    Never,
}

use Since::{From, Never, Reported};

/// Whether some software knows a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Support {
    /// It does.
    Yes,
    /// Sources do not settle it: asking tells, for a request that is not known changes nothing.
    Perhaps,
    /// Not yet: its family has it from this software on.
    From(SoftwareVersion),
    /// No software of its family has it.
    Never,
}

macro_rules! requests {
    ($($(#[$doc:meta])* $kind:ident $(($argument:ty))? $words:literal, $cb:expr, $e:expr, $x:expr, $remote:literal;)+) => {
        /// One request with its argument.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub enum Request<'a> { $($(#[$doc])* #[doc = concat!("`", $words, "`.")] $kind $(($argument))?,)+ }

        impl Request<'_> {
            /// What is asked.
            #[must_use]
            pub const fn kind(&self) -> RequestKind {
                match self { $(Self::$kind { .. } => RequestKind::$kind),+ }
            }
        }

        /// What is asked, without its argument.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum RequestKind { $($(#[$doc])* #[doc = concat!("`", $words, "`.")] $kind,)+ }

        impl RequestKind {
            /// Every request, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The words of the request, before any argument.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$kind => $words),+ }
            }

            /// Whether e-Series and PolyScope X take it only in remote control, as it was when the connection was opened.
            #[must_use]
            pub const fn needs_remote_control(self) -> bool {
                match self { $(Self::$kind => $remote),+ }
            }

            /// First software of the CB series, of e-Series and of PolyScope X.
            const fn since(self) -> [Since; 3] {
                match self { $(Self::$kind => [$cb, $e, $x]),+ }
            }
        }
    };
}

// PolyScope X: the Robot API of 10.11, and what 10.12 (API 3.1.4) added (`core/docs/protocol/ur-dashboard.md 6`).
requests! {
    /// Load a program: its file, from the folder of programs or absolute.
    Load(Argument<'a>) "load", From(1, 4), From(5, 0), From(10, 11), true;
    /// Start the loaded program, or go on with a paused one.
    Play "play", From(1, 4), From(5, 0), From(10, 11), true;
    /// Stop the program, or the script, that runs.
    Stop "stop", From(1, 4), From(5, 0), From(10, 11), true;
    /// Pause the program.
    Pause "pause", From(1, 4), From(5, 0), From(10, 11), true;
    /// Close the connection.
    Quit "quit", From(1, 4), From(5, 0), Never, false;
    /// Switch off arm and controller.
    Shutdown "shutdown", From(1, 4), From(5, 0), Never, true;
    /// Does a program run?
    Running "running", From(1, 6), From(5, 0), Never, false;
    /// The robot mode.
    RobotMode "robotmode", From(1, 6), From(5, 0), From(10, 12), false;
    /// Which program is loaded?
    LoadedProgram "get loaded program", From(1, 6), From(5, 0), From(10, 12), false;
    /// Show a text on the pendant.
    Popup(Argument<'a>) "popup", From(1, 6), From(5, 0), Never, false;
    /// Take the text away.
    ClosePopup "close popup", From(1, 6), From(5, 0), Never, false;
    /// Write a line to the controller's log.
    AddToLog(Argument<'a>) "addToLog", From(1, 8), From(5, 0), Never, false;
    /// Is the loaded program saved?
    IsProgramSaved "isProgramSaved", From(1, 8), From(5, 0), Never, false;
    /// What the loaded program does. Scripts sent to the client interfaces do not show.
    ProgramState "programState", From(1, 8), From(5, 0), From(10, 11), false;
    /// The software, with its date.
    PolyscopeVersion "PolyscopeVersion", From(1, 8), From(5, 0), Never, false;
    /// The software.
    Version "version", Never, From(5, 0), Never, false;
    /// Say what a person at the pendant may do.
    SetUserRole(UserRole) "setUserRole", From(3, 1), Never, Never, false;
    /// What may a person at the pendant do?
    UserRole "getUserRole", From(3, 1), Never, Never, false;
    /// Take the choice between manual and automatic from the pendant.
    SetOperationalMode(OperationalMode) "set operational mode", Never, From(5, 0), Never, false;
    /// Manual or automatic?
    OperationalMode "get operational mode", Never, From(5, 6), From(10, 12), false;
    /// Give the choice between manual and automatic back to the pendant.
    ClearOperationalMode "clear operational mode", Never, From(5, 0), Never, false;
    /// Power on the arm.
    PowerOn "power on", From(3, 0), From(5, 0), From(10, 11), true;
    /// Power off the arm.
    PowerOff "power off", From(3, 0), From(5, 0), From(10, 11), true;
    /// Release the brakes; powers on first where needed.
    BrakeRelease "brake release", From(3, 0), From(5, 0), From(10, 11), true;
    /// The safety mode.
    SafetyMode "safetymode", From(3, 0), From(5, 0), From(10, 12), false;
    /// The safety mode, with the kinds of safeguard stop told apart.
    SafetyStatus "safetystatus", Reported(3, 11), From(5, 4), Never, false;
    /// Unlock a protective stop, at the earliest 5 s after it.
    UnlockProtectiveStop "unlock protective stop", From(3, 1), From(5, 0), From(10, 11), true;
    /// Take the safety system's text off the pendant.
    CloseSafetyPopup "close safety popup", From(3, 1), From(5, 0), Never, false;
    /// Load an installation; the arm is off afterwards.
    LoadInstallation(Argument<'a>) "load installation", From(3, 2), From(5, 0), Never, true;
    /// Restart the safety system after a violation or a fault; the arm is off afterwards.
    RestartSafety "restart safety", From(3, 7), From(5, 1), From(10, 11), true;
    /// Remote or local control?
    IsInRemoteControl "is in remote control", Never, From(5, 6), From(10, 12), false;
    /// The arm's serial number.
    SerialNumber "get serial number", From(3, 12), From(5, 6), Never, false;
    /// The arm's model.
    RobotModel "get robot model", From(3, 12), From(5, 6), Never, false;
    /// Write a flight report, of what the controller chooses where nothing is named; takes minutes.
    GenerateFlightReport(Option<FlightReport>) "generate flight report", From(3, 13), From(5, 8), Never, false;
    /// Write a support file to a folder of the controller; takes up to ten minutes.
    GenerateSupportFile(Argument<'a>) "generate support file", From(3, 13), From(5, 8), Never, false;
    /// Write the log to disk.
    SaveLog "saveLog", Reported(3, 13), From(5, 8), Never, false;
}

impl RequestKind {
    /// Whether this software knows the request.
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
            // Nobody claims it for an earlier generation.
            Reported(major, minor) if generation == Generation::Cb2 => {
                Support::From(SoftwareVersion::new(major, minor))
            }
            Reported(..) => Support::Perhaps,
            Never => Support::Never,
        }
    }

    /// Whether this software may be asked.
    ///
    /// # Errors
    /// [`Unsupported`] where it is known not to know the request.
    pub fn check(self, software: SoftwareVersion) -> Result<(), Unsupported> {
        match self.support(software) {
            Support::Yes | Support::Perhaps => Ok(()),
            Support::From(since) => Err(Unsupported { request: self, software, since: Some(since) }),
            Support::Never => Err(Unsupported { request: self, software, since: None }),
        }
    }
}

/// A request that this software does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unsupported {
    /// What was to be asked.
    pub request: RequestKind,
    /// The controller's software.
    pub software: SoftwareVersion,
    /// The first software of its family that knows it; none where no such software exists.
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
