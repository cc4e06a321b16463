"""Lets ur_rtde's RTDEControlInterface upload its control script, and prints whether it came to run.

Usage: ur_rtde_control.py ADDRESS FREQUENCY
"""

import sys

from rtde_control import RTDEControlInterface

if __name__ == "__main__":
    try:
        control = RTDEControlInterface(sys.argv[1], float(sys.argv[2]))
        print("started", int(control.isConnected()))
        control.disconnect()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        print("started", 0)
