"""Uses force mode, contact detection, hand guiding and restarts of ur_rtde's RTDEControlInterface.

Usage: ur_rtde_contact.py ADDRESS FREQUENCY RANGE PART

Arguments and output are those of ur_rtde_control.py. `force` and `contact` need a surface 20 mm below the tool.
`guided` needs a hand that presses the tool from time to time.
"""

import tempfile
import time

from ur_rtde_arm import main, say, shifted, wait_for

DOWN = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]


def depth(arm, top):
    """Returns the distance of the tool below the pose `top` [m]."""
    return top[2] - arm.seen.getActualTCPPose()[2]


def force(arm):
    """Presses on the surface with a constant force of 20 N, ends force mode, and measures whether the tool creeps."""
    control, seen = arm.control, arm.seen
    top = seen.getActualTCPPose()
    say("damping", control.forceModeSetDamping(0.005))
    if arm.e_series:
        say("scaling", control.forceModeSetGainScaling(1.0))
    say("zeroed", control.zeroFtSensor())

    def press(_):
        control.forceMode([0.0] * 6, [0, 0, 1, 0, 0, 0], [0.0, 0.0, -20.0, 0.0, 0.0, 0.0], 2, [0.1, 0.1, 0.05, 1.0, 1.0, 1.0])

    arm.repeat(press, 4.0)
    forces = []
    arm.repeat(lambda now: (press(now), forces.append(seen.getActualTCPForce()[2])), 1.0)
    say("force", min(forces), max(forces))
    say("depth", depth(arm, top))
    say("stopped", control.forceModeStop())
    arm.settles()
    held = depth(arm, top)
    time.sleep(0.3)
    say("crept", depth(arm, top) - held)


def contact(arm):
    """Detects the surface by a query, by a move that ends at contact, and by detection during another move."""
    control, seen = arm.control, arm.seen
    top = seen.getActualTCPPose()
    say("free", control.toolContact(DOWN))
    begin = time.monotonic()
    say("until", control.moveUntilContact(shifted([0.0] * 6, 0.0, 0.0, -0.02), DOWN, 0.5))
    arm.settles()
    say("until.seconds", time.monotonic() - begin)
    say("until.depth", depth(arm, top))
    control.moveL(shifted(top, 0.0, 0.0, -0.0206), 0.02, 0.5)
    arm.settles()
    say("touched", wait_for(lambda: control.toolContact(DOWN), 1.0))
    control.moveL(top, 0.1, 0.5)
    arm.settles()

    say("detection", control.startContactDetection(DOWN))
    control.moveL(shifted(top, 0.0, 0.0, -0.05), 0.02, 0.5, True)
    # No query during the move: the control script misses a contact that occurs while it answers a call.
    time.sleep(3.0)
    arm.settles()
    say("detected", control.readContactDetection())
    say("detected.depth", depth(arm, top))
    say("detection.ended", control.stopContactDetection())


def guided(arm):
    """Lets a hand move the arm: in freedrive along the free axes, in teach mode, and not at all outside of both."""
    control, seen = arm.control, arm.seen
    hand = lambda: abs(seen.getActualTCPForce()[2]) > 15.0

    def push(name):
        """Prints the displacement of the tool by the next push of the hand [m]."""
        wait_for(lambda: not hand())
        arm.settles()
        before = seen.getActualTCPPose()
        wait_for(hand)
        wait_for(lambda: not hand())
        arm.settles()
        say(name, *(now - then for now, then in zip(seen.getActualTCPPose()[:3], before)))

    if arm.e_series:
        say("freedrive", control.freedriveMode())
        say("status", control.getFreedriveStatus())
        push("all")
        say("freedrive.ended", control.endFreedriveMode())
        say("along", control.freedriveMode([1, 1, 0, 0, 0, 0], [0.0] * 6))
        push("across")
        control.endFreedriveMode()
    say("teach", control.teachMode())
    push("taught")
    say("teach.ended", control.endTeachMode())
    push("none")


def endings(arm):
    """Ends the control script in each possible way, and starts it again."""
    control, seen = arm.control, arm.seen
    home = seen.getActualQ()

    def still_moves(name):
        """Waits until the control script runs, because an upload returns early, and tests a move of the arm."""
        wait_for(control.isProgramRunning)
        goal = list(home)
        goal[5] += 0.05
        says = control.moveJ(goal, 1.0, 3.0)
        arm.settles()
        say(name, says, seen.getActualQ()[5] - home[5])
        control.moveJ(home, 1.0, 3.0)
        arm.settles()

    say("running", control.isProgramRunning())
    still_moves("moves")
    say("watchdog", control.setWatchdog(10.0))
    arm.repeat(lambda _: control.kickWatchdog(), 0.5)
    say("kicked", control.isProgramRunning())
    say("unkicked", wait_for(lambda: not control.isProgramRunning(), 2.0))
    say("uploaded", control.reuploadScript())
    still_moves("uploaded.moves")

    say("function", control.sendCustomScriptFunction("shine", "set_standard_digital_out(2, True)"))
    say("function.on", wait_for(lambda: seen.getActualDigitalOutputBits() & 4, 2.0))
    with tempfile.NamedTemporaryFile("w", suffix=".script") as file:
        file.write(arm.script("set_standard_digital_out(2, False)"))
        file.flush()
        say("file", control.sendCustomScriptFile(file.name))
    say("file.off", wait_for(lambda: not seen.getActualDigitalOutputBits() & 4, 2.0))
    say("script", control.sendCustomScript(arm.script("set_standard_digital_out(2, True)")))
    say("script.on", wait_for(lambda: seen.getActualDigitalOutputBits() & 4, 2.0))
    still_moves("script.moves")

    control.stopScript()
    say("stopped", wait_for(lambda: not control.isProgramRunning(), 2.0))
    if arm.dashboard:
        control.disconnect()
        say("disconnected", not control.isConnected())
        say("reconnected", control.reconnect(), control.isConnected())
    control.reuploadScript()
    still_moves("reconnected.moves")

    control.moveJ([joint + 0.5 for joint in home], 0.5, 1.0, True)
    time.sleep(0.3)
    say("moving", not arm.rests())
    control.triggerProtectiveStop()
    say("protective", wait_for(seen.isProtectiveStopped, 2.0), wait_for(arm.rests, 2.0))


if __name__ == "__main__":
    main(globals())
