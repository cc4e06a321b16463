"""Simulated controllers in this process: in real time on ports of their own, or stepped in virtual time."""

from .outrigger_native import History, SimulatedKrc, SimulatedUr, SteppedUr

__all__ = ["History", "SimulatedKrc", "SimulatedUr", "SteppedUr", "krc", "stepped_ur", "ur"]

#: Starts a simulated controller of Universal Robots: see :class:`SimulatedUr`.
ur = SimulatedUr
#: Creates a simulated controller whose time passes only in its method `step`: see :class:`SteppedUr`.
stepped_ur = SteppedUr
#: Starts a simulated KRC with a KUKA LWR: see :class:`SimulatedKrc`.
krc = SimulatedKrc
