"""Measures this package beside ur_rtde: processor time of receiving, missed states, and set-point to motion.

python bench.py              measures, prints the tables and writes bench.md
python bench.py --seconds 5  with a shorter time of receiving, without bench.md

The simulated controller runs in a process of its own, and so does each client. It has the ports 29999 to 30013 of
127.0.0.1, because ur_rtde cannot change ports.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import os
import pathlib
import platform
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from outrigger_robot import Robot, sim

HOST, PORT_BASE = "127.0.0.1", 29999
PAGE = pathlib.Path(__file__).parent / "bench.md"
SECONDS, TRIALS = 20.0, 60
PERIOD = 0.002
SPEED = 0.2
#: A joint above this speed moves [rad/s]; noise of an arm at rest is 0 in the simulator.
MOVES = 5e-4

Receiver = Callable[[float], "list[float]"]
spawned = multiprocessing.get_context("spawn")


def controller(pipe: Connection) -> None:
    """Serves a controller. For each message it waits for rest, and then reports when a joint begins to move [ns]."""
    with sim.ur("5.15", port_base=PORT_BASE) as simulator:
        pipe.send("ready")
        while pipe.recv() == "watch":
            wait_for_rest(simulator)
            pipe.send("watching")
            until = time.monotonic_ns() + 2_000_000_000
            while not moves(simulator) and time.monotonic_ns() < until:
                time.sleep(0.0001)
            pipe.send(time.monotonic_ns() if time.monotonic_ns() < until else None)


def moves(simulator: sim.SimulatedUr) -> bool:
    return bool(abs(simulator.qd).max() >= MOVES)


def wait_for_rest(simulator: sim.SimulatedUr) -> None:
    """Waits until no joint has moved for 0.1 s."""
    rested = time.monotonic()
    while time.monotonic() < rested + 0.1:
        if moves(simulator):
            rested = time.monotonic()
        time.sleep(0.002)


def states(seconds: float) -> list[float]:
    """`for state in robot.states()`, with the session that belongs to it."""
    times = []
    with Robot.ur(HOST) as robot:
        begin = None
        for state in robot.states():
            times.append(state.time)
            begin = begin or state.time
            if state.time - begin >= seconds:
                return times
    return times


def session(seconds: float) -> list[float]:
    """A session that nobody reads."""
    with Robot.ur(HOST):
        time.sleep(seconds)
    return []


def newest(seconds: float) -> list[float]:
    """A session, and `robot.state` read 500 times a second."""
    with Robot.ur(HOST) as robot:
        return polled(lambda: time_of(robot), time.sleep, seconds)


def time_of(robot: Robot) -> float:
    state = robot.state
    if state is None:
        raise ConnectionError("the connection ended")
    return state.time


def polled(read: Callable[[], float], wait: Callable[[float], object], seconds: float) -> list[float]:
    times, next_at = [], time.monotonic()
    end = next_at + seconds
    while next_at < end:
        times.append(read())
        next_at += PERIOD
        wait(max(0.0, next_at - time.monotonic()))
    return times


def rtde_idle(seconds: float) -> list[float]:
    """RTDEReceiveInterface with all its variables, which nobody reads."""
    from rtde_receive import RTDEReceiveInterface

    client = RTDEReceiveInterface(HOST, 500.0)
    time.sleep(seconds)
    client.disconnect()
    return []


def rtde_few(seconds: float) -> list[float]:
    """RTDEReceiveInterface with timestamp, joint angles and speeds only, which nobody reads."""
    from rtde_receive import RTDEReceiveInterface

    client = RTDEReceiveInterface(HOST, 500.0, ["timestamp", "actual_q", "actual_qd"])
    time.sleep(seconds)
    client.disconnect()
    return []


def rtde_loop(seconds: float) -> list[float]:
    """RTDEReceiveInterface read in a loop of initPeriod and waitPeriod, as its examples do."""
    from rtde_receive import RTDEReceiveInterface

    client = RTDEReceiveInterface(HOST, 500.0)
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begun = client.initPeriod()
        times.append(client.getTimestamp())
        client.waitPeriod(begun)
    client.disconnect()
    return times


RECEIVERS: dict[str, Receiver] = {
    "outrigger-robot: `for state in robot.states()`": states,
    "outrigger-robot: a session, `robot.state` 500 times a second": newest,
    "outrigger-robot: a session that nobody reads": session,
    "ur_rtde: a loop with `initPeriod`, `getTimestamp`, `waitPeriod`": rtde_loop,
    "ur_rtde: all variables, which nobody reads": rtde_idle,
    "ur_rtde: 3 variables, which nobody reads": rtde_few,
}


def used() -> float:
    """Returns the processor time of this process so far [s]."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def receive(receiver: Receiver, seconds: float, pipe: Connection) -> None:
    """Sends the share of a processor that the additional time of a longer run has cost, and the time stamps."""
    receiver(1.0)
    before, begun = used(), time.monotonic()
    times = receiver(seconds)
    pipe.send(((used() - before) / (time.monotonic() - begun), times))


def missed(times: list[float]) -> str:
    """Returns how many of the controller's states are not among these time stamps."""
    if not times:
        return ""
    cycles = np.unique(np.round(np.array(times) / PERIOD).astype(int))
    expected = cycles[-1] - cycles[0] + 1
    return f"{expected - len(cycles)} of {expected}"


def in_process(target: Callable[..., None], *words: Any) -> Any:
    """Runs a function in a fresh process, and returns what it sends."""
    here, there = spawned.Pipe()
    process = spawned.Process(target=target, args=(*words, there))
    process.start()
    there.close()
    try:
        return here.recv()
    finally:
        process.join()


def latency(move: Callable[[float], object], stop: Callable[[], object], watcher: Connection) -> float:
    """Returns the time from a set-point to the motion of the simulator's true joints [ms]."""
    watcher.send("watch")
    watcher.recv()
    time.sleep(np.random.default_rng().uniform(0.02, 0.03))
    begun = time.monotonic_ns()
    move(SPEED)
    moved = watcher.recv()
    stop()
    if moved is None:
        raise TimeoutError("the arm did not move within 2 s of a set-point")
    return (moved - begun) * 1e-6


def trials(
    move: Callable[[float], object], stop: Callable[[], object], watcher: Connection, found: list[float]
) -> None:
    """Appends to `found` until it has all trials, in alternating directions."""
    while len(found) < TRIALS:
        direction = -1.0 if len(found) % 2 else 1.0
        found.append(latency(lambda speed: move(direction * speed), stop, watcher))


def ours(watcher: Connection, found: list[float]) -> None:
    """`stream.send`: the value is followed for 0.1 s, and then the arm comes to rest."""
    with Robot.ur(HOST) as robot, robot.stream_speeds(timeout=0.1) as stream:
        trials(lambda speed: stream.send([0, 0, 0, 0, 0, speed]), lambda: None, watcher, found)


def theirs(watcher: Connection, found: list[float]) -> None:
    """`speedJ`, and `speedStop` once the arm moves."""
    from rtde_control import RTDEControlInterface

    control = RTDEControlInterface(HOST, 500.0)
    try:
        trials(lambda speed: control.speedJ([0, 0, 0, 0, 0, speed], 2.0, 0.0), control.speedStop, watcher, found)
    finally:
        control.disconnect()


def latencies(measure: Callable[[Connection, list[float]], None], watcher: Connection) -> tuple[list[float], int]:
    """Returns all trials, and how often commanding ended meanwhile and was begun again."""
    found: list[float] = []
    for ends in range(20):
        try:
            measure(watcher, found)
            return found, ends
        except Exception as error:
            print(f"{measure.__name__}: {error}; again", file=sys.stderr)
            while watcher.poll(3.0):
                watcher.recv()
    raise SystemExit(f"{measure.__name__}: commanding ended 20 times in {len(found)} trials; is the machine busy?")


def load() -> str:
    return pathlib.Path("/proc/loadavg").read_text(encoding="ascii").split()[0]


def machine() -> str:
    """Names processors and kernel."""
    names = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    name = names[0].split(":")[1].strip() if names else platform.machine()
    return f"{os.cpu_count()} processors ({name}), Linux {platform.release().partition('-')[0]}"


def measured(seconds: float, watcher: Connection) -> str:
    """Measures everything, and returns the tables as Markdown."""
    text = ["| receives 500 states a second | processor | per state | not seen | load |", "|---|---|---|---|---|"]
    for name, receiver in RECEIVERS.items():
        share, times = in_process(receive, receiver, seconds)
        text.append(f"| {name} | {share:.1%} | {share * PERIOD * 1e6:.0f} µs | {missed(times)} | {load()} |")
        print(text[-1], flush=True)
    text += ["", "| set-point to motion | p50 | p99 | worst | trials | ended | load |", "|---|---|---|---|---|---|---|"]
    for name, measure in (("outrigger-robot: `stream.send`", ours), ("ur_rtde: `speedJ`", theirs)):
        found, ends = latencies(measure, watcher)
        p50, p99 = np.percentile(found, [50, 99])
        text.append(
            f"| {name} | {p50:.1f} ms | {p99:.1f} ms | {max(found):.1f} ms | {len(found)} | {ends} | {load()} |"
        )
        print(text[-1], flush=True)
    return "\n".join(text)


INTRODUCTION = """\
# Processor time and latency beside ur_rtde

Written by `python bench.py` on {date}: {machine}, Python {python},
outrigger-robot {ours}, ur_rtde {theirs}.

Each client runs in a process of its own for {seconds:.0f} s, opposite one simulated controller (5.15, 500 Hz) in
another process. *Processor* is the time of all threads of the client's process, of one processor, with its connection and
without its imports. *Not seen* are states of the controller whose time stamp the client's program did not read: a loop
with a period of its own reads some states twice and others never. *Load* is the machine's average over a minute, which
includes both sides and everything else.

*Set-point to motion* is the time from the call until a true joint of the simulated arm moves ({threshold} rad/s), read
in the controller's process. It includes one cycle of the network, the program on the controller and the drive, and is
quantized by the controller's cycle of 2 ms. The arm is commanded and at rest before. *Ended*: how often commanding
ended between trials, because the machine was too busy for the link to the controller, and was begun again.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    here, there = spawned.Pipe()
    process = spawned.Process(target=controller, args=(there,), daemon=True)
    process.start()
    there.close()
    here.recv()
    try:
        tables = measured(given.seconds, here)
    finally:
        here.send("end")
        process.join(5.0)
    introduction = INTRODUCTION.format(
        date=datetime.date.today().isoformat(),
        machine=machine(),
        python=platform.python_version(),
        ours=version("outrigger-robot"),
        theirs=version("ur_rtde"),
        seconds=given.seconds,
        threshold=MOVES,
    )
    if given.seconds == SECONDS:
        PAGE.write_text(f"{introduction}\n{tables}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
