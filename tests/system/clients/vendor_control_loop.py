"""Runs the control loop among the examples of UR's own RTDE client, unchanged, for so many moves.

Usage: vendor_control_loop.py FOLDER ADDRESS MOVES

FOLDER is a copy of github.com/UniversalRobots/RTDE_Python_Client_Library. The example knows one address, and does not
end: another address is put in its place, and it is told that the connection has ended. It prints where it moves to.
"""

import os
import runpy
import sys

folder, address, moves = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.path.insert(0, folder)
import rtde.rtde as rtde  # noqa: E402


class Limited(rtde.RTDE):
    """A connection to the address asked for, that ends after so many moves."""

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
