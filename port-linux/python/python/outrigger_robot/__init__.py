"""Moves, observes and simulates Universal Robots arms and the KUKA LWR.

>>> from outrigger_robot import Robot, sim
>>> with sim.ur("5.15") as simulator, Robot.ur(simulator.address) as robot:
...     robot.move_to([0, -90, -80, -100, 90, 0], degrees=True)
"""

from . import aio, sim
from .outrigger_native import (
    ConnectionFailed,
    Event,
    Guide,
    Messages,
    OutriggerError,
    RecordedStop,
    Recording,
    RecordingError,
    Rejected,
    Replay,
    Robot,
    Run,
    State,
    States,
    Stop,
    Stopped,
    Stream,
    __version__,
    decode,
    decode_file,
    open,
)

__all__ = [
    "ConnectionFailed",
    "Event",
    "Guide",
    "Messages",
    "OutriggerError",
    "RecordedStop",
    "Recording",
    "RecordingError",
    "Rejected",
    "Replay",
    "Robot",
    "Run",
    "State",
    "States",
    "Stop",
    "Stopped",
    "Stream",
    "__version__",
    "aio",
    "decode",
    "decode_file",
    "sim",
]
