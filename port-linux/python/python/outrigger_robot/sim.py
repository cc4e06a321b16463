"""Simulated controllers in this process, on ports of their own, in real time."""

from .outrigger_native import SimulatedUr

__all__ = ["SimulatedUr", "ur"]

#: Starts a simulated controller of Universal Robots: see :class:`SimulatedUr`.
ur = SimulatedUr
