//! The dashboard services of UR's driver for ROS 2 (`core/docs/protocol/ros2-surface.md` 2.1): reads calls and makes
//! the responses.
//!
//! Nothing is executed here. [`ask`] reads a call as a [`DashboardOperation`], which is a request of
//! [`outrigger_wire::dashboard`] if one exists for it. [`DashboardOperation::check`] reports what a controller's software
//! does not support. The caller executes the request and makes an [`Outcome`] of the reply, and [`answer`] returns
//! the bytes of the response. A call that is refused at any step is answered with [`Outcome::failed`].

mod outcome;
#[cfg(test)]
mod tests;

use outrigger_wire::dashboard::{Argument, BadArgument, FlightReport, OperationalMode, Request, RequestKind, UserRole};
use outrigger_wire::robot::{Generation, SoftwareVersion};
use outrigger_wire::robot_api::WITH_QUESTIONS;

pub use self::outcome::{Outcome, Value};
use crate::driver_services::{Refused, wrong};
use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::endpoint::Offer;
use outrigger_ros2_messages::{
    AddToLog, AddToLogRequest, AddToLogResponse, DownloadProgram, DownloadProgramRequest, DownloadProgramResponse,
    GenerateFlightReport, GenerateFlightReportRequest, GenerateFlightReportResponse, GenerateSupportFile,
    GenerateSupportFileRequest, GenerateSupportFileResponse, GetLoadedProgram, GetLoadedProgramResponse,
    GetOperationalMode, GetOperationalModeResponse, GetPolyScopeVersion, GetPolyScopeVersionResponse, GetProgramState,
    GetProgramStateResponse, GetPrograms, GetProgramsResponse, GetRobotMode, GetRobotModeResponse, GetRobotModel,
    GetRobotModelResponse, GetSafetyMode, GetSafetyModeResponse, GetSafetyStatus, GetSafetyStatusResponse,
    GetSerialNumber, GetSerialNumberResponse, GetUserRole, GetUserRoleResponse, IsInRemoteControl,
    IsInRemoteControlResponse, IsProgramRunning, IsProgramRunningResponse, IsProgramSaved, IsProgramSavedResponse,
    Load, LoadRequest, LoadResponse, OperationalModeMsg, Popup, PopupRequest, PopupResponse, ProgramStateMsg,
    RawRequest, RawRequestRequest, RawRequestResponse, RobotModeMsg, SafetyModeMsg, SafetyStatusMsg, Service,
    SetOperationalMode, SetOperationalModeRequest, SetOperationalModeResponse, SetUserRole, SetUserRoleRequest,
    SetUserRoleResponse, Trigger, TriggerResponse, UploadProgram, UploadProgramRequest, UploadProgramResponse,
    UserRoleMsg,
};

/// An operation that a call requests of a controller's dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DashboardOperation {
    /// A check that the dashboard answers.
    Connect,
    /// A request to the dashboard that contains no text of the caller.
    Plain(Request<'static>),
    /// A request to load a program, given by its file or, on PolyScope X, by its name. The texts of all these
    /// operations are valid [`Argument`]s.
    Load(String),
    /// A request to load the installation in this file.
    LoadInstallation(String),
    /// A request to show this text on the pendant.
    Popup(String),
    /// A request to add this line to the controller's log.
    AddToLog(String),
    /// A request to write a support file to this folder of the controller.
    GenerateSupportFile(String),
    /// A request to resume a paused program on PolyScope X; other controllers resume it by `play`.
    Resume,
    /// A request to list the programs on a controller with PolyScope X.
    Programs,
    /// A request to transfer a program between a PolyScope X controller and a file of this machine. Always refused, see
    /// [`check`](Self::check).
    Transfer,
}

impl DashboardOperation {
    /// Returns the dashboard request for this operation; `None` if there is none.
    #[must_use]
    pub fn request(&self) -> Option<Request<'_>> {
        let with = |text| Argument::new(text).ok();
        Some(match self {
            Self::Plain(request) => *request,
            Self::Load(program) => Request::Load(with(program)?),
            Self::LoadInstallation(installation) => Request::LoadInstallation(with(installation)?),
            Self::Popup(text) => Request::Popup(with(text)?),
            Self::AddToLog(text) => Request::AddToLog(with(text)?),
            Self::GenerateSupportFile(folder) => Request::GenerateSupportFile(with(folder)?),
            Self::Connect | Self::Resume | Self::Programs | Self::Transfer => return None,
        })
    }

    /// Returns `true` if the operation changes anything on the controller: power, programs, the pendant or files.
    #[must_use]
    pub fn changes(&self) -> bool {
        let Some(request) = self.request() else { return !matches!(self, Self::Connect | Self::Programs) };
        !matches!(
            request.kind(),
            RequestKind::Running
                | RequestKind::RobotMode
                | RequestKind::LoadedProgram
                | RequestKind::IsProgramSaved
                | RequestKind::ProgramState
                | RequestKind::PolyscopeVersion
                | RequestKind::Version
                | RequestKind::UserRole
                | RequestKind::OperationalMode
                | RequestKind::SafetyMode
                | RequestKind::SafetyStatus
                | RequestKind::SerialNumber
                | RequestKind::RobotModel
                | RequestKind::IsInRemoteControl
                | RequestKind::Quit
        )
    }

    /// Returns `true` if the dashboard takes minutes to answer: reports, and files that a controller writes.
    #[must_use]
    pub fn is_long(&self) -> bool {
        let kind = self.request().map(|request| request.kind());
        matches!(
            kind,
            Some(RequestKind::GenerateFlightReport | RequestKind::GenerateSupportFile | RequestKind::SaveLog)
        )
    }

    /// Checks that a controller with the software version `software` supports the dashboard operation. Of a PolyScope X
    /// only the version of its Robot API is known: `software` is then [`FIRST`] or [`WITH_QUESTIONS`].
    ///
    /// [`FIRST`]: outrigger_wire::robot_api::FIRST
    ///
    /// # Errors
    /// A text that names the unsupported request and the first version that supports it, or that gives the reason why a
    /// program cannot be loaded or transferred.
    pub fn check(&self, software: SoftwareVersion) -> Result<(), String> {
        let is_x = software.generation() == Generation::PolyScopeX;
        let lacks = |name: &str, hint: &str| Err(format!("software {software} does not know '{name}': {hint}"));
        match self {
            Self::Connect => Ok(()),
            Self::Load(program) if is_x && has_suffix(program) => {
                Err(format!("filename: expected the name of a program without suffix on PolyScope X, found {program}"))
            }
            Self::Resume if !is_x => lacks("resume", "'play' resumes a paused program here"),
            Self::Resume => Ok(()),
            Self::Programs | Self::Transfer if software < WITH_QUESTIONS => {
                lacks("programs", "PolyScope X controllers do from 10.12 on")
            }
            Self::Programs => Ok(()),
            // Refused because anybody who can call a service could read and write files of this machine with it.
            Self::Transfer => Err("not offered: transfer programs with the controller's own pages or its API".into()),
            _ => match self.request() {
                Some(request) => request.kind().check(software).map_err(|unsupported| unsupported.to_string()),
                None => Err("a text that does not fit a line".into()),
            },
        }
    }
}

fn has_suffix(program: &str) -> bool {
    let program = program.trim_end().to_ascii_lowercase();
    [".urp", ".urpx"].iter().any(|suffix| program.ends_with(suffix))
}

type AskResult = Result<DashboardOperation, Refused>;

/// A service of the dashboard with the functions that read its calls and make its responses.
struct Entry {
    offer: Offer,
    ask: fn(&[u8]) -> AskResult,
    answer: fn(&Outcome) -> Vec<u8>,
}

macro_rules! offers {
    ($( $name:ident: $at:literal, $service:ty, $ask:expr, $answer:expr, $does:literal; )*) => {
        $( static $name: Entry = Entry {
            offer: Offer { name: concat!("dashboard_client/", $at), service: <$service as Service>::TYPE, does: $does },
            ask: $ask,
            answer: $answer,
        }; )*

        static ENTRIES: &[&Entry] = &[$( &$name ),*];

        /// Every service of the dashboard, with the software that supports it: the CB series, e-Series, PolyScope X. A
        /// call to any other controller fails, which a response with a field `success` states; services that name no
        /// software always fail.
        pub static DASHBOARD_OFFERS: &[&Offer] = &[$( &$name.offer ),*];
    };
}

offers! {
    CONNECT: "connect", Trigger, |_| Ok(DashboardOperation::Connect), trigger,
        "whether the dashboard replies; each call opens its own connection; CB 1.4, e-Series, PolyScope X 10.11";
    QUIT: "quit", Trigger, |_| plain(Request::Quit), trigger,
        "whether the dashboard closes a connection on demand; CB 1.4, e-Series";
    POWER_ON: "power_on", Trigger, |_| plain(Request::PowerOn), trigger,
        "powers on the arm; replies before it is IDLE; CB 3.0, e-Series, PolyScope X 10.11";
    POWER_OFF: "power_off", Trigger, |_| plain(Request::PowerOff), trigger,
        "powers off the arm; CB 3.0, e-Series, PolyScope X 10.11";
    BRAKE_RELEASE: "brake_release", Trigger, |_| plain(Request::BrakeRelease), trigger,
        "releases the brakes, after power-on if needed; CB 3.0, e-Series, PolyScope X 10.11";
    UNLOCK: "unlock_protective_stop", Trigger, |_| plain(Request::UnlockProtectiveStop), trigger,
        "unlocks a protective stop, 5 s after it at the earliest; find its cause first; CB 3.1, e-Series, PolyScope X 10.11";
    RESTART_SAFETY: "restart_safety", Trigger, |_| plain(Request::RestartSafety), trigger,
        "restarts the safety system after a violation or a fault; the arm is off afterwards; CB 3.7, e-Series 5.1, PolyScope X 10.11";
    SHUTDOWN: "shutdown", Trigger, |_| plain(Request::Shutdown), trigger,
        "switches off arm and controller; CB 1.4, e-Series";
    PLAY: "play", Trigger, |_| plain(Request::Play), trigger,
        "starts the loaded program or resumes a paused one, which moves the arm; CB 1.4, e-Series, PolyScope X 10.11";
    RESUME: "resume", Trigger, |_| Ok(DashboardOperation::Resume), trigger,
        "resumes a paused program, which moves the arm; PolyScope X 10.11";
    PAUSE: "pause", Trigger, |_| plain(Request::Pause), trigger,
        "pauses the program; CB 1.4, e-Series, PolyScope X 10.11";
    STOP: "stop", Trigger, |_| plain(Request::Stop), trigger,
        "stops the program, or the script, that runs; CB 1.4, e-Series, PolyScope X 10.11";
    CLOSE_POPUP: "close_popup", Trigger, |_| plain(Request::ClosePopup), trigger,
        "closes the pop-up on the pendant; CB 1.6, e-Series";
    CLOSE_SAFETY_POPUP: "close_safety_popup", Trigger, |_| plain(Request::CloseSafetyPopup), trigger,
        "closes the safety system's pop-up on the pendant; CB 3.1, e-Series";
    CLEAR_MODE: "clear_operational_mode", Trigger, |_| plain(Request::ClearOperationalMode), trigger,
        "lets the pendant choose between manual and automatic again; e-Series";
    LOAD_PROGRAM: "load_program", Load, load_program, |o| load(o),
        "loads a program by its file, on PolyScope X by its name without suffix; CB 1.4, e-Series, PolyScope X 10.11";
    LOAD_INSTALLATION: "load_installation", Load, load_installation, |o| load(o),
        "loads an installation by its file; the arm is off afterwards; CB 3.2, e-Series";
    POPUP: "popup", Popup, |b| text("message", decode::<PopupRequest>(b)?.message).map(DashboardOperation::Popup),
        |o| encode(&PopupResponse { answer: o.text.clone(), success: o.success }),
        "shows a pop-up on the pendant, one line of ASCII; CB 1.6, e-Series";
    ADD_TO_LOG: "add_to_log", AddToLog, |b| text("message", decode::<AddToLogRequest>(b)?.message).map(DashboardOperation::AddToLog),
        |o| encode(&AddToLogResponse { answer: o.text.clone(), success: o.success }),
        "writes a line of ASCII to the controller's log; CB 1.8, e-Series";
    RAW_REQUEST: "raw_request", RawRequest, |b| raw(&decode::<RawRequestRequest>(b)?.query),
        |o| encode(&RawRequestResponse { answer: o.text.clone() }),
        "sends one of the dashboard server's requests that this node knows; CB 1.4, e-Series, PolyScope X 10.11";
    PROGRAM_RUNNING: "program_running", IsProgramRunning, |_| plain(Request::Running),
        |o| encode(&IsProgramRunningResponse { answer: o.text.clone(), program_running: o.flag(), success: o.success }),
        "whether a program runs; CB 1.6, e-Series";
    PROGRAM_STATE: "program_state", GetProgramState, |_| plain(Request::ProgramState), program_state,
        "STOPPED, PLAYING or PAUSED, and the loaded program, which PolyScope X omits; CB 1.8, e-Series, PolyScope X 10.11";
    PROGRAM_SAVED: "program_saved", IsProgramSaved, |_| plain(Request::IsProgramSaved), program_saved,
        "whether the loaded program is saved; CB 1.8, e-Series";
    LOADED_PROGRAM: "get_loaded_program", GetLoadedProgram, |_| plain(Request::LoadedProgram),
        |o| encode(&GetLoadedProgramResponse { answer: o.text.clone(), program_name: o.name(), success: o.success }),
        "path of the loaded program, empty if there is none; CB 1.6, e-Series, PolyScope X 10.12";
    SERIAL_NUMBER: "get_serial_number", GetSerialNumber, |_| plain(Request::SerialNumber), serial_number,
        "the arm's serial number; CB 3.12, e-Series 5.6";
    ROBOT_MODE: "get_robot_mode", GetRobotMode, |_| plain(Request::RobotMode), robot_mode,
        "-1 to 8, CB2's own modes as the nearest of these; CB 1.6, e-Series, PolyScope X 10.12";
    SAFETY_MODE: "get_safety_mode", GetSafetyMode, |_| plain(Request::SafetyMode), safety_mode,
        "1 to 13; CB 3.0, e-Series, PolyScope X 10.12";
    SAFETY_STATUS: "get_safety_status", GetSafetyStatus, |_| plain(Request::SafetyStatus), safety_status,
        "1 to 23: the safety mode, with the kinds of safeguard stop distinguished; CB 3.11, e-Series 5.4";
    POLYSCOPE_VERSION: "get_polyscope_version", GetPolyScopeVersion, |_| plain(Request::PolyscopeVersion), version,
        "the software; CB 1.8, e-Series";
    ROBOT_MODEL: "get_robot_model", GetRobotModel, |_| plain(Request::RobotModel),
        |o| encode(&GetRobotModelResponse { success: o.success, answer: o.text.clone(), robot_model: o.name() }),
        "UR5, without the e of e-Series; CB 3.12, e-Series 5.6";
    REMOTE_CONTROL: "is_in_remote_control", IsInRemoteControl, |_| plain(Request::IsInRemoteControl),
        |o| encode(&IsInRemoteControlResponse { answer: o.text.clone(), remote_control: o.flag(), success: o.success }),
        "whether the controller is in remote control; e-Series 5.6, PolyScope X 10.12";
    GET_ROLE: "get_user_role", GetUserRole, |_| plain(Request::UserRole), user_role,
        "what a person at the pendant may do; CB 3.1";
    SET_ROLE: "set_user_role", SetUserRole, set_user_role,
        |o| encode(&SetUserRoleResponse { success: o.success, answer: o.text.clone() }),
        "sets what a person at the pendant may do: PROGRAMMER, OPERATOR, NONE, LOCKED or RESTRICTED; CB 3.1";
    GET_MODE: "get_operational_mode", GetOperationalMode, |_| plain(Request::OperationalMode), operational_mode,
        "MANUAL, AUTOMATIC, or NONE if no password is set for the choice; e-Series 5.6, PolyScope X 10.12";
    SET_MODE: "set_operational_mode", SetOperationalMode, set_operational_mode,
        |o| encode(&SetOperationalModeResponse { answer: o.text.clone(), success: o.success }),
        "MANUAL or AUTOMATIC; the pendant can no longer choose; e-Series";
    FLIGHT_REPORT: "generate_flight_report", GenerateFlightReport, flight_report,
        |o| encode(&GenerateFlightReportResponse { success: o.success, answer: o.text.clone(), report_id: o.name() }),
        "writes a report of the controller, the software or the system, in minutes; CB 3.13, e-Series 5.8";
    SUPPORT_FILE: "generate_support_file", GenerateSupportFile, support_file, support_file_written,
        "writes a support file to a folder of the controller, in up to 10 minutes; CB 3.13, e-Series 5.8";
    PROGRAMS: "get_programs", GetPrograms, |_| Ok(DashboardOperation::Programs), programs,
        "every program on the controller; PolyScope X 10.12";
    UPLOAD: "upload_program", UploadProgram, |b| transfer(&decode::<UploadProgramRequest>(b)?.file_path), uploaded,
        "rejected: this node reads no files for clients";
    UPDATE: "update_program", UploadProgram, |b| transfer(&decode::<UploadProgramRequest>(b)?.file_path), uploaded,
        "rejected: this node reads no files for clients";
    DOWNLOAD: "download_program", DownloadProgram, |b| transfer(&decode::<DownloadProgramRequest>(b)?.target_path),
        |o| encode(&DownloadProgramResponse { answer: o.text.clone(), success: o.success }),
        "rejected: this node writes no files for clients";
}

fn entry(offer: &Offer) -> Option<&'static Entry> {
    ENTRIES.iter().copied().find(|entry| std::ptr::eq(&raw const entry.offer, offer))
}

/// Reads a call of the dashboard service `offer`.
///
/// # Errors
/// [`Refused`] with the field that is wrong and the reason.
pub fn ask(offer: &'static Offer, bytes: &[u8]) -> AskResult {
    entry(offer).map_or_else(|| wrong("service", "one of the dashboard", offer.name), |entry| (entry.ask)(bytes))
}

/// Returns the response to a call of the dashboard service `offer`, one of [`DASHBOARD_OFFERS`]. A value that the
/// response has no field for, or that does not belong there, is left out.
#[must_use]
pub fn answer(offer: &'static Offer, outcome: &Outcome) -> Vec<u8> {
    entry(offer).map_or_else(|| trigger(outcome), |entry| (entry.answer)(outcome))
}

const fn plain(request: Request<'static>) -> AskResult {
    Ok(DashboardOperation::Plain(request))
}

/// Checks that one line of a dashboard request can contain the text `text` of the field `name`.
fn text(name: &'static str, text: String) -> Result<String, Refused> {
    match Argument::new(&text) {
        Ok(_) => Ok(text),
        Err(BadArgument::Empty) => wrong(name, "a name or a text", "none"),
        Err(BadArgument::TooLong { len }) => wrong(name, "at most 400 bytes", len),
        Err(BadArgument::LineBreak { at }) => wrong(name, "one line", format!("its end at byte {at}")),
        Err(BadArgument::NotAscii { at }) => wrong(name, "printable ASCII", format!("another character at byte {at}")),
    }
}

fn load_program(bytes: &[u8]) -> AskResult {
    text("filename", decode::<LoadRequest>(bytes)?.filename).map(DashboardOperation::Load)
}

fn load_installation(bytes: &[u8]) -> AskResult {
    text("filename", decode::<LoadRequest>(bytes)?.filename).map(DashboardOperation::LoadInstallation)
}

fn support_file(bytes: &[u8]) -> AskResult {
    text("dir_path", decode::<GenerateSupportFileRequest>(bytes)?.dir_path).map(DashboardOperation::GenerateSupportFile)
}

fn set_user_role(bytes: &[u8]) -> AskResult {
    role("user_role.role", &decode::<SetUserRoleRequest>(bytes)?.user_role.role)
}

fn role(name: &'static str, word: &str) -> AskResult {
    match UserRole::from_word(word.as_bytes()) {
        Some(role) => plain(Request::SetUserRole(role)),
        None => wrong(name, "PROGRAMMER, OPERATOR, NONE, LOCKED or RESTRICTED", format!("'{word}'")),
    }
}

fn set_operational_mode(bytes: &[u8]) -> AskResult {
    mode("operational_mode.mode", &decode::<SetOperationalModeRequest>(bytes)?.operational_mode.mode)
}

fn mode(name: &'static str, word: &str) -> AskResult {
    match OperationalMode::from_word(word.as_bytes()) {
        Some(mode) => plain(Request::SetOperationalMode(mode)),
        None => wrong(name, "MANUAL or AUTOMATIC", format!("'{word}'")),
    }
}

fn flight_report(bytes: &[u8]) -> AskResult {
    report("report_type", &decode::<GenerateFlightReportRequest>(bytes)?.report_type)
}

fn report(name: &'static str, word: &str) -> AskResult {
    if word.is_empty() {
        return plain(Request::GenerateFlightReport(None));
    }
    match FlightReport::from_word(word.as_bytes()) {
        Some(about) => plain(Request::GenerateFlightReport(Some(about))),
        None => wrong(name, "controller, software or system", format!("'{word}'")),
    }
}

/// Returns the operation for a call that transfers a program; the path of the file is ignored. The call is refused
/// later, by [`DashboardOperation::check`].
const fn transfer(_path: &str) -> AskResult {
    Ok(DashboardOperation::Transfer)
}

/// Returns the operation that `query` requests, the line for the dashboard server in a call of `raw_request`. Only
/// requests known to this crate are accepted, because the effect of any other is unknown.
fn raw(query: &str) -> AskResult {
    let query = query.trim();
    let rest = |kind: &RequestKind| {
        let (words, rest) = query.split_at_checked(kind.words().len())?;
        let ends = rest.is_empty() || rest.starts_with(' ');
        (ends && words.eq_ignore_ascii_case(kind.words())).then(|| (*kind, rest.trim()))
    };
    // The longest match is taken, because `load installation` begins like `load`.
    let found = RequestKind::ALL.iter().filter_map(rest).max_by_key(|(kind, _)| kind.words().len());
    let Some((kind, rest)) = found else {
        return wrong("query", "a request of the dashboard that this node knows", format!("'{query}'"));
    };
    let line = || text("query", rest.to_owned());
    let asked = match kind {
        RequestKind::Load => DashboardOperation::Load(line()?),
        RequestKind::LoadInstallation => DashboardOperation::LoadInstallation(line()?),
        RequestKind::Popup => DashboardOperation::Popup(line()?),
        RequestKind::AddToLog => DashboardOperation::AddToLog(line()?),
        RequestKind::GenerateSupportFile => DashboardOperation::GenerateSupportFile(line()?),
        RequestKind::SetUserRole => return role("query", rest),
        RequestKind::SetOperationalMode => return mode("query", rest),
        RequestKind::GenerateFlightReport => return report("query", rest),
        _ if !rest.is_empty() => return wrong("query", "the request without further text", format!("'{query}'")),
        _ => return plain_of(kind),
    };
    Ok(asked)
}

/// Returns the dashboard request of the kind `kind`, which has no argument.
fn plain_of(kind: RequestKind) -> AskResult {
    const PLAIN: [Request<'static>; 28] = [
        Request::Play,
        Request::Stop,
        Request::Pause,
        Request::Quit,
        Request::Shutdown,
        Request::Running,
        Request::RobotMode,
        Request::LoadedProgram,
        Request::ClosePopup,
        Request::IsProgramSaved,
        Request::ProgramState,
        Request::PolyscopeVersion,
        Request::Version,
        Request::UserRole,
        Request::OperationalMode,
        Request::ClearOperationalMode,
        Request::PowerOn,
        Request::PowerOff,
        Request::BrakeRelease,
        Request::SafetyMode,
        Request::SafetyStatus,
        Request::UnlockProtectiveStop,
        Request::CloseSafetyPopup,
        Request::RestartSafety,
        Request::IsInRemoteControl,
        Request::SerialNumber,
        Request::RobotModel,
        Request::SaveLog,
    ];
    let found = PLAIN.into_iter().find(|request| request.kind() == kind);
    found.map_or_else(|| wrong("query", "a request of the dashboard that this node knows", kind.words()), plain)
}

fn trigger(o: &Outcome) -> Vec<u8> {
    encode(&TriggerResponse { success: o.success, message: o.text.clone() })
}

fn load(o: &Outcome) -> Vec<u8> {
    encode(&LoadResponse { answer: o.text.clone(), success: o.success })
}

fn uploaded(o: &Outcome) -> Vec<u8> {
    encode(&UploadProgramResponse { answer: o.text.clone(), program_name: o.name(), success: o.success })
}

fn support_file_written(o: &Outcome) -> Vec<u8> {
    let (answer, generated_file_name) = (o.text.clone(), o.name());
    encode(&GenerateSupportFileResponse { success: o.success, answer, generated_file_name })
}

fn program_state(o: &Outcome) -> Vec<u8> {
    let state = match o.value {
        Value::Program { state, .. } => ProgramStateMsg { state: state.to_string() },
        _ => ProgramStateMsg::default(),
    };
    encode(&GetProgramStateResponse { state, program_name: o.name(), answer: o.text.clone(), success: o.success })
}

fn program_saved(o: &Outcome) -> Vec<u8> {
    let (answer, program_name) = (o.text.clone(), o.name());
    encode(&IsProgramSavedResponse { answer, program_name, program_saved: o.flag(), success: o.success })
}

fn serial_number(o: &Outcome) -> Vec<u8> {
    let serial_number = if let Value::Serial(number) = o.value { number } else { 0 };
    encode(&GetSerialNumberResponse { serial_number, answer: o.text.clone(), success: o.success })
}

fn robot_mode(o: &Outcome) -> Vec<u8> {
    let mode = if let Value::RobotMode(mode) = o.value { mode } else { 0 };
    encode(&GetRobotModeResponse { robot_mode: RobotModeMsg { mode }, answer: o.text.clone(), success: o.success })
}

fn safety_mode(o: &Outcome) -> Vec<u8> {
    let mode = if let Value::Safety(mode) = o.value { u8::try_from(mode).unwrap_or_default() } else { 0 };
    encode(&GetSafetyModeResponse { safety_mode: SafetyModeMsg { mode }, answer: o.text.clone(), success: o.success })
}

fn safety_status(o: &Outcome) -> Vec<u8> {
    let status = if let Value::Safety(status) = o.value { status } else { 0 };
    let safety_status = SafetyStatusMsg { status };
    encode(&GetSafetyStatusResponse { answer: o.text.clone(), success: o.success, safety_status })
}

fn version(o: &Outcome) -> Vec<u8> {
    let version = if let Value::Version(version) = o.value { version } else { Default::default() };
    encode(&GetPolyScopeVersionResponse { answer: o.text.clone(), success: o.success, version })
}

fn user_role(o: &Outcome) -> Vec<u8> {
    let role = if let Value::Role(role) = o.value { role.word().to_ascii_uppercase() } else { String::new() };
    encode(&GetUserRoleResponse { user_role: UserRoleMsg { role }, answer: o.text.clone(), success: o.success })
}

fn operational_mode(o: &Outcome) -> Vec<u8> {
    let mode = match o.value {
        Value::Mode(mode) => mode.map_or_else(|| "NONE".into(), |mode| mode.word().to_ascii_uppercase()),
        _ => String::new(),
    };
    let operational_mode = OperationalModeMsg { mode };
    encode(&GetOperationalModeResponse { success: o.success, answer: o.text.clone(), operational_mode })
}

fn programs(o: &Outcome) -> Vec<u8> {
    let programs = if let Value::Programs(programs) = &o.value { programs.clone() } else { vec![] };
    encode(&GetProgramsResponse { programs, answer: o.text.clone(), success: o.success })
}
