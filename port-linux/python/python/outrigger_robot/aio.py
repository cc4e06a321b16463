"""Awaitable forms of the calls of a robot, for asyncio and notebooks.

>>> from outrigger_robot import aio, sim
>>> async def main():
...     with sim.ur() as simulator:
...         async with await aio.Robot.ur(simulator.address) as robot:
...             await robot.move_to([0, -90, -80, -100, 90, 0], degrees=True)

Each call runs in a thread. If its task is cancelled, the arm is stopped before CancelledError is raised.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar

from . import outrigger_native as native

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

__all__ = ["Context", "Guide", "Robot", "Run", "Stream"]

T = TypeVar("T")
S = TypeVar("S")


#: Threads for calls, which may wait long, and for stops alone: a stop never waits for another call.
_CALLS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="outrigger-call")
_STOPS = ThreadPoolExecutor(max_workers=32, thread_name_prefix="outrigger-stop")


async def _in_thread(robot: native.Robot, call: Callable[[], T]) -> T:
    """Calls `call` in a thread. If the task is cancelled, stops the arm, and ends what the call has begun."""
    submitted = _CALLS.submit(call)
    running = asyncio.wrap_future(submitted)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if not submitted.cancel():
            await _stop(robot, running)
        raise


async def _stop(robot: native.Robot, running: asyncio.Future[T]) -> None:
    """Stops the arm until the call has ended: it may command only after the first stop."""
    loop = asyncio.get_running_loop()
    while not running.done():
        stop = loop.run_in_executor(_STOPS, robot.stop)
        both: set[asyncio.Future[Any]] = {stop, running}
        await asyncio.wait(both)
        with contextlib.suppress(Exception):
            await stop
        await asyncio.wait({running}, timeout=0.2)
    with contextlib.suppress(Exception):
        begun = running.result()
        if hasattr(begun, "__exit__"):
            await loop.run_in_executor(_STOPS, begun.__exit__, None, None, None)


def _awaitable(method: Callable[Concatenate[native.Robot, P], T]) -> Callable[Concatenate[Robot, P], Awaitable[T]]:
    """Returns the awaitable form of a method of a robot."""

    def call(self: Robot, /, *arguments: P.args, **keywords: P.kwargs) -> Awaitable[T]:
        return _in_thread(self.robot, functools.partial(method, self.robot, *arguments, **keywords))

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


class Context(Generic[S, T]):
    """A stream, guide or run, as an asynchronous context manager."""

    def __init__(self, robot: native.Robot, begin: Callable[[], S], wrap: Callable[[native.Robot, S], T]) -> None:
        self._robot, self._begin, self._wrap = robot, begin, wrap
        self._begun: Any = None

    async def __aenter__(self) -> T:
        self._begun = await _in_thread(self._robot, self._begin)
        return self._wrap(self._robot, self._begun)

    async def __aexit__(self, *error: object) -> None:
        end = functools.partial(self._begun.__exit__, *error)
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(_STOPS, end))


class Guide:
    """Freedrive or force mode, until the end of its block."""

    def __init__(self, robot: native.Robot, guide: native.Guide) -> None:
        self._robot, self._guide = robot, guide

    async def renew(self) -> None:
        """Renews the mode."""
        await _in_thread(self._robot, self._guide.renew)

    async def wait(self, seconds: float) -> None:
        """Waits, and renews the mode meanwhile."""
        await _in_thread(self._robot, functools.partial(self._guide.wait, seconds))


class Run:
    """A control law with its sensors, until the end of its block."""

    def __init__(self, robot: native.Robot, run: native.Run) -> None:
        self._robot, self._run = robot, run

    def sample(self, *values: float, sensor: Optional[str] = None) -> None:
        """Passes a reading to the control loop. The first readings wait for its decision to begin the motion."""
        self._run.sample(*values, sensor=sensor)

    async def wait(self, seconds: Optional[float] = None) -> None:
        """Waits until the time is over, or the arm is no longer commanded."""
        await _in_thread(self._robot, functools.partial(self._run.wait, seconds))


class Stream:
    """A stream of joint speeds or positions, until the end of its block."""

    def __init__(self, _robot: native.Robot, stream: native.Stream) -> None:
        self._stream = stream

    def send(self, values: native._Numbers) -> None:  # pyright: ignore[reportPrivateUsage]
        """Passes one value per joint to the control loop, and returns at once."""
        self._stream.send(values)

    @property
    def lapses(self) -> int:
        """The number of times that no value of speeds came in time."""
        return self._stream.lapses


class Robot:
    """A robot whose calls are awaited. See :class:`outrigger_robot.Robot` for each."""

    def __init__(self, robot: native.Robot) -> None:
        self.robot = robot

    @classmethod
    async def ur(cls, address: str, **keywords: Any) -> Robot:
        """Connects to a robot of Universal Robots."""
        return cls(await asyncio.to_thread(functools.partial(native.Robot.ur, address, **keywords)))

    @classmethod
    async def krc(cls, krc: str, listen: str = "0.0.0.0:49938", **keywords: Any) -> Robot:
        """Waits for the KRC of a KUKA LWR."""
        return cls(await asyncio.to_thread(functools.partial(native.Robot.krc, krc, listen, **keywords)))

    move_to = _awaitable(native.Robot.move_to)
    follow = _awaitable(native.Robot.follow)
    script = _awaitable(native.Robot.script)
    dashboard = _awaitable(native.Robot.dashboard)
    set = _awaitable(native.Robot.set)
    payload = _awaitable(native.Robot.payload)
    stop = _awaitable(native.Robot.stop)
    reset = _awaitable(native.Robot.reset)
    close = _awaitable(native.Robot.close)

    @property
    def state(self) -> Optional[native.State]:
        """The newest state of the robot."""
        return self.robot.state

    @property
    def mode(self) -> str:
        """The mode of the session."""
        return self.robot.mode

    @property
    def not_ready(self) -> list[str]:
        """The preconditions of commanding that are not met."""
        return self.robot.not_ready

    def why_stopped(self) -> Optional[native.Stop]:
        """Returns why commanding ended last."""
        return self.robot.why_stopped()

    async def states(self) -> AsyncIterator[native.State]:
        """Iterates over the states at the robot's rate."""
        states = self.robot.states()
        while True:
            state = await asyncio.wrap_future(_CALLS.submit(next, states, None))
            if state is None:
                return
            yield state

    def stream_speeds(self, timeout: float = 0.04) -> Context[native.Stream, Stream]:
        """Starts a stream of joint speeds."""
        return Context(self.robot, functools.partial(self.robot.stream_speeds, timeout), Stream)

    def stream_positions(self, timeout: float = 0.04) -> Context[native.Stream, Stream]:
        """Starts a stream of joint positions [rad]: `Robot.stream_positions` describes it."""
        return Context(self.robot, functools.partial(self.robot.stream_positions, timeout), Stream)

    def freedrive(self, **keywords: Any) -> Context[native.Guide, Guide]:
        """Starts freedrive: `Robot.freedrive` describes the limits."""
        return Context(self.robot, functools.partial(self.robot.freedrive, **keywords), Guide)

    def force(self, wrench: Any, **keywords: Any) -> Context[native.Guide, Guide]:
        """Starts force mode: `Robot.force` describes the arguments."""
        return Context(self.robot, functools.partial(self.robot.force, wrench, **keywords), Guide)

    def run(self, law: dict[str, Any], sensor: Any = None, **keywords: Any) -> Context[native.Run, Run]:
        """Runs a control law with its sensors."""
        return Context(self.robot, functools.partial(self.robot.run, law, sensor, **keywords), Run)

    async def __aenter__(self) -> Robot:
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(_STOPS, self.robot.close))
