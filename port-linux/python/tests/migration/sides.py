"""Both clients of one line, each with its simulated controller, and what happens before the call."""

from __future__ import annotations

import os
import pathlib
import socket
import tempfile
import threading
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dashboard_client import DashboardClient
from rtde_control import Path, PathEntry, RTDEControlInterface
from rtde_io import RTDEIOInterface
from rtde_receive import RTDEReceiveInterface

import outrigger_robot
from outrigger_robot import ConnectionFailed, OutriggerError, Robot, sim

HOST = "127.0.0.1"
#: ur_rtde cannot change ports.
PORT_BASE = 29999
HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])
MIDDLE = list(HOME + [0.1, 0.1, 0.0, 0.0, 0.0, 0.0])
GOAL = list(HOME + [0.3, -0.1, 0.1, 0.0, 0.1, 0.2])
FAR = list(HOME + [2.5, 0.0, 0.0, 0.0, 0.0, 0.0])
#: Yields along z, and pushes down with 10 N.
WRENCH = [None, None, -10.0, None, None, None]
FORCE = "control.forceMode([0.0] * 6, [0, 0, 1, 0, 0, 0], [0.0, 0.0, -10.0, 0.0, 0.0, 0.0], 2, [0.1] * 6)"
BODY = f"movej({np.array(GOAL).tolist()}, a=1.4, v=1.0)\n"
#: ur_rtde waits until output register 0 is 2.
SCRIPT = f"def wave():\n  {BODY}  write_output_integer_register(0, 2)\nend\n"
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


def simulator(scene: Scene) -> sim.SimulatedUr:
    """Starts a controller on the standard ports, as soon as they are free."""
    until = time.monotonic() + 60.0
    while True:
        try:
            return sim.ur(scene.software, q=HOME, faults=scene.faults, surface=scene.surface, port_base=PORT_BASE)
        except ConnectionFailed:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def ask(line: str) -> str:
    """Sends a line to the dashboard server, and returns its answer."""
    with socket.create_connection((HOST, 29999), timeout=5.0) as connection, connection.makefile("rw") as lines:
        lines.readline()
        lines.write(f"{line}\n")
        lines.flush()
        return lines.readline().strip()


class Side(dict[str, Any]):
    """The names that a call may use. Clients connect when they are named first."""

    def __init__(self, controller: sim.SimulatedUr) -> None:
        line = list(controller.pose + [-0.05, 0.03, 0.05, 0.0, 0.0, 0.0])
        super().__init__(GOAL=GOAL, MIDDLE=MIDDLE, FAR=FAR, SPEEDS=SPEEDS, POSE=line, ramp=Ramp())
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / ("run.csv" if isinstance(self, Theirs) else "run.mcap")
        script = pathlib.Path(self.folder.name) / "wave.script"
        script.write_text(SCRIPT, encoding="utf-8")
        self.update(WRENCH=WRENCH, SCRIPT=SCRIPT, BODY=BODY, FILE=str(script))
        self.update(CSV=str(self.file), MCAP=str(self.file), ADDRESS=controller.address)
        self.read: list[float] = []
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
        self.folder.cleanup()

    def recorded(self) -> list[float]:
        """Moves the arm, and returns the last joint angles of the file; without it zeros."""
        if not self.file.exists():
            return [0.0] * 6
        if not self.read:
            time.sleep(0.5)
            with socket.create_connection((HOST, 30002), timeout=5.0) as connection:
                connection.sendall(SCRIPT.encode())
                self.simulator.wait_until_at_rest()
            self.read = self.last_of_file()
        return self.read

    def last_of_file(self) -> list[float]:
        """Ends the file, and returns its last joint angles."""
        raise NotImplementedError

    def file_grows(self) -> bool:
        before = os.path.getsize(self.file)
        time.sleep(0.7)
        return os.path.getsize(self.file) > before


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

    def last_of_file(self) -> list[float]:
        self["receive"].stopFileRecording()
        with self.file.open(encoding="utf-8") as file:
            names, *rows = (line.strip().split(",") for line in file)
        return [float(rows[-1][names.index(f"actual_q_{joint}")]) for joint in range(6)]

    def make_PATH(self) -> Path:
        return path()

    def connected(self) -> bool:
        client = self["control"] if "control" in self else self["receive"]
        return bool(client.isConnected())


class Ours(Side):
    """A session of this package."""

    def make_robot(self) -> Robot:
        return Robot.ur(self.simulator.address)

    def make_Robot(self) -> Any:
        def ur(address: str, record: str) -> Robot:
            self["robot"] = Robot.ur(address, record=record)
            return self["robot"]

        return types.SimpleNamespace(ur=ur)

    def last_of_file(self) -> list[float]:
        self["robot"].close()
        return list(outrigger_robot.open(self.file).columns("joint_states")["position"][-1])

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
    software: str = "5.15"
    #: The height of a level surface that the tool can touch [m].
    surface: float | None = None


def repeat(side: Side, text: str, scene: Scene) -> float:
    """Repeats a call and returns its mean duration [s]. The first call connects, and does not count."""
    side.call(text)
    begun, count = time.monotonic(), 0
    while time.monotonic() < begun + scene.lasting:
        side.call(text)
        count += 1
        time.sleep(scene.pause)
    return (time.monotonic() - begun) / count


def moving(text: str, once: bool = False) -> Callable[[Side], None]:
    """Returns the beginning of a motion, and a wait until the arm is at speed."""

    def begin(side: Side) -> None:
        if once or isinstance(side, Theirs):
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


def force_mode(faults: tuple[str, ...] = ()) -> Scene:
    """Returns the scene of force mode in free air, until the tool moves."""
    return Scene(faults, moving(FORCE, once=True), moving("robot.force(WRENCH, renew_within=20)", once=True))


def in_freedrive(call: str) -> Scene:
    """Returns the scene of freedrive, until a hand moves the arm."""
    return Scene(("hand@0s::5",), moving(call, once=True), moving("robot.freedrive(renew_within=20)", once=True))


def asked(*lines: str) -> Callable[[Side], None]:
    """Returns lines to the dashboard server, each sent when the one before has had its effect."""

    def send(side: Side) -> None:
        for line in lines:
            ask(line)
            time.sleep(1.0)

    return send


def on_dashboard(*lines: str, wait: float = 0.0, **options: Any) -> Scene:
    """Returns a scene with requests to the dashboard server before the call, and a wait before them [s]."""

    def prepare(side: Side) -> None:
        time.sleep(wait)
        asked(*lines)(side)

    return Scene(theirs=prepare, ours=prepare, **options)


LOADED, PLAYING = ("load idle.urp",), ("load idle.urp", "play")

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
    "above a surface": Scene(surface=0.478),
    "in force mode": force_mode(),
    "force mode here": Scene(theirs=moving(FORCE, once=True)),
    "a hand pulls": Scene(("hand@0s::5",)),
    "in freedrive": in_freedrive("control.freedriveMode()"),
    "in teach mode": in_freedrive("control.teachMode()"),
    "in a recording": Scene(
        (), a_second("receive.startFileRecording(CSV)"), a_second("Robot.ur(ADDRESS, record=MCAP)")
    ),
    "without power": on_dashboard("power off"),
    "with power": on_dashboard("power off", "power on"),
    "protective stop 5 s ago": on_dashboard(wait=5.5, faults=("protective-stop@0.1s",)),
    "violation": on_dashboard(wait=0.5, faults=("violation@0.1s",)),
    "a program is loaded": on_dashboard(*LOADED),
    "a program plays": on_dashboard(*PLAYING),
    "a program plays on CB3": on_dashboard(*PLAYING, software="3.4"),
    "emergency stop": Scene(("estop@0.3s",), a_second("receive"), a_second("robot")),
}
