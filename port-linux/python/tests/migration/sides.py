"""Both clients of one line, each with its simulated controller, and what happens before the call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dashboard_client import DashboardClient
from rtde_control import Path, PathEntry, RTDEControlInterface
from rtde_io import RTDEIOInterface
from rtde_receive import RTDEReceiveInterface

from outrigger_robot import ConnectionFailed, OutriggerError, Robot, sim

HOST = "127.0.0.1"
#: ur_rtde cannot change ports.
PORT_BASE = 29999
HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])
MIDDLE = list(HOME + [0.1, 0.1, 0.0, 0.0, 0.0, 0.0])
GOAL = list(HOME + [0.3, -0.1, 0.1, 0.0, 0.1, 0.2])
FAR = list(HOME + [2.5, 0.0, 0.0, 0.0, 0.0, 0.0])
SPEEDS = [0.1, -0.05, 0.05, 0.0, 0.1, -0.2]


class Ramp:
    """Joint angles that move joint 1 by 0.1 rad within 0.5 s of the first call, and stay there."""

    def __init__(self) -> None:
        self.begun: float | None = None

    def __call__(self) -> list[float]:
        self.begun = self.begun or time.monotonic()
        change = 0.2 * min(time.monotonic() - self.begun, 0.5)
        return list(HOME + [change, 0.0, 0.0, 0.0, 0.0, 0.0])


def path() -> Path:
    """Returns the way over MIDDLE to GOAL, without blends."""
    entries = Path()
    for joints in (MIDDLE, GOAL):
        entries.addEntry(PathEntry(PathEntry.MoveJ, PathEntry.PositionJoints, [*joints, 0.5, 1.0, 0.0]))
    return entries


def simulator(faults: tuple[str, ...]) -> sim.SimulatedUr:
    """Starts a controller on the standard ports, as soon as they are free."""
    until = time.monotonic() + 60.0
    while True:
        try:
            return sim.ur("5.15", q=HOME, faults=faults, port_base=PORT_BASE)
        except ConnectionFailed:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


class Side(dict[str, Any]):
    """The names that a call may use. Clients connect when they are named first."""

    def __init__(self, controller: sim.SimulatedUr) -> None:
        line = list(controller.pose + [-0.05, 0.03, 0.05, 0.0, 0.0, 0.0])
        super().__init__(GOAL=GOAL, MIDDLE=MIDDLE, FAR=FAR, SPEEDS=SPEEDS, POSE=line, ramp=Ramp())
        self.simulator = controller
        self.background: threading.Thread | None = None

    def __missing__(self, name: str) -> Any:
        made = getattr(self, f"make_{name}", None)
        if made is None:
            raise KeyError(name)
        self[name] = made()
        return self[name]

    def make_observer(self) -> RTDEReceiveInterface:
        return RTDEReceiveInterface(HOST)

    def call(self, text: str) -> Any:
        return eval(text, {}, self)

    def behind(self, text: str) -> None:
        """Makes a call in a thread, again and again if it returns at once, until it raises."""
        self.background = threading.Thread(target=self.until_error, args=(text,), daemon=True)
        self.background.start()

    def until_error(self, text: str) -> None:
        try:
            while True:
                self.call(text)
                time.sleep(0.004)
        except (OutriggerError, ValueError):
            pass

    def connected(self) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        for name in ("observer", "control", "receive", "io", "dashboard"):
            if name in self:
                self[name].disconnect()
        if "robot" in self:
            self["robot"].close()
        if self.background:
            self.background.join(10.0)


class Theirs(Side):
    """The clients of ur_rtde."""

    def make_control(self) -> RTDEControlInterface:
        return RTDEControlInterface(HOST)

    def make_receive(self) -> RTDEReceiveInterface:
        return RTDEReceiveInterface(HOST)

    def make_io(self) -> RTDEIOInterface:
        return RTDEIOInterface(HOST)

    def make_dashboard(self) -> DashboardClient:
        client = DashboardClient(HOST)
        client.connect()
        return client

    def make_PATH(self) -> Path:
        return path()

    def connected(self) -> bool:
        client = self["control"] if "control" in self else self["receive"]
        return bool(client.isConnected())


class Ours(Side):
    """A session of this package."""

    def make_robot(self) -> Robot:
        return Robot.ur(self.simulator.address)

    def make_stream(self) -> Any:
        return self["robot"].stream_speeds(timeout=0.2)

    def make_positions(self) -> Any:
        return self["robot"].stream_positions(timeout=0.2)

    def make_states(self) -> Any:
        return self["robot"].states()

    def connected(self) -> bool:
        try:
            return self["robot"].state is not None
        except ConnectionFailed:
            return False


@dataclass(frozen=True)
class Scene:
    """What happens before a call. `lasting` [s] repeats the call for that time, with a `pause` [s] after each."""

    faults: tuple[str, ...] = ()
    theirs: Callable[[Side], object] = lambda side: None
    ours: Callable[[Side], object] = lambda side: None
    lasting: float = 0.0
    pause: float = 0.0
    #: One controller and one connection of both clients serve all lines of such a scene, which only read.
    shared: bool = False


def repeat(side: Side, text: str, scene: Scene) -> float:
    """Repeats a call and returns its mean duration [s]. The first call connects, and does not count."""
    side.call(text)
    begun, count = time.monotonic(), 0
    while time.monotonic() < begun + scene.lasting:
        side.call(text)
        count += 1
        time.sleep(scene.pause)
    return (time.monotonic() - begun) / count


def moving(text: str) -> Callable[[Side], None]:
    """Returns the beginning of a motion, and a wait until the arm is at speed."""

    def begin(side: Side) -> None:
        if isinstance(side, Theirs):
            side.call(text)
        else:
            side.behind(text)
        until = time.monotonic() + 10.0
        while not abs(side.simulator.qd).max() > 0.02:
            if time.monotonic() > until:
                raise TimeoutError(f"{text} does not move the arm")
            time.sleep(0.01)

    return begin


def a_second(name: str) -> Callable[[Side], None]:
    """Returns a wait of a second after the connection of a client."""

    def wait(side: Side) -> None:
        side.call(name)
        time.sleep(1.0)

    return wait


SCENES = {
    "at rest": Scene(),
    "repeated": Scene(lasting=1.0, pause=0.002),
    "in a loop": Scene(lasting=1.0),
    "at speed": Scene((), moving("control.speedJ(SPEEDS, 2.0, 5.0)"), moving("stream.send(SPEEDS)")),
    "on a ramp": Scene(
        (), moving("control.servoJ(GOAL, 0.0, 0.0, 0.002, 0.2, 100.0)"), moving("positions.send(ramp())")
    ),
    "on the way": Scene(
        (), moving("control.moveJ(FAR, 0.3, 1.0, True)"), moving("robot.move_to(FAR, speed=0.3, acceleration=1.0)")
    ),
    "on a line": Scene(
        (),
        moving("control.moveL(POSE, 0.02, 0.5, True)"),
        moving("robot.move_to(pose=POSE, linear=True, speed=0.02, acceleration=0.5)"),
    ),
    "after a motion": Scene(
        (),
        lambda side: side.call("control.moveJ(GOAL, 1.0, 2.0)"),
        lambda side: side.call("robot.move_to(GOAL, speed=1.0, acceleration=2.0)"),
    ),
    "after a second": Scene((), a_second("control"), a_second("robot")),
    "asked before": Scene((), a_second("control.getStepTime()"), a_second("robot")),
    "pushed": Scene(("hand@0s::20",)),
    "observed": Scene(
        ("foreign-program@0s::0.1", "hand@0s::20", "digital-input@0s::3"),
        lambda side: side.call("io.setStandardDigitalOut(2, True)"),
        shared=True,
    ),
    "protective stop": Scene(("protective-stop@0.3s",), a_second("receive"), a_second("robot")),
    "emergency stop": Scene(("estop@0.3s",), a_second("receive"), a_second("robot")),
}
