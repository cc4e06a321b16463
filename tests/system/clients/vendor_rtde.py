"""Reads a controller with UR's own RTDE client and writes registers and an output through it.

Usage: vendor_rtde.py FOLDER ADDRESS FREQUENCY

FOLDER is a copy of github.com/UniversalRobots/RTDE_Python_Client_Library. Each line of the output is a name and its
numbers. The simulated controller echoes input registers in output registers while no program runs.
"""

import sys
import time

SECONDS = 2.0
PATIENCE = 5.0

OUTPUTS = [
    "timestamp", "actual_q", "target_q", "actual_TCP_pose", "robot_mode", "safety_mode", "runtime_state",
    "joint_mode", "actual_digital_input_bits", "actual_digital_output_bits", "output_int_register_30",
    "output_double_register_30",
]
REGISTERS = ["input_int_register_30", "input_double_register_30"]
DIGITAL = ["standard_digital_output_mask", "standard_digital_output"]


def say(name, *values):
    print(name, *(repr(float(value)) for value in values))


def receive_until(connection, condition):
    """Returns the first state that fulfils `condition`, or the last one received after `PATIENCE` seconds."""
    until = time.monotonic() + PATIENCE
    state = connection.receive()
    while not condition(state) and time.monotonic() < until:
        state = connection.receive()
    return state


def main(address, frequency):
    connection = rtde.RTDE(address)
    connection.connect()
    say("version", *connection.get_controller_version()[:2])
    if not connection.send_output_setup(OUTPUTS, frequency=frequency):
        sys.exit("the outputs were refused")
    registers = connection.send_input_setup(REGISTERS)
    digital = connection.send_input_setup(DIGITAL)
    if registers is None or digital is None:
        sys.exit("the inputs were refused")
    if not connection.send_start():
        sys.exit("the start was refused")

    state = connection.receive()
    say("q", *state.actual_q)
    say("target_q", *state.target_q)
    say("pose", *state.actual_TCP_pose)
    say("robot_mode", state.robot_mode)
    say("safety_mode", state.safety_mode)
    say("runtime_state", state.runtime_state)
    say("joint_mode", *state.joint_mode)
    say("digital_in", state.actual_digital_input_bits)

    # The client skips, and counts, the packages that queue up while this process is not scheduled.
    times = []
    skipped = connection.skipped_package_count
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        times.append(connection.receive().timestamp)
    say("times", *times)
    say("skipped", connection.skipped_package_count - skipped)

    registers.input_int_register_30 = -4711
    registers.input_double_register_30 = 0.125
    connection.send(registers)
    digital.standard_digital_output_mask = 1 << 3
    digital.standard_digital_output = 1 << 3
    connection.send(digital)
    state = receive_until(
        connection, lambda state: state.output_int_register_30 == -4711 and state.actual_digital_output_bits != 0
    )
    say("int_register", state.output_int_register_30)
    say("double_register", state.output_double_register_30)
    say("digital_out", state.actual_digital_output_bits)
    connection.send_pause()
    connection.disconnect()


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import rtde.rtde as rtde

    main(sys.argv[2], float(sys.argv[3]))
