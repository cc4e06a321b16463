"""The verdict on one script of a client: where the simulated arm truly is after it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

from node import node
from outrigger_robot import sim

PORT_BASE = 29999
HOME = np.array([0.0, -1.571, -1.571, -1.571, 1.571, 0.0])
GOAL = HOME + [0.3, -0.1, 0.1, 0.0, 0.1, 0.2]
SHIFT = np.array([-0.06, 0.05, 0.04, 0.0, 0.0, 0.0])
SPEED = 0.2
#: Clients round: to a milliradian, to a tenth of a millimetre, the rotation to 0.01 rad.
JOINT, PLACE, ROTATION, LINE = 5e-3, 3e-3, 1.5e-2, 3e-3
LONGEST = 40.0


class Witness(threading.Thread):
    """Looks at the true arm until it is ended: the poses of the tool, and the highest speed of the last joint."""

    def __init__(self, simulator: sim.SimulatedUr) -> None:
        super().__init__(daemon=True)
        self.simulator = simulator
        self.over = threading.Event()
        self.poses: list[np.ndarray] = []
        self.fastest = 0.0

    def run(self) -> None:
        while not self.over.wait(0.01):
            self.poses.append(self.simulator.pose)
            self.fastest = max(self.fastest, float(self.simulator.qd[5]))


def off_line(poses: list[np.ndarray], begin: np.ndarray) -> float:
    """Returns the largest distance of the tool from the line that it was to follow [m]."""
    along = SHIFT[:3] / np.linalg.norm(SHIFT[:3])
    ways = np.array([pose[:3] - begin[:3] for pose in poses])
    return float(np.linalg.norm(ways - np.outer(ways @ along, along), axis=1).max())


def settle(simulator: sim.SimulatedUr) -> None:
    """Waits until the arm has been at rest for half a second, at most ten."""
    until, rested = time.monotonic() + 10.0, 0
    while rested < 50 and time.monotonic() < until:
        rested = rested + 1 if simulator.at_rest else 0
        time.sleep(0.01)


def judged(script: str, simulator: sim.SimulatedUr, witness: Witness, begin: np.ndarray, printed: str) -> str:
    """Returns why the true arm is not where the script was to move it, or nothing."""
    if script == "read":
        read = np.array(json.loads(printed.splitlines()[-1]), dtype=float)
        return "" if np.allclose(read, HOME, atol=1e-3) else f"reads {read.round(4).tolist()}"
    if not simulator.at_rest:
        return "the arm still moves"
    if script in ("joints", "send"):
        error = np.abs(simulator.q - GOAL).max()
        return "" if error < JOINT else f"a joint is {error:.3f} rad from its goal"
    if script == "line":
        error = simulator.pose - begin - SHIFT
        away, turned = np.abs(error[:3]).max(), np.abs(error[3:]).max()
        if away > PLACE or turned > ROTATION:
            return f"the tool is {away * 1e3:.1f} mm and {turned:.3f} rad from its goal"
        off = off_line(witness.poses, begin)
        return "" if off < LINE else f"the tool was {off * 1e3:.1f} mm beside the line"
    way = simulator.q[5] - HOME[5]
    good = abs(witness.fastest - SPEED) < 0.1 * SPEED and 0.5 * SPEED < way < 2.0 * SPEED
    return "" if good else f"the joint turned by {way:.3f} rad with up to {witness.fastest:.3f} rad/s"


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a script in a folder of its own, because some clients write files."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LONGEST)


def verdict(words: list[str], script: str, software: str, ros2: str | None = None) -> str:
    """Runs a script of a client opposite a fresh controller. Returns why it failed, or nothing.

    With `ros2`, an `outrigger` that has this command, a node runs beside the controller.
    """
    with sim.ur(software, q=HOME, port_base=PORT_BASE) as simulator:
        begin = simulator.pose
        task = {
            "host": simulator.host,
            "joints": GOAL.round(3).tolist(),
            "pose": (begin + SHIFT).tolist(),
            "speeds": [0.0, 0.0, 0.0, 0.0, 0.0, SPEED],
        }
        witness = Witness(simulator)
        witness.start()
        try:
            beside = node(ros2, simulator.host, software) if ros2 else contextlib.nullcontext()
            with beside as log:
                done = run([*words, script, json.dumps(task)])
                if log and done.returncode != 0:
                    print(log.read_text(encoding="utf-8")[-4000:], file=sys.stderr)
        except subprocess.TimeoutExpired:
            return f"does not end within {LONGEST:.0f} s"
        finally:
            settle(simulator)
            witness.over.set()
            witness.join()
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            return lines[-1] if lines else f"exit code {done.returncode}"
        return judged(script, simulator, witness, begin, done.stdout)
