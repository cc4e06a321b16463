"""Runs the control loop example of UR's own RTDE client, unchanged, for MOVES moves.

Usage: vendor_control_loop.py FOLDER ADDRESS MOVES

FOLDER is a copy of github.com/UniversalRobots/RTDE_Python_Client_Library. The example has a fixed address and
never ends. This script replaces the address, and ends the loop by reporting a closed connection. The example prints the
poses that it moves to.
"""

import os
import runpy
import sys

folder, address, moves = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.path.insert(0, folder)
import rtde.rtde as rtde  # noqa: E402


class Limited(rtde.RTDE):
    """A connection to ADDRESS that reports its end after MOVES moves."""

    confirmed = 0
    asked = False

    def __init__(self, _host, port):
        super().__init__(address, port)

    def receive(self, *arguments):
        state = super().receive(*arguments)
        if self.asked and state.output_int_register_0 == 0:
            self.confirmed += 1
        self.asked = state.output_int_register_0 == 1
        return None if self.confirmed > moves else state


rtde.RTDE = Limited
os.chdir(os.path.join(folder, "examples"))
runpy.run_path("example_control_loop.py", run_name="__main__")
