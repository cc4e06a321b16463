"""So many readers of joint states in one process, until it is ended: what a node of ROS 2 has to serve while it is measured.

Usage: readers.py DOMAIN READERS. At its end it prints how many messages they received.
"""

import signal
import sys
import time

from ros2 import Node


def main(domain, readers):
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    listener = Node(int(domain))
    states = [listener.reader("joint_states", "JointState", depth=100) for _ in range(int(readers))]
    received = 0
    while not ended:
        time.sleep(0.05)
        received += sum(len(reader.take(N=1000)) for reader in states)
    print(f"{readers} readers received {received} messages", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
