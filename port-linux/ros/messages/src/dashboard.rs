//! The messages of `ur_dashboard_msgs` (`core/docs/protocol/ros2-surface.md` 5.4). The order of `success`, `answer`
//! and the value differs from service to service.

use super::{Action, Nothing, RobotModeMsg, SafetyModeMsg, services};

messages! {
    /// The safety status of a controller: -1, or 1 to 23; 21 is not used.
    #[derive(Copy, Eq)]
    SafetyStatusMsg = "ur_dashboard_msgs/msg/SafetyStatus" { status: i8 }
    /// The state of the program on the controller: `STOPPED`, `PLAYING` or `PAUSED`.
    #[derive(Eq)]
    ProgramStateMsg = "ur_dashboard_msgs/msg/ProgramState" { state: String }
    /// The operational mode: `MANUAL` or `AUTOMATIC`; the dashboard also answers `NONE`.
    #[derive(Eq)]
    OperationalModeMsg = "ur_dashboard_msgs/msg/OperationalMode" { mode: String }
    /// The role of the pendant's user: `PROGRAMMER`, `OPERATOR`, `NONE`, `LOCKED` or `RESTRICTED`.
    #[derive(Eq)]
    UserRoleMsg = "ur_dashboard_msgs/msg/UserRole" { role: String }
    #[derive(Copy, Eq)]
    VersionInformation = "ur_dashboard_msgs/msg/VersionInformation" { major: u32, minor: u32, bugfix: u32, build: u32 }
    /// A program stored on the controller. Dates are in the controller's own numbering; `program_state` is `DRAFT` or
    /// `FINAL`.
    #[derive(Eq)]
    ProgramInformation = "ur_dashboard_msgs/msg/ProgramInformation" {
        name: String,
        description: String,
        created_date: u64,
        last_saved_date: u64,
        last_modified_date: u64,
        program_state: String,
    }

    #[derive(Eq)]
    LoadRequest = "ur_dashboard_msgs/srv/Load_Request" { filename: String }
    #[derive(Eq)]
    LoadResponse = "ur_dashboard_msgs/srv/Load_Response" { answer: String, success: bool }
    #[derive(Eq)]
    PopupRequest = "ur_dashboard_msgs/srv/Popup_Request" { message: String }
    #[derive(Eq)]
    PopupResponse = "ur_dashboard_msgs/srv/Popup_Response" { answer: String, success: bool }
    #[derive(Eq)]
    AddToLogRequest = "ur_dashboard_msgs/srv/AddToLog_Request" { message: String }
    #[derive(Eq)]
    AddToLogResponse = "ur_dashboard_msgs/srv/AddToLog_Response" { answer: String, success: bool }
    #[derive(Eq)]
    RawRequestRequest = "ur_dashboard_msgs/srv/RawRequest_Request" { query: String }
    #[derive(Eq)]
    RawRequestResponse = "ur_dashboard_msgs/srv/RawRequest_Response" { answer: String }
    #[derive(Eq)]
    SetUserRoleRequest = "ur_dashboard_msgs/srv/SetUserRole_Request" { user_role: UserRoleMsg }
    #[derive(Eq)]
    SetUserRoleResponse = "ur_dashboard_msgs/srv/SetUserRole_Response" { success: bool, answer: String }
    #[derive(Eq)]
    SetOperationalModeRequest = "ur_dashboard_msgs/srv/SetOperationalMode_Request" {
        operational_mode: OperationalModeMsg,
    }
    #[derive(Eq)]
    SetOperationalModeResponse = "ur_dashboard_msgs/srv/SetOperationalMode_Response" { answer: String, success: bool }
    /// A request for a flight report, by its subject: `controller`, `software` or `system`. Clients fill in a
    /// default if the user names none.
    #[derive(Eq)]
    GenerateFlightReportRequest = "ur_dashboard_msgs/srv/GenerateFlightReport_Request" { report_type: String }
    #[derive(Eq)]
    GenerateFlightReportResponse = "ur_dashboard_msgs/srv/GenerateFlightReport_Response" {
        success: bool, answer: String, report_id: String,
    }
    /// A request for a support file, by the folder on the controller. Clients fill in `.` if the user names none.
    #[derive(Eq)]
    GenerateSupportFileRequest = "ur_dashboard_msgs/srv/GenerateSupportFile_Request" { dir_path: String }
    #[derive(Eq)]
    GenerateSupportFileResponse = "ur_dashboard_msgs/srv/GenerateSupportFile_Response" {
        success: bool, answer: String, generated_file_name: String,
    }
    /// A request to upload a program, by its file on the machine that serves this request.
    #[derive(Eq)]
    UploadProgramRequest = "ur_dashboard_msgs/srv/UploadProgram_Request" { file_path: String }
    #[derive(Eq)]
    UploadProgramResponse = "ur_dashboard_msgs/srv/UploadProgram_Response" {
        answer: String, program_name: String, success: bool,
    }
    #[derive(Eq)]
    DownloadProgramRequest = "ur_dashboard_msgs/srv/DownloadProgram_Request" {
        program_name: String, target_path: String,
    }
    #[derive(Eq)]
    DownloadProgramResponse = "ur_dashboard_msgs/srv/DownloadProgram_Response" { answer: String, success: bool }

    #[derive(Eq)]
    IsProgramRunningResponse = "ur_dashboard_msgs/srv/IsProgramRunning_Response" {
        answer: String, program_running: bool, success: bool,
    }
    #[derive(Eq)]
    GetLoadedProgramResponse = "ur_dashboard_msgs/srv/GetLoadedProgram_Response" {
        answer: String, program_name: String, success: bool,
    }
    #[derive(Eq)]
    IsProgramSavedResponse = "ur_dashboard_msgs/srv/IsProgramSaved_Response" {
        answer: String, program_name: String, program_saved: bool, success: bool,
    }
    #[derive(Eq)]
    GetProgramStateResponse = "ur_dashboard_msgs/srv/GetProgramState_Response" {
        state: ProgramStateMsg, program_name: String, answer: String, success: bool,
    }
    #[derive(Eq)]
    GetSerialNumberResponse = "ur_dashboard_msgs/srv/GetSerialNumber_Response" {
        serial_number: u64, answer: String, success: bool,
    }
    #[derive(Eq)]
    GetSafetyModeResponse = "ur_dashboard_msgs/srv/GetSafetyMode_Response" {
        safety_mode: SafetyModeMsg, answer: String, success: bool,
    }
    #[derive(Eq)]
    GetRobotModeResponse = "ur_dashboard_msgs/srv/GetRobotMode_Response" {
        robot_mode: RobotModeMsg, answer: String, success: bool,
    }
    #[derive(Eq)]
    GetSafetyStatusResponse = "ur_dashboard_msgs/srv/GetSafetyStatus_Response" {
        answer: String, success: bool, safety_status: SafetyStatusMsg,
    }
    #[derive(Eq)]
    GetPolyScopeVersionResponse = "ur_dashboard_msgs/srv/GetPolyScopeVersion_Response" {
        answer: String, success: bool, version: VersionInformation,
    }
    #[derive(Eq)]
    GetRobotModelResponse = "ur_dashboard_msgs/srv/GetRobotModel_Response" {
        success: bool, answer: String, robot_model: String,
    }
    #[derive(Eq)]
    IsInRemoteControlResponse = "ur_dashboard_msgs/srv/IsInRemoteControl_Response" {
        answer: String, remote_control: bool, success: bool,
    }
    #[derive(Eq)]
    GetUserRoleResponse = "ur_dashboard_msgs/srv/GetUserRole_Response" {
        user_role: UserRoleMsg, answer: String, success: bool,
    }
    #[derive(Eq)]
    GetOperationalModeResponse = "ur_dashboard_msgs/srv/GetOperationalMode_Response" {
        success: bool, answer: String, operational_mode: OperationalModeMsg,
    }
    #[derive(Eq)]
    GetProgramsResponse = "ur_dashboard_msgs/srv/GetPrograms_Response" {
        programs: Vec<ProgramInformation>, answer: String, success: bool,
    }

    /// The goal of `SetMode`: the robot mode to reach, 3 `POWER_OFF`, 5 `IDLE`, 7 `RUNNING`.
    #[derive(Copy, Eq)]
    SetModeGoal = "ur_dashboard_msgs/action/SetMode_Goal" {
        target_robot_mode: i8, stop_program: bool, play_program: bool,
    }
    #[derive(Eq)]
    SetModeResult = "ur_dashboard_msgs/action/SetMode_Result" { success: bool, message: String }
    /// The feedback of `SetMode`: the modes as `RobotMode` and `SafetyMode` number them, although `SafetyMode` is
    /// unsigned there.
    #[derive(Copy, Eq)]
    SetModeFeedback = "ur_dashboard_msgs/action/SetMode_Feedback" { current_robot_mode: i8, current_safety_mode: i8 }
}

services! {
    Load = "ur_dashboard_msgs/srv/Load": LoadRequest => LoadResponse;
    Popup = "ur_dashboard_msgs/srv/Popup": PopupRequest => PopupResponse;
    AddToLog = "ur_dashboard_msgs/srv/AddToLog": AddToLogRequest => AddToLogResponse;
    RawRequest = "ur_dashboard_msgs/srv/RawRequest": RawRequestRequest => RawRequestResponse;
    SetUserRole = "ur_dashboard_msgs/srv/SetUserRole": SetUserRoleRequest => SetUserRoleResponse;
    SetOperationalMode = "ur_dashboard_msgs/srv/SetOperationalMode":
        SetOperationalModeRequest => SetOperationalModeResponse;
    GenerateFlightReport = "ur_dashboard_msgs/srv/GenerateFlightReport":
        GenerateFlightReportRequest => GenerateFlightReportResponse;
    GenerateSupportFile = "ur_dashboard_msgs/srv/GenerateSupportFile":
        GenerateSupportFileRequest => GenerateSupportFileResponse;
    UploadProgram = "ur_dashboard_msgs/srv/UploadProgram": UploadProgramRequest => UploadProgramResponse;
    DownloadProgram = "ur_dashboard_msgs/srv/DownloadProgram": DownloadProgramRequest => DownloadProgramResponse;
    IsProgramRunning = "ur_dashboard_msgs/srv/IsProgramRunning": Nothing => IsProgramRunningResponse;
    GetLoadedProgram = "ur_dashboard_msgs/srv/GetLoadedProgram": Nothing => GetLoadedProgramResponse;
    IsProgramSaved = "ur_dashboard_msgs/srv/IsProgramSaved": Nothing => IsProgramSavedResponse;
    GetProgramState = "ur_dashboard_msgs/srv/GetProgramState": Nothing => GetProgramStateResponse;
    GetSerialNumber = "ur_dashboard_msgs/srv/GetSerialNumber": Nothing => GetSerialNumberResponse;
    GetSafetyMode = "ur_dashboard_msgs/srv/GetSafetyMode": Nothing => GetSafetyModeResponse;
    GetRobotMode = "ur_dashboard_msgs/srv/GetRobotMode": Nothing => GetRobotModeResponse;
    GetSafetyStatus = "ur_dashboard_msgs/srv/GetSafetyStatus": Nothing => GetSafetyStatusResponse;
    GetPolyScopeVersion = "ur_dashboard_msgs/srv/GetPolyScopeVersion": Nothing => GetPolyScopeVersionResponse;
    GetRobotModel = "ur_dashboard_msgs/srv/GetRobotModel": Nothing => GetRobotModelResponse;
    IsInRemoteControl = "ur_dashboard_msgs/srv/IsInRemoteControl": Nothing => IsInRemoteControlResponse;
    GetUserRole = "ur_dashboard_msgs/srv/GetUserRole": Nothing => GetUserRoleResponse;
    GetOperationalMode = "ur_dashboard_msgs/srv/GetOperationalMode": Nothing => GetOperationalModeResponse;
    GetPrograms = "ur_dashboard_msgs/srv/GetPrograms": Nothing => GetProgramsResponse;
}

/// The action type `ur_dashboard_msgs/action/SetMode`: brings the robot into a mode such as `RUNNING`.
#[derive(Clone, Copy, Debug)]
pub enum SetMode {}

impl Action for SetMode {
    const TYPE: &'static str = "ur_dashboard_msgs/action/SetMode";
    type Goal = SetModeGoal;
    type Result = SetModeResult;
    type Feedback = SetModeFeedback;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdr::{decode, encode};
    use crate::{GetResultResponse, Message, SendGoalRequest, Service};

    /// The text `ok` in CDR: its length including the terminating zero, its characters, and the zero.
    const OK: [u8; 7] = [3, 0, 0, 0, b'o', b'k', 0];

    /// Asserts that `message` is encoded as `parts` after the encapsulation, and that these bytes are decoded to
    /// `message`.
    fn has<M: Message + PartialEq + std::fmt::Debug>(message: &M, parts: &[&[u8]]) {
        let bytes = [&[0, 1, 0, 0], parts.concat().as_slice()].concat();
        assert_eq!(encode(message), bytes, "{}", M::TYPE);
        assert_eq!(decode::<M>(&bytes).as_ref(), Ok(message));
    }

    fn ok() -> String {
        "ok".into()
    }

    #[test]
    fn fields_stand_in_the_order_of_their_definitions() {
        // A flag after a text is not aligned. A number or the length of a text is aligned, counted from the end of
        // the encapsulation.
        has(&LoadResponse { answer: ok(), success: true }, &[&OK, &[1]]);
        has(&SetUserRoleResponse { success: true, answer: ok() }, &[&[1, 0, 0, 0], &OK]);
        has(&IsProgramRunningResponse { answer: ok(), program_running: true, success: false }, &[&OK, &[1], &[0]]);
        has(&IsInRemoteControlResponse { answer: ok(), remote_control: false, success: true }, &[&OK, &[0], &[1]]);
        has(
            &GetLoadedProgramResponse { answer: ok(), program_name: "a".into(), success: true },
            &[&OK, &[0], &[2, 0, 0, 0, b'a', 0], &[1]],
        );
        has(
            &IsProgramSavedResponse { answer: ok(), program_name: "a".into(), program_saved: false, success: true },
            &[&OK, &[0], &[2, 0, 0, 0, b'a', 0], &[0], &[1]],
        );
        has(
            &GetProgramStateResponse {
                state: ProgramStateMsg { state: "PAUSED".into() },
                program_name: "abc".into(),
                answer: ok(),
                success: true,
            },
            &[&[7, 0, 0, 0], b"PAUSED\0", &[0], &[4, 0, 0, 0], b"abc\0", &OK, &[1]],
        );
        has(
            &GetSerialNumberResponse { serial_number: 0x0102, answer: ok(), success: true },
            &[&[2, 1, 0, 0, 0, 0, 0, 0], &OK, &[1]],
        );
        has(
            &GetRobotModeResponse { robot_mode: RobotModeMsg { mode: -1 }, answer: ok(), success: true },
            &[&[255, 0, 0, 0], &OK, &[1]],
        );
        has(
            &GetSafetyModeResponse { safety_mode: SafetyModeMsg { mode: 13 }, answer: ok(), success: false },
            &[&[13, 0, 0, 0], &OK, &[0]],
        );
        has(
            &GetSafetyStatusResponse { answer: ok(), success: true, safety_status: SafetyStatusMsg { status: 22 } },
            &[&OK, &[1], &[22]],
        );
        has(
            &GetPolyScopeVersionResponse {
                answer: "okay".into(),
                success: true,
                version: VersionInformation { major: 5, minor: 12, bugfix: 0, build: 258 },
            },
            &[&[5, 0, 0, 0], b"okay\0", &[1], &[0, 0], &[5, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0]],
        );
        has(
            &GetRobotModelResponse { success: true, answer: ok(), robot_model: "UR5".into() },
            &[&[1, 0, 0, 0], &OK, &[0], &[4, 0, 0, 0], b"UR5\0"],
        );
        has(
            &GetUserRoleResponse { user_role: UserRoleMsg { role: "LOCKED".into() }, answer: ok(), success: true },
            &[&[7, 0, 0, 0], b"LOCKED\0", &[0], &OK, &[1]],
        );
        has(
            &GetOperationalModeResponse {
                success: true,
                answer: ok(),
                operational_mode: OperationalModeMsg { mode: "MANUAL".into() },
            },
            &[&[1, 0, 0, 0], &OK, &[0], &[7, 0, 0, 0], b"MANUAL\0"],
        );
        has(
            &UploadProgramResponse { answer: ok(), program_name: "a".into(), success: true },
            &[&OK, &[0], &[2, 0, 0, 0, b'a', 0], &[1]],
        );
        has(
            &GenerateFlightReportResponse { success: true, answer: ok(), report_id: "7".into() },
            &[&[1, 0, 0, 0], &OK, &[0], &[2, 0, 0, 0, b'7', 0]],
        );
        has(
            &DownloadProgramRequest { program_name: "a".into(), target_path: "b".into() },
            &[&[2, 0, 0, 0, b'a', 0], &[0, 0], &[2, 0, 0, 0, b'b', 0]],
        );
    }

    #[test]
    fn programs_are_listed_with_their_dates() {
        let program = ProgramInformation {
            name: "a".into(),
            description: String::new(),
            created_date: 1,
            last_saved_date: 2,
            last_modified_date: 3,
            program_state: "FINAL".into(),
        };
        let number = |value: u8| [value, 0, 0, 0, 0, 0, 0, 0];
        has(
            &GetProgramsResponse { programs: vec![program], answer: ok(), success: true },
            &[
                &[1, 0, 0, 0],
                &[2, 0, 0, 0, b'a', 0],
                &[0, 0],
                &[1, 0, 0, 0, 0],
                &[0, 0, 0, 0, 0, 0, 0],
                &number(1),
                &number(2),
                &number(3),
                &[6, 0, 0, 0],
                b"FINAL\0",
                &[0, 0],
                &OK,
                &[1],
            ],
        );
    }

    #[test]
    fn a_mode_is_a_goal_with_its_result_and_feedback() {
        let goal = SetModeGoal { target_robot_mode: 7, stop_program: true, play_program: false };
        assert_eq!(encode(&SendGoalRequest { goal_id: [9; 16], goal })[20..], [7, 1, 0]);
        let result = SetModeResult { success: true, message: ok() };
        let told = encode(&GetResultResponse { status: 4, result });
        assert_eq!(told[4..], [&[4, 1, 0, 0][..], &OK].concat());
        has(&SetModeFeedback { current_robot_mode: -1, current_safety_mode: 3 }, &[&[255, 3]]);
    }

    #[test]
    fn names_on_both_sides_of_a_service_are_those_of_the_service() {
        fn check<S: Service>() {
            assert_eq!(S::Response::TYPE, format!("{}_Response", S::TYPE));
            if S::Request::TYPE != Nothing::TYPE {
                assert_eq!(S::Request::TYPE, format!("{}_Request", S::TYPE));
            }
        }
        check::<Load>();
        check::<Popup>();
        check::<AddToLog>();
        check::<RawRequest>();
        check::<SetUserRole>();
        check::<SetOperationalMode>();
        check::<GenerateFlightReport>();
        check::<GenerateSupportFile>();
        check::<UploadProgram>();
        check::<DownloadProgram>();
        check::<IsProgramRunning>();
        check::<GetLoadedProgram>();
        check::<IsProgramSaved>();
        check::<GetProgramState>();
        check::<GetSerialNumber>();
        check::<GetSafetyMode>();
        check::<GetRobotMode>();
        check::<GetSafetyStatus>();
        check::<GetPolyScopeVersion>();
        check::<GetRobotModel>();
        check::<IsInRemoteControl>();
        check::<GetUserRole>();
        check::<GetOperationalMode>();
        check::<GetPrograms>();
    }
}
