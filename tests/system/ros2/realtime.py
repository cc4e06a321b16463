"""The position of the simulated arm, read from port 30003, independently of the node under test."""

import bisect
import collections
import socket
import struct
import threading
import time

# Offsets in the packet, the same on every generation (core/docs/protocol/ur-client-interfaces.md 2.2, 2.3).
TIME, Q_ACTUAL, QD_ACTUAL = 4, 252, 300
# The offset of mass [kg] and centre of gravity [m], and the length of a packet with them: from software 5.10 on.
PAYLOAD, WITH_PAYLOAD = 1140, 1220
# The arm is at rest below this speed [rad/s], and if it moves by less than this distance [rad].
AT_REST, STANDS = 0.02, 0.004

State = collections.namedtuple("State", "read time q qd")


class Arm(threading.Thread):
    """A thread that collects every state of the arm."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.stream = socket.create_connection(("127.0.0.1", int(port)))
        # In the order of reading. States are never removed.
        self.states = []
        self.packet = b""
        self.start()
        while not self.states:
            time.sleep(0.005)

    def run(self):
        waiting = b""
        while data := self.stream.recv(65536):
            waiting += data
            while len(waiting) >= 4 and len(waiting) >= (length := struct.unpack_from(">i", waiting)[0]):
                packet, waiting = waiting[:length], waiting[length:]
                numbers = lambda at, count: struct.unpack_from(f">{count}d", packet, at)
                at = time.monotonic()
                self.packet = packet
                self.states.append(State(at, numbers(TIME, 1)[0], numbers(Q_ACTUAL, 6), numbers(QD_ACTUAL, 6)))

    def now(self):
        return self.states[-1]

    def payload(self):
        """Returns the active mass [kg] and centre of gravity [m]."""
        assert len(self.packet) >= WITH_PAYLOAD, len(self.packet)
        return struct.unpack_from(">4d", self.packet, PAYLOAD)

    def since(self, begin, end=None):
        """Returns the states that were read between `begin` and `end`."""
        first = bisect.bisect_left(self.states, begin, key=lambda state: state.read)
        return [state for state in self.states[first:] if end is None or state.read <= end]

    def speed(self, begin, end=None):
        """Returns the highest speed of a joint in this span [rad/s]."""
        return max((max(map(abs, state.qd)) for state in self.since(begin, end)), default=0.0)

    def way(self, begin, end=None):
        """Returns the largest distance of a joint from its position at `begin` in this span [rad]."""
        states = self.since(begin, end)
        return max((apart(state.q, states[0].q) for state in states), default=0.0)

    def rests(self, seconds, patience=20.0):
        """Waits for rest, and returns whether the arm stays there for `seconds` of its own clock. Does not check
        the motion before rest: see `way`."""
        end = time.monotonic() + patience
        first = rests_from = len(self.states) - 1
        while time.monotonic() < end:
            for index in range(first, len(self.states)):
                if max(map(abs, self.states[index].qd)) > AT_REST:
                    rests_from = index + 1
                first = index + 1
            if rests_from < first and self.states[first - 1].time - self.states[rests_from].time >= seconds:
                stood = self.states[rests_from].q
                return max(apart(state.q, stood) for state in self.states[rests_from:first]) <= STANDS
            time.sleep(0.005)
        return False


def apart(a, b):
    return max(abs(x - y) for x, y in zip(a, b))
