"""Reads a controller with ur_rtde, a third-party client for real robots, and writes through its I/O interface.

Usage: ur_rtde_reads.py ADDRESS FREQUENCY

ur_rtde uses port 30004 only. Each line of the output is a name and its numbers. The simulated controller echoes input
registers in output registers while no program runs.
"""

import sys
import time

from rtde_io import RTDEIOInterface
from rtde_receive import RTDEReceiveInterface

SECONDS = 1.0
PATIENCE = 5.0


def say(name, *values):
    print(name, *(repr(float(value)) for value in values))


def wait_for(what):
    """Polls until `what` returns a true value, for at most `PATIENCE` seconds. Returns its last value."""
    until = time.monotonic() + PATIENCE
    while not what() and time.monotonic() < until:
        time.sleep(0.001)
    return what()


def states(receive, seconds):
    """Returns the time stamps of the states that arrive within `seconds`, without repetitions."""
    times = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        now = receive.getTimestamp()
        if not times or now != times[-1]:
            times.append(now)
        time.sleep(0.0002)
    return times


def main(address, frequency):
    receive = RTDEReceiveInterface(address, frequency, use_upper_range_registers=True)
    wait_for(lambda: receive.getTimestamp() > 0)
    say("q", *receive.getActualQ())
    say("target_q", *receive.getTargetQ())
    say("pose", *receive.getActualTCPPose())
    say("robot_mode", receive.getRobotMode())
    say("safety_mode", receive.getSafetyMode())
    say("runtime_state", receive.getRuntimeState())
    say("joint_mode", *receive.getJointMode())
    say("digital_in", receive.getActualDigitalInputBits())
    say("temperatures", *receive.getJointTemperatures())
    say("scaling", receive.getSpeedScaling())
    say("times", *states(receive, SECONDS))

    io = RTDEIOInterface(address, use_upper_range_registers=True)
    say("done", *(int(done) for done in (
        io.setStandardDigitalOut(3, True),
        io.setConfigurableDigitalOut(5, True),
        io.setToolDigitalOut(1, True),
        io.setAnalogOutputVoltage(0, 0.25),
        io.setSpeedSlider(0.5),
        io.setInputIntRegister(43, -4711),
        io.setInputDoubleRegister(43, 0.125),
    )))
    say("int_register", wait_for(lambda: receive.getOutputIntRegister(43)))
    say("double_register", wait_for(lambda: receive.getOutputDoubleRegister(43)))
    say("digital_out", receive.getActualDigitalOutputBits())
    say("analog_out", receive.getStandardAnalogOutput0())
    say("slider", receive.getTargetSpeedFraction())
    io.setStandardDigitalOut(3, False)
    say("switched_off", wait_for(lambda: not receive.getDigitalOutState(3)))
    io.disconnect()
    receive.disconnect()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
