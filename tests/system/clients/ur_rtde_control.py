"""Moves an arm with every call of ur_rtde's RTDEControlInterface, a third-party client for real robots.

Usage: ur_rtde_control.py ADDRESS FREQUENCY RANGE PART

RANGE is `lower` or `upper`: the registers that its control script uses. PART is one of the functions below. The effect
of a call is read over a second connection (RTDEReceiveInterface). Each line of the output is a name and its numbers.
"""

import math
import time

from rtde_control import Path, PathEntry, RTDEControlInterface

from ur_rtde_arm import fresh, main, nearest, off_line, say, shifted, wait_for


def questions(arm):
    """Makes the calls that only query, and those that set the robot up."""
    control, seen = arm.control, arm.seen
    q, pose = seen.getActualQ(), seen.getActualTCPPose()
    say("q", *q)
    say("pose", *pose)
    say("step_time", fresh(control.getStepTime))
    say("steady", wait_for(control.isSteady))
    say("forward", *control.getForwardKinematics())
    other = [joint + 0.2 for joint in q]
    say("forward_of", *control.getForwardKinematics(other, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]))
    say("inverse", *control.getInverseKinematics(pose))
    say("inverse_near", *control.getInverseKinematics(pose, q))
    far = shifted(pose, 3.0)
    say("solutions", *(control.getInverseKinematicsHasSolution(*case) for case in ((pose,), (pose, q), (far,), (far, q))))
    say("within", control.isPoseWithinSafetyLimits(pose), control.isPoseWithinSafetyLimits(far),
        control.isJointsWithinSafetyLimits(q), control.isJointsWithinSafetyLimits([7.0] + q[1:]))
    say("trans", *control.poseTrans(pose, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]))
    say("history", *fresh(lambda: control.getActualJointPositionsHistory(5)))
    say("torques", *fresh(control.getJointTorques))
    say("waypoint", *control.getTargetWaypoint())
    say("status", control.getRobotStatus())
    control.setTcp([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
    say("tcp", *control.getTCPOffset())
    say("flange", *fresh(control.getActualToolFlangePose))
    say("pose_with_tcp", *seen.getActualTCPPose())
    control.setTcp([0.0] * 6)
    say("payload", control.setPayload(1.25, [0.01, 0.02, 0.03]))
    say("gravity", control.setGravity([0.0, 0.0, 9.82]))
    say("zeroed", control.zeroFtSensor())


def dynamics(arm):
    """Queries the dynamics of the arm, and applies a torque to the last joint."""
    control, seen = arm.control, arm.seen
    say("q", *seen.getActualQ())
    say("mass", *fresh(control.getMassMatrix))
    say("jacobian", *fresh(control.getJacobian))
    say("jacobian.change", *fresh(control.getJacobianTimeDerivative))
    say("coriolis", *fresh(control.getCoriolisAndCentrifugalTorques))
    say("accelerations", *fresh(control.getTargetJointAccelerations))
    say("payload", control.setTargetPayload(1.5, [0.01, 0.02, 0.1], [0.01, 0.01, 0.01, 0.0, 0.0, 0.0]))
    say("mass.loaded", *fresh(control.getMassMatrix))
    before = seen.getActualQ()
    arm.repeat(lambda _: control.directTorque([0.0, 0.0, 0.0, 0.0, 0.0, 2.0]), 0.3)
    # The control script repeats the last torque until it gets another command.
    control.stopJ(5.0)
    arm.settles()
    say("turned", *(now - then for now, then in zip(seen.getActualQ(), before)))


def moves(arm):
    """Makes every kind of move, one after the other."""
    control, seen = arm.control, arm.seen
    q = seen.getActualQ()
    goal = [joint + change for joint, change in zip(q, (0.3, -0.2, 0.2, 0.1, -0.1, 0.2))]
    say("goal", *goal)
    say("moveJ", control.moveJ(goal, 1.5, 3.0))
    arm.say_rest("moveJ.at")
    pose = seen.getActualTCPPose()
    control.moveJ(q, 1.5, 3.0)
    arm.settles()
    say("pose", *pose)
    control.moveJ_IK(pose, 1.5, 3.0)
    arm.say_rest("moveJ_IK.at")

    line = shifted(pose, -0.06, 0.05, -0.04)
    say("line", *line)
    poses = arm.watch(lambda: control.moveL(line, 0.3, 1.5))
    arm.say_rest("moveL.at")
    say("moveL.off", off_line(poses, pose, line))
    poses = arm.watch(lambda: control.moveL_FK(goal, 0.3, 1.5))
    arm.say_rest("moveL_FK.at")
    say("moveL_FK.off", off_line(poses, line, pose))

    # The waypoint in the middle is blended, the last one is reached.
    corner, end = shifted(pose, 0.0, 0.0, -0.1), shifted(pose, 0.0, 0.1, -0.1)
    path = [corner + [0.25, 1.2, 0.02], end + [0.25, 1.2, 0.0]]
    say("end", *end)
    poses = arm.watch(lambda: control.moveL(path))
    arm.say_rest("moveL_path.at")
    say("moveL_path.corner", nearest(poses, corner))
    joints = [[joint + 0.1 for joint in goal] + [1.05, 1.4, 0.01], goal + [1.05, 1.4, 0.0]]
    say("moveJ_path", control.moveJ(joints))
    arm.say_rest("moveJ_path.at")

    # The path has no arcs, because the client rejects them.
    over = shifted(pose, 0.0, 0.06, 0.0)
    path = Path()
    path.addEntry(PathEntry(PathEntry.MoveL, PathEntry.PositionTcpPose, shifted(pose, 0.0, 0.0, -0.05) + [0.25, 1.2, 0.0]))
    path.addEntry(PathEntry(PathEntry.MoveJ, PathEntry.PositionJoints, goal + [1.05, 1.4, 0.0]))
    path.addEntry(PathEntry(PathEntry.MoveP, PathEntry.PositionTcpPose, shifted(pose, 0.0, 0.0, 0.02) + [0.25, 1.2, 0.0]))
    path.addEntry(PathEntry(PathEntry.MoveL, PathEntry.PositionTcpPose, over + [0.25, 1.2, 0.0]))
    say("over", *over)
    poses = arm.watch(lambda: control.movePath(path))
    arm.say_rest("movePath.at")
    say("movePath.passed", nearest(poses, shifted(pose, 0.0, 0.0, -0.05)), nearest(poses, shifted(pose, 0.0, 0.0, 0.02)))

    # Asynchronous moves return immediately, and are stopped on the way.
    for name, move, stop in (
        ("asyncJ", lambda: control.moveJ(q, 0.3, 1.0, True), control.stopJ),
        ("asyncL", lambda: control.moveL(shifted(pose, 0.0, 0.0, -0.1), 0.03, 0.5, True), control.stopL),
    ):
        arm.settles()
        begin = time.monotonic()
        move()
        say(name + ".returned", time.monotonic() - begin)
        time.sleep(0.5)
        say(name + ".running", control.getAsyncOperationProgressEx().isAsyncOperationRunning(), not arm.rests())
        stop(4.0)
        say(name + ".rests", wait_for(arm.rests, 2.0))
        arm.settles()
        say(name + ".over", not control.getAsyncOperationProgressEx().isAsyncOperationRunning())
        arm.say_rest(name + ".at")
    say("q", *q)
    say("asyncJ_to_end", control.moveJ(q, 1.5, 3.0, True))
    say("asyncJ_to_end.over", wait_for(lambda: not control.getAsyncOperationProgressEx().isAsyncOperationRunning()))
    arm.say_rest("asyncJ_to_end.at")


def speeds(arm):
    """Streams speeds and positions."""
    control, seen = arm.control, arm.seen
    qd = [0.1, -0.05, 0.05, 0.0, 0.1, -0.2]
    say("qd", *qd)
    arm.repeat(lambda _: control.speedJ(qd, 2.0, 0.5), 0.5)
    say("speedJ", *seen.getActualQd())
    control.speedStop(5.0)
    say("speedJ.rests", wait_for(arm.rests, 1.0))

    begin = seen.getActualTCPPose()
    xd = [0.0, 0.05, -0.04, 0.0, 0.0, 0.1]
    say("xd", *xd)
    speeds = []
    poses = arm.watch(lambda: (
        arm.repeat(lambda _: control.speedL(xd, 0.5, 0.5), 0.5), speeds.extend(seen.getActualTCPSpeed()), control.speedStop(5.0)
    ))
    say("speedL", *speeds)
    say("speedL.off", off_line(poses, begin, shifted(begin, *xd[:3])))

    q = seen.getActualQ()

    def wave(now):
        return [joint + 0.05 * (1.0 - math.cos(2.0 * now)) for joint in q]

    errors = []

    def servo(now):
        control.servoJ(wave(now), 0.0, 0.0, arm.period, 0.03, 2000.0)
        # Compared with the position commanded 50 ms earlier.
        if now > 0.5:
            errors.append(max(abs(have - want) for have, want in zip(seen.getActualQ(), wave(now - 0.05))))

    arm.repeat(servo, 1.5)
    control.servoStop(10.0)
    say("servoJ.error", max(errors))
    say("servoJ.rests", wait_for(arm.rests, 1.0))
    say("servoJ.way", max(abs(now - then) for now, then in zip(seen.getActualQ(), q)))

    pose = seen.getActualTCPPose()
    goal = shifted(pose, 0.0, 0.01, -0.01)
    say("servo_goal", *goal)
    arm.repeat(lambda _: control.servoL(goal, 0.0, 0.0, arm.period, 0.1, 300.0), 1.0)
    control.servoStop(10.0)
    arm.say_rest("servoL.at")
    far = shifted(goal, 0.0, 0.03, 0.02)
    say("servoC_goal", *far)
    control.servoC(far, 0.1, 0.8, 0.0)
    time.sleep(1.5)
    say("servoC.at", *seen.getActualTCPPose())
    # The control script does not execute the first servoStop after servoC.
    control.servoStop(10.0)
    control.servoStop(10.0)
    say("servoC.rests", wait_for(arm.rests, 1.0))


def jogging(arm):
    """Jogs along an axis of the base and of the tool, until `jogStop`."""
    control, seen = arm.control, arm.seen
    for name, feature in (("jog_base", RTDEControlInterface.FEATURE_BASE), ("jog_tool", RTDEControlInterface.FEATURE_TOOL)):
        arm.settles()
        say(name + ".from", *seen.getActualTCPPose())
        control.jogStart([0.0, 0.0, -0.03, 0.0, 0.0, 0.0], feature)
        time.sleep(0.7)
        say(name + ".speed", *seen.getActualTCPSpeed())
        control.jogStop()
        arm.say_rest(name + ".at")


if __name__ == "__main__":
    main(globals())
