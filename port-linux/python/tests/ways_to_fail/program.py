"""A program that moves an arm on one path, and then fails in one way; `run.py` starts it and looks at the arm.

Prints "failing" with the time of the monotonic clock, and afterwards what it can still say about its session.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
import threading
import time
from typing import Any, Callable

from outrigger_robot import OutriggerError, Robot

#: Joint 1 of each path of joints moves at this speed [rad/s].
SPEED = 0.3
TIMEOUT = 0.1
MAX_AGE = 0.1
RENEW_WITHIN = 0.3
#: The farthest that a streamed position is ahead of the arm [rad].
LEAD = 0.05
PAUSE = 0.01


def loop_of(path: str, robot: Any, stack: contextlib.ExitStack) -> Callable[[], None]:
    """Begins the motion of a path. Returns what a loop has to call again and again."""
    joints = len(robot.state.q)
    if path == "speeds":
        stream = stack.enter_context(robot.stream_speeds(timeout=TIMEOUT))
        return lambda: stream.send([SPEED] + [0.0] * (joints - 1))
    if path == "positions":
        target = robot.state.q
        stream = stack.enter_context(robot.stream_positions(timeout=TIMEOUT))

        def ahead() -> None:
            """Sends a position that is at most LEAD ahead of the arm."""
            target[0] = min(target[0] + SPEED * PAUSE, robot.state.q[0] + LEAD)
            stream.send(target)

        return ahead
    if path == "standoff":
        law = {"kind": "standoff", "source": "gap", "distance": 0.05, "longest_approach": 0.2}
        sensor = {"name": "gap", "input": "requests", "range": [0.0, 0.5], "max_age": MAX_AGE}
        run = stack.enter_context(robot.run(law, sensor))
        return lambda: run.sample(0.15)
    if path == "force":
        guide = stack.enter_context(robot.force([None, None, -10.0, None, None, None], renew_within=RENEW_WITHIN))
        return lambda: guide.renew()
    goal = robot.state.q
    goal[0] += 2.0

    def move() -> None:
        with contextlib.suppress(OutriggerError):
            robot.move_to(goal, speed=SPEED)

    threading.Thread(target=move, daemon=True).start()
    return lambda: None


def hold_the_lock() -> None:
    """Computes in C for a second with the interpreter's lock."""
    ctypes.PyDLL(None).usleep(1_000_000)


def fork(then: Callable[[], object]) -> None:
    """Forks. The child has the sockets, and goes on for four seconds."""
    if os.fork() == 0:
        time.sleep(4.0)
        os._exit(0)
    then()


def to_itself(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def fault() -> None:
    raise RuntimeError("a mistake of the program")


WAYS: dict[str, Callable[[], object]] = {
    "sleep": lambda: time.sleep(1.0),
    "lock": hold_the_lock,
    "collection": gc.collect,
    "never": threading.Event().wait,
    "exception": fault,
    "SIGINT": to_itself(signal.SIGINT),
    "SIGTERM": to_itself(signal.SIGTERM),
    "SIGKILL": to_itself(signal.SIGKILL),
    "SIGSTOP": to_itself(signal.SIGSTOP),
    "exit": lambda: os._exit(1),
    "fork": lambda: fork(lambda: None),
    "fork and SIGKILL": lambda: fork(to_itself(signal.SIGKILL)),
}


def repeat(loop: Callable[[], None], until: Callable[[], bool]) -> None:
    end = time.monotonic() + 30.0
    while not until():
        if time.monotonic() > end:
            raise TimeoutError("the arm does not move")
        loop()
        time.sleep(PAUSE)


def for_seconds(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def failing() -> None:
    print("failing", time.monotonic(), flush=True)


def main(kind: str, address: str, remote: str, path: str, way: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # What a collection has to visit: some tenths of a second.
    heap = [[index] for index in range(5_000_000)] if way == "collection" else []
    gc.freeze() if way != "collection" else gc.disable()
    robot: Any = Robot.krc(address, remote) if kind == "krc" else Robot.ur(address)
    stack = contextlib.ExitStack()
    # Without a block for what is deleted: a block has a reference.
    if way != "deleted":
        stack.enter_context(robot)
    with stack if way != "deleted" else contextlib.nullcontext():
        loop = loop_of(path, robot, stack)
        repeat(loop, lambda: robot.state is not None and abs(robot.state.qd).max() > 0.03)
        repeat(loop, for_seconds(0.7))
        failing()
        if way == "deleted":
            stack.pop_all()
            del robot, loop, stack
            time.sleep(6.0)
            return
        WAYS[way]()
        if way == "fork":
            repeat(loop, for_seconds(3.0))
        else:
            time.sleep(1.0)
        why = robot.why_stopped()
        print("mode", robot.mode, "" if why is None else f"({why.reason})", flush=True)
        time.sleep(4.0)
    del heap


if __name__ == "__main__":
    main(*sys.argv[1:])
