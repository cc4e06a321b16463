"""Records each state of a motion to a file of NumPy: the controller's time, joint angles and speeds.

python 08_states_to_numpy.py [ADDRESS [FILE.npz]]     without an address, on a simulated arm
"""

import sys
import tempfile
import threading

import numpy as np

from outrigger_robot import Robot, sim

FILE = f"{tempfile.gettempdir()}/states.npz"


def record(robot: Robot, over: threading.Event, rows: list) -> None:
    for state in robot.states():
        rows.append(np.concatenate([[state.time], state.q, state.qd]))
        if over.is_set():
            return


def main(address: str, file: str = FILE) -> None:
    with Robot.ur(address) as robot:
        rows, over = [], threading.Event()
        recorder = threading.Thread(target=record, args=(robot, over, rows))
        recorder.start()
        try:
            robot.move_to(robot.state.q + [0.4, 0, 0, 0, 0, 0], speed=0.4)
        finally:
            over.set()
            recorder.join()
    table = np.array(rows)
    time, q, qd = table[:, 0], table[:, 1:7], table[:, 7:13]
    np.savez(file, time=time, q=q, qd=qd)
    longest = np.diff(time).max() * 1e3
    print(
        f"{len(time)} states in {time[-1] - time[0]:.2f} s, at most {longest:.0f} ms apart; "
        f"joint 1 moved by {q[-1, 0] - q[0, 0]:.2f} rad with up to {qd[:, 0].max():.2f} rad/s: {file}"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        with sim.ur("5.15") as simulator:
            main(simulator.address)
