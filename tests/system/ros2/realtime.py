"""How the simulated arm stands by its own word: 30003, read past everything that is judged."""

import bisect
import collections
import socket
import struct
import threading
import time

# core/docs/protocol/ur-client-interfaces.md 2.2, 2.3: the same on every generation.
TIME, Q_ACTUAL, QD_ACTUAL = 4, 252, 300
# From 5.10 on, with as many bytes in a packet: mass [kg] and center of gravity [m].
PAYLOAD, WITH_PAYLOAD = 1140, 1220
# Slower is rest [rad/s], and so is less than this on the way [rad].
AT_REST, STANDS = 0.02, 0.004

State = collections.namedtuple("State", "read time q qd")


class Arm(threading.Thread):
    """Every state of the arm since this began."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.stream = socket.create_connection(("127.0.0.1", int(port)))
        # In the order of reading; nothing is taken away.
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
        """Mass [kg] and center of gravity [m] in force."""
        assert len(self.packet) >= WITH_PAYLOAD, len(self.packet)
        return struct.unpack_from(">4d", self.packet, PAYLOAD)

    def since(self, begin, end=None):
        """States that were read then."""
        first = bisect.bisect_left(self.states, begin, key=lambda state: state.read)
        return [state for state in self.states[first:] if end is None or state.read <= end]

    def speed(self, begin, end=None):
        """The fastest joint then [rad/s]."""
        return max((max(map(abs, state.qd)) for state in self.since(begin, end)), default=0.0)

    def way(self, begin, end=None):
        """How far the joint that went farthest was from where it stood then [rad]."""
        states = self.since(begin, end)
        return max((apart(state.q, states[0].q) for state in states), default=0.0)

    def rests(self, seconds, patience=20.0):
        """Whether it comes to rest, and stays there for so long by its own clock. It is waited for: what it may do until then is to
        be judged by the way."""
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
