"""Every method of ur_rtde 1.6.5, and what replaces it; `compare.py` runs both calls of a line and compares them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How much of a method the other package has."""

    EQUIVALENT = "equivalent"
    PARTLY = "partly"
    NONE = "none"


@dataclass(frozen=True)
class Line:
    """A method of ur_rtde, a call of it, and ours. A line without `effect` is not run."""

    method: str
    kind: Kind
    theirs: str = ""
    #: Our call; for `Kind.NONE` a sentence about what to use.
    ours: str = ""
    #: A name in `compare.EFFECTS`.
    effect: str = ""
    #: A name in `compare.SCENES`: what happens before the call.
    scene: str = "at rest"
    note: str = ""


class Class:
    """The lines of one class of ur_rtde."""

    def __init__(self, name: str, *lines: Line) -> None:
        self.name = name
        self.lines = lines


SAME, PARTLY, NONE = Kind.EQUIVALENT, Kind.PARTLY, Kind.NONE
OWN_KINEMATICS = "not offered; `robot.state.pose` is the present pose, and `move_to(pose=…)` lets the controller solve it"
OWN_SCRIPT = "the function of URScript, sent by `robot.script`"
RECORD = "a recording: `Robot.ur(…, record=…)`, then `outrigger_robot.open`"
DYNAMICS = "not offered; URScript has it"
FORCE = "the wrench has None for an axis that does not yield; without `renew` or `wait` it ends after `renew_within`"
GUIDE = "`with robot.freedrive() as guide`; without `renew` or `wait` it ends after `renew_within`"

CONTROL = Class(
    "RTDEControlInterface",
    Line("moveJ", SAME, "control.moveJ(GOAL, 1.0, 2.0)", "robot.move_to(GOAL, speed=1.0, acceleration=2.0)", "joints",
         note="a path with blends: `follow`, which rests at each waypoint unless it is given velocities"),
    Line("moveJ_IK", SAME, "control.moveJ_IK(POSE, 1.0, 2.0)",
         "robot.move_to(pose=POSE, speed=1.0, acceleration=2.0)", "joints"),
    Line("moveL", SAME, "control.moveL(POSE, 0.1, 0.5)",
         "robot.move_to(pose=POSE, linear=True, speed=0.1, acceleration=0.5)", "joints"),
    Line("moveL_FK", SAME, "control.moveL_FK(GOAL, 0.1, 0.5)",
         "robot.move_to(GOAL, linear=True, speed=0.1, acceleration=0.5)", "joints"),
    Line("movePath", PARTLY, "control.movePath(PATH)", "robot.follow([2.0, 4.0], [MIDDLE, GOAL])", "joints",
         note="joint angles at times, no blends and no lines"),
    Line("moveUntilContact", NONE, ours=f"{OWN_SCRIPT}, with `tool_contact()`"),
    Line("speedJ", SAME, "control.speedJ(SPEEDS, 2.0, 0.5)", "stream.send(SPEEDS)", "speeds", "repeated",
         note="`with robot.stream_speeds() as stream`; a silent program brings the arm to rest within `timeout`"),
    Line("speedL", NONE, ours="`stream_speeds()` with joint speeds, or `speedl` of URScript"),
    Line("speedStop", SAME, "control.speedStop()", "robot.stop()", "rest", "at speed",
         note="leaving the `with` block of the stream stops the arm, too"),
    Line("servoJ", SAME, "control.servoJ(ramp(), 0.0, 0.0, 0.002, 0.03, 2000.0)", "positions.send(ramp())", "joints",
         "repeated",
         note="`with robot.stream_positions() as positions`; without gain and lookahead"),
    Line("servoL", NONE, ours="`stream_positions()` with joint angles"),
    Line("servoC", NONE, ours="`follow` with joint angles, or `servoc` of URScript"),
    Line("servoStop", SAME, "control.servoStop()", "robot.stop()", "rest", "on a ramp"),
    Line("stopJ", SAME, "control.stopJ(2.0)", "robot.stop()", "rest", "on the way"),
    Line("stopL", SAME, "control.stopL(1.0)", "robot.stop()", "rest", "on a line"),
    Line("jogStart", NONE, ours="`stream_speeds()` with joint speeds"),
    Line("jogStop", NONE, ours="`stop()`"),
    Line("getAsyncOperationProgress", NONE, ours="a thread: `move_to` in it returns at the goal"),
    Line("getAsyncOperationProgressEx", NONE, ours="the same"),
    Line("setTcp", SAME, "control.setTcp([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])", 'robot.set("tcp=0,0,0.1,0,0,0")', "tool"),
    Line("setPayload", SAME, "control.setPayload(1.2, [0.0, 0.01, 0.05])", 'robot.payload(1.2, [0.0, 0.01, 0.05])',
         "payload"),
    Line("setTargetPayload", SAME,
         "control.setTargetPayload(1.2, [0.0, 0.01, 0.05], [0.01, 0.01, 0.01, 0.0, 0.0, 0.0])",
         'robot.set("payload=1.2@0,0.01,0.05/0.01,0.01,0.01,0,0,0")', "inertia"),
    Line("setGravity", SAME, "control.setGravity([0.0, 0.0, 9.82])", 'robot.set("gravity=0,0,9.82")', "accepted",
         note="no interface of the controller publishes gravity"),
    Line("zeroFtSensor", SAME, "control.zeroFtSensor()", 'robot.set("zero-force-torque")', "measured force", "pushed"),
    Line("forceMode", PARTLY,
         "control.forceMode([0.0] * 6, [0, 0, 1, 0, 0, 0], [0.0, 0.0, -10.0, 0.0, 0.0, 0.0], 2, [0.1] * 6)",
         "robot.force(WRENCH, renew_within=10)", "pressing", "above a surface", note=FORCE),
    Line("forceModeStop", PARTLY, "control.forceModeStop()", "robot.stop()", "stopped", "in force mode",
         note="the end of the `with` block of `robot.force` ends it, too"),
    Line("forceModeSetDamping", PARTLY, "control.forceModeSetDamping(0.1)",
         "robot.force(WRENCH, damping=0.1, renew_within=10)", "tool speed", "force mode here", note="at its beginning"),
    Line("forceModeSetGainScaling", PARTLY, "control.forceModeSetGainScaling(1.0)",
         "robot.force(WRENCH, gain=1.0, renew_within=10)", "tool speed", "force mode here", note="at its beginning"),
    Line("freedriveMode", PARTLY, "control.freedriveMode()", "robot.freedrive(renew_within=10)", "yields",
         "a hand pulls", note=GUIDE),
    Line("endFreedriveMode", PARTLY, "control.endFreedriveMode()", "robot.stop()", "stopped", "in freedrive",
         note="the end of the `with` block of `robot.freedrive` ends it, too"),
    Line("getFreedriveStatus", NONE, ours="not offered"),
    Line("teachMode", PARTLY, "control.teachMode()", "robot.freedrive(renew_within=10)", "yields", "a hand pulls",
         note=GUIDE),
    Line("endTeachMode", PARTLY, "control.endTeachMode()", "robot.stop()", "stopped", "in teach mode",
         note="the end of the `with` block of `robot.freedrive` ends it, too"),
    Line("toolContact", NONE, ours="`outrigger ctl ROBOT tool-contact on` of a run, or URScript"),
    Line("startContactDetection", NONE, ours="the same"),
    Line("readContactDetection", NONE, ours="the same"),
    Line("stopContactDetection", NONE, ours="the same"),
    Line("enableExternalFtSensor", NONE, ours=f"{OWN_SCRIPT}: `enable_external_ft_sensor`"),
    Line("ftRtdeInputEnable", NONE, ours=f"{OWN_SCRIPT}: `ft_rtde_input_enable`"),
    Line("setExternalForceTorque", NONE, ours="not offered"),
    Line("directTorque", NONE, ours=f"{OWN_SCRIPT}: `direct_torque`"),
    Line("sendCustomScript", SAME, "control.sendCustomScript(SCRIPT)", "robot.script(SCRIPT)", "joints"),
    Line("sendCustomScriptFile", PARTLY, "control.sendCustomScriptFile(FILE)", "robot.script(open(FILE).read())",
         "joints"),
    Line("sendCustomScriptFunction", PARTLY, 'control.sendCustomScriptFunction("wave", BODY)', "robot.script(SCRIPT)",
         "joints", note="a whole program"),
    Line("setCustomScriptFile", NONE, ours="not offered: Outrigger's program on the controller is its own"),
    Line("reuploadScript", NONE, ours="not needed: the next motion uploads the program if it does not run"),
    Line("stopScript", SAME, "control.stopScript()", "robot.stop()", "rest", "on the way"),
    Line("isProgramRunning", PARTLY, "control.isProgramRunning()", 'robot.mode == "Command"', "value",
         "after a motion"),
    Line("isConnected", SAME, "control.isConnected()", "robot.state is not None", "value"),
    Line("reconnect", NONE, ours="not needed: a session connects again by itself"),
    Line("disconnect", PARTLY, "control.disconnect()", "robot.close()", "connection",
         note="a motion of ur_rtde goes on after it; `close` stops the arm"),

            Line("setWatchdog", NONE, ours="not needed: the program on the controller stops the arm 0.2 s after the last message"),
    Line("kickWatchdog", NONE, ours="the same"),
    Line("initPeriod", NONE, ours="`for state in robot.states()` has the controller's pace"),
    Line("waitPeriod", PARTLY, "control.waitPeriod(control.initPeriod())", "next(states)", "period", "in a loop",
         note="`states = robot.states()`: the controller's clock in place of the computer's"),
    Line("getStepTime", PARTLY, "control.getStepTime()", "-(next(states).time - next(states).time)", "value",
         "asked before",
         note="the first answer of ur_rtde 1.6.5 is 0"),
    Line("isSteady", PARTLY, "control.isSteady()", "abs(robot.state.qd).max() < 0.01", "value", "after a second"),
    Line("getRobotStatus", NONE, ours="`robot.not_ready` lists as sentences what prevents a motion"),
    Line("triggerProtectiveStop", NONE, ours=f"{OWN_SCRIPT}: `protective_stop()`; `robot.stop()` stops the arm"),
    Line("getActualToolFlangePose", NONE, ours=OWN_KINEMATICS),
    Line("getForwardKinematics", NONE, ours=OWN_KINEMATICS),
    Line("getInverseKinematics", NONE, ours=OWN_KINEMATICS),
    Line("getInverseKinematicsHasSolution", NONE, ours="not offered: `move_to` rejects a pose without a solution, but moves the arm to any other"),
    Line("isPoseWithinSafetyLimits", NONE, ours="not offered"),

            Line("isJointsWithinSafetyLimits", NONE, ours="not offered: `move_to` rejects angles beyond the limits of its session, but moves the arm to any other"),
    Line("poseTrans", NONE, ours="a library, e.g. `scipy.spatial.transform`"),
    Line("getTCPOffset", NONE, ours=RECORD),
    Line("getTargetWaypoint", NONE, ours="not offered"),
    Line("getActualJointPositionsHistory", NONE, ours="a list that a loop over `robot.states()` fills"),
    Line("getJointTorques", NONE, ours=RECORD),
    Line("getTargetJointAccelerations", NONE, ours=RECORD),
    Line("getMassMatrix", NONE, ours=DYNAMICS),
    Line("getJacobian", NONE, ours=DYNAMICS),
    Line("getJacobianTimeDerivative", NONE, ours=DYNAMICS),
    Line("getCoriolisAndCentrifugalTorques", NONE, ours=DYNAMICS),
)

RECEIVE = Class(
    "RTDEReceiveInterface",
    Line("getTimestamp", SAME, "receive.getTimestamp()", "robot.state.time", "time", "observed"),
    Line("getActualQ", SAME, "receive.getActualQ()", "robot.state.q", "value", "observed"),
    Line("getActualQd", SAME, "receive.getActualQd()", "robot.state.qd", "value", "observed"),
    Line("getTargetQ", SAME, "receive.getTargetQ()", "robot.state.q_target", "value", "observed"),
    Line("getActualTCPPose", SAME, "receive.getActualTCPPose()", "robot.state.pose", "value", "observed"),
    Line("getActualTCPSpeed", SAME, "receive.getActualTCPSpeed()", "robot.state.tool_speed", "value", "observed"),
    Line("getActualTCPForce", SAME, "receive.getActualTCPForce()", "robot.state.force", "value", "observed"),
    Line("getActualDigitalInputBits", SAME, "receive.getActualDigitalInputBits()", "robot.state.digital_inputs",
         "value", "observed"),
    Line("getActualDigitalOutputBits", SAME, "receive.getActualDigitalOutputBits()", "robot.state.digital_outputs",
         "value",
         "observed"),
    Line("getDigitalInState", SAME, "receive.getDigitalInState(3)", "bool(robot.state.digital_inputs >> 3 & 1)",
         "value", "observed"),
    Line("getDigitalOutState", SAME, "receive.getDigitalOutState(2)", "bool(robot.state.digital_outputs >> 2 & 1)",
         "value",
         "observed"),
    Line("isConnected", SAME, "receive.isConnected()", "robot.state is not None", "value", "observed"),
    Line("isProtectiveStopped", PARTLY,
         "receive.isProtectiveStopped()", '"protective stop" in " ".join(robot.not_ready)', "value",
         "protective stop", note="for a person: `robot.not_ready`"),
    Line("isEmergencyStopped", PARTLY,
         "receive.isEmergencyStopped()", '"emergency stop" in " ".join(robot.not_ready)', "value",
         "emergency stop", note="for a person: `robot.not_ready`"),
    Line("disconnect", SAME, "receive.disconnect()", "robot.close()", "connection",
         note="afterwards `robot.state` raises ConnectionFailed"),
    Line("reconnect", NONE, ours="not needed: a session connects again by itself"),
    Line("initPeriod", NONE, ours="`for state in robot.states()` has the controller's pace"),
    Line("waitPeriod", PARTLY, "receive.waitPeriod(receive.initPeriod())", "next(states)", "period", "in a loop",
         note="`states = robot.states()`: the controller's clock in place of the computer's"),
    Line("startFileRecording", PARTLY, "receive.startFileRecording(CSV)", "Robot.ur(ADDRESS, record=MCAP)",
         "recorded", note="of the whole session; MCAP in place of CSV"),
    Line("stopFileRecording", PARTLY, "receive.stopFileRecording()", "robot.close()", "file grows", "in a recording",
         note="with the session"),
    Line("getRobotMode", NONE, ours='`robot.not_ready`, or `robot.dashboard("robotmode")`'),
    Line("getSafetyMode", NONE, ours='`robot.not_ready`, or `robot.dashboard("safetymode")`'),
    Line("getSafetyStatusBits", NONE, ours="`robot.not_ready`"),
    Line("getRobotStatus", NONE, ours="`robot.not_ready`"),
    Line("getRuntimeState", NONE, ours='`robot.dashboard("running")`'),
    Line("getJointMode", NONE, ours=RECORD),
    Line("getSpeedScaling", NONE, ours=RECORD),
    Line("getSpeedScalingCombined", NONE, ours=RECORD),
    Line("getTargetSpeedFraction", NONE, ours=RECORD),
    Line("getTargetQd", NONE, ours=RECORD),
    Line("getTargetQdd", NONE, ours=RECORD),
    Line("getTargetTCPPose", NONE, ours=RECORD),
    Line("getTargetTCPSpeed", NONE, ours=RECORD),
    Line("getTargetCurrent", NONE, ours=RECORD),
    Line("getTargetMoment", NONE, ours=RECORD),
    Line("getActualCurrent", NONE, ours=RECORD),
    Line("getActualJointVoltage", NONE, ours=RECORD),
    Line("getActualMainVoltage", NONE, ours=RECORD),
    Line("getActualRobotVoltage", NONE, ours=RECORD),
    Line("getActualRobotCurrent", NONE, ours=RECORD),
    Line("getActualMomentum", NONE, ours=RECORD),
    Line("getActualExecutionTime", NONE, ours=RECORD),
    Line("getActualToolAccelerometer", NONE, ours=RECORD),
    Line("getJointControlOutput", NONE, ours=RECORD),
    Line("getJointTemperatures", NONE, ours=RECORD),
    Line("getFtRawWrench", NONE, ours=RECORD),
    Line("getPayload", NONE, ours=RECORD),
    Line("getPayloadCog", NONE, ours=RECORD),
    Line("getPayloadInertia", NONE, ours=RECORD),
    Line("getStandardAnalogInput0", NONE, ours="`outrigger io ROBOT`"),
    Line("getStandardAnalogInput1", NONE, ours="`outrigger io ROBOT`"),
    Line("getStandardAnalogOutput0", NONE, ours="`outrigger io ROBOT`"),
    Line("getStandardAnalogOutput1", NONE, ours="`outrigger io ROBOT`"),
    Line("getOutputDoubleRegister", NONE, ours=RECORD),
    Line("getOutputIntRegister", NONE, ours=RECORD),
)

IO = Class(
    "RTDEIOInterface",
    Line("setStandardDigitalOut", SAME, "io.setStandardDigitalOut(3, True)", 'robot.set("digital-out.3=on")',
         "outputs"),
    Line("setConfigurableDigitalOut", SAME,
         "io.setConfigurableDigitalOut(1, True)", 'robot.set("configurable-out.1=on")', "outputs"),
    Line("setToolDigitalOut", SAME, "io.setToolDigitalOut(0, True)", 'robot.set("tool-out.0=on")', "outputs"),
    Line("setAnalogOutputVoltage", PARTLY, "io.setAnalogOutputVoltage(0, 0.5)", 'robot.set("analog-out.0=5V")',
         "analog output",
         note="in volts, of 10 V, in place of a ratio"),
    Line("setAnalogOutputCurrent", PARTLY, "io.setAnalogOutputCurrent(0, 0.5)", 'robot.set("analog-out.0=12mA")',
         "analog output",
         note="in milliamperes, 4 to 20, in place of a ratio"),
    Line("setSpeedSlider", SAME, "io.setSpeedSlider(0.4)", 'robot.set("speed-slider=0.4")', "slider"),
    Line("setInputDoubleRegister", NONE, ours="not offered"),
    Line("setInputIntRegister", NONE, ours="not offered"),
    Line("isConnected", NONE, ours="not needed: `robot.set` uses the session, and raises ConnectionFailed without it"),
    Line("reconnect", NONE, ours="not needed: a session connects again by itself"),
    Line("disconnect", NONE, ours="`robot.close()`, for the whole session"),
)


def order(method: str, line: str, effect: str, scene: str = "at rest", argument: str = "", note: str = "") -> Line:
    """Returns the line of a request that changes something."""
    return Line(method, SAME, f"dashboard.{method}({argument})", f'robot.dashboard("{line}")', effect, scene, note)


def question(method: str, line: str, scene: str = "a program plays") -> Line:
    """Returns the line of a request that is answered by a text."""
    return Line(method, SAME, f"dashboard.{method}()", f'robot.dashboard("{line}")', "answer", scene)


def yes_or_no(method: str, line: str, scene: str = "a program plays", note: str = "") -> Line:
    """Returns the line of a request that is answered by a boolean."""
    ours = f'robot.dashboard("{line}").startswith("yes")'
    return Line(method, PARTLY, f"dashboard.{method}()", ours, "value", scene, note or "the answer is a text")


UNSEEN = "no interface of the controller publishes it"
DASHBOARD = Class(
    "DashboardClient",
    order("powerOn", "power on", "robot mode", "without power"),
    order("powerOff", "power off", "robot mode"),
    order("brakeRelease", "brake release", "robot mode", "with power"),
    order("unlockProtectiveStop", "unlock protective stop", "safety status", "protective stop 5 s ago"),
    order("restartSafety", "restart safety", "safety status", "violation"),
    order("closeSafetyPopup", "close safety popup", "accepted", note=UNSEEN),
    order("loadURP", "load idle.urp", "loaded program", argument='"idle.urp"'),
    order("play", "play", "program state", "a program is loaded"),
    order("pause", "pause", "program state", "a program plays"),
    order("stop", "stop", "program state", "a program plays"),
    yes_or_no("running", "running"),
    question("programState", "programState"),
    question("getLoadedProgram", "get loaded program"),
    yes_or_no("isProgramSaved", "isProgramSaved", "a program plays on CB3",
              "the answer is a text; ur_rtde 1.6.5 returns False for the answer of an e-Series"),
    question("robotmode", "robotmode"),
    question("safetymode", "safetymode"),
    question("safetystatus", "safetystatus"),
    yes_or_no("isInRemoteControl", "is in remote control"),
    question("polyscopeVersion", "PolyscopeVersion"),
    question("getSerialNumber", "get serial number"),
    question("getRobotModel", "get robot model"),
    Line("setUserRole", NONE, ours='`robot.dashboard("setUserRole locked")`, of CB3; in Python ur_rtde has no value for it'),
    order("popup", "popup hello", "accepted", argument='"hello"', note=UNSEEN),
    order("closePopup", "close popup", "accepted", note=UNSEEN),
    order("addToLog", "addToLog hello", "accepted", argument='"hello"', note=UNSEEN),
    order("shutdown", "shutdown", "dashboard server"),
    Line("quit", NONE, ours="not needed: each request connects"),
    Line("connect", NONE, ours="not needed: each request connects"),
    Line("disconnect", NONE, ours="not needed: each request connects"),
    Line("isConnected", NONE, ours="not needed: `robot.dashboard` raises ConnectionFailed if the server does not answer"),
    Line("send", PARTLY, 'dashboard.send("robotmode\\n") or dashboard.receive()', 'robot.dashboard("robotmode")', "answer",
         note="a request that it does not know is a ValueError"),
    Line("receive", PARTLY, 'dashboard.send("safetymode\\n") or dashboard.receive()', 'robot.dashboard("safetymode")',
         "answer", note="it returns the answer"),
)

CLASSES = (CONTROL, RECEIVE, IO, DASHBOARD)
