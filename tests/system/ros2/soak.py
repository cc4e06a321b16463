"""Starts, stops (SIGSTOP) and ends readers and clients of a node at random. Usage: soak.py DOMAIN SECONDS PID
PID-OF-A-TWIN.

Each is a process of its own: `soak.py DOMAIN`. After each stop it must receive data again, and at the end a new
reader and a new client must be served. The memory of the node must not have grown by more than that of its twin, a
node beside the same robot in a domain without readers. Output is that of `judge.py`.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time

from judge import check, do, say
from judge_sleeps import BOUND, answered, fresh, stamp
from neighbours import announce
from ros2 import Node

# The largest number of visitors at a time.
MOST = 6
# The mean time between two actions [s].
PACE = 1.5
# The range of the duration of a stop [s]: from below to above the lease of 10 s.
SLEEPS = (2.0, 25.0)
# The interval and the duration of stops of the node itself, while no visitor is stopped [s].
NODE_SLEEPS, NODE_ASLEEP = 180.0, 12
# The time limit from the end of such a stop until visitors are served [s]. The node may have to rediscover them first.
NODE_BOUND = 15.0
# The share of the time after which memory has settled, and the limit on its growth from then on, beyond the twin [MiB].
SETTLED, GROWTH = 0.3, 32.0


def visit(domain):
    """Runs a visitor. It prints a line for each state and each answer, with the time at which it was made."""
    node = Node(domain)
    states = node.reader("joint_states", "JointState", depth=1_000)
    kept = announce(node, "/", f"visitor{os.getpid()}", [states])
    served = 0.0
    while True:
        time.sleep(0.1)
        made = max(map(stamp, states.take(N=1_000)), default=0.0)
        if made:
            print("state", made, flush=True)
        if time.time() - served > 1.0:
            try:
                answered(node, 1.5)
            except SystemExit:
                continue
            served = time.time()
            print("answer", served, flush=True)
    return kept


class Visitor:
    def __init__(self, domain):
        command = [sys.executable, __file__, str(domain)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.last = {"state": 0.0, "answer": 0.0}
        # `asleep`: the end of its stop. `since`: the time from which it must be served again. `by`: the limit for that.
        self.asleep, self.since, self.by = None, time.time(), time.time() + 30.0
        threading.Thread(target=self.hear, daemon=True).start()

    def hear(self):
        for line in self.process.stdout:
            what, made = line.split()
            self.last[what] = float(made)

    def stop(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        self.asleep = time.time() + seconds

    def go_on(self, bound):
        self.process.send_signal(signal.SIGCONT)
        self.asleep, self.since = None, time.time()
        self.by = self.since + bound

    def is_served(self):
        return min(self.last.values()) > self.since

    def end(self, how):
        self.process.send_signal(how)
        self.process.send_signal(signal.SIGCONT)
        self.process.wait()


def grown(pid):
    """Returns the resident memory of a process [MiB]."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))


def main(domain, seconds, *nodes):
    seed = int(os.environ.get("OUTRIGGER_SEED") or random.getrandbits(32))
    say("seed", seed)
    chance = random.Random(seed)
    begun, visitors, counts, waited = time.time(), [], dict.fromkeys(("came", "slept", "left", "died", "node"), 0), []
    settled, node_at, act_at = None, begun + NODE_SLEEPS, begun
    while (now := time.time()) < begun + seconds:
        time.sleep(0.05)
        for visitor in visitors:
            if visitor.asleep and now > visitor.asleep:
                visitor.go_on(BOUND + 2.0)
            elif not visitor.asleep and visitor.by:
                if visitor.is_served():
                    waited.append(now - visitor.since)
                    visitor.by = None
                else:
                    check(now < visitor.by, f"visitor{visitor.process.pid} is not served {now - visitor.since:.1f} s after it woke: {visitor.last}, {counts}")
        if settled is None and now > begun + SETTLED * seconds:
            settled = [grown(pid) for pid in nodes]
        if now < act_at:
            continue
        act_at = now + PACE * chance.uniform(0.5, 1.5)
        free = [visitor for visitor in visitors if not visitor.asleep and not visitor.by]
        if now > node_at:
            if len(free) == len(visitors):
                do(f"sleep node {NODE_ASLEEP}")
                node_at, counts["node"] = time.time() + NODE_SLEEPS, counts["node"] + 1
                for visitor in visitors:
                    visitor.go_on(NODE_BOUND)
        elif len(visitors) < MOST and (not free or chance.random() < 0.3):
            visitors.append(Visitor(domain))
            counts["came"] += 1
        elif free:
            visitor = chance.choice(free)
            deed = chance.choice(["slept", "slept", "slept", "left", "died"])
            counts[deed] += 1
            if deed == "slept":
                visitor.stop(chance.uniform(*SLEEPS))
            else:
                visitor.end(signal.SIGINT if deed == "left" else signal.SIGKILL)
                visitors.remove(visitor)
    for visitor in visitors:
        visitor.end(signal.SIGKILL)
    say("counts", *(f"{value} {name}" for name, value in counts.items()))
    say("waited", f"{max(waited):.2f} s at most, {sum(waited) / len(waited):.2f} s on average, {len(waited)} times")

    last = time.monotonic()
    node = Node(domain)
    fresh(node.reader("joint_states", "JointState", depth=1_000), time.time())
    answered(node, 2 * BOUND)
    say("last", f"{time.monotonic() - last:.2f} s")
    more, twin = (grown(pid) - before for pid, before in zip(nodes, settled))
    say("memory", f"{more:.1f} MiB more than after {SETTLED * seconds:.0f} s, its twin {twin:.1f} MiB")
    check(more - twin < GROWTH, f"the node has grown by {more:.1f} MiB, and its twin by {twin:.1f} MiB")
    check(counts["slept"] > 0 and waited, "nobody slept")
    say("done", "yes")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        visit(int(sys.argv[1]))
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
