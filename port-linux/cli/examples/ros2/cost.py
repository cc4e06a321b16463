"""What a node of ROS 2 costs: the same run without it, with it and nobody who listens, and with so many who do.

Usage: cost.py OUTRIGGER [SECONDS [READERS]]: OUTRIGGER is the program, built with the feature ros2. It simulates a controller, commands
it, and prints a row for each: processor time of the thread that speaks with the robot, of the node and of its transport, in percent of a
processor; how long an answer took (median and 99 of 100, in µs); what readers received, and
gaps in it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from ros2 import Node

CONFIGURATION = """
robot.address = "127.0.0.1:43000"
run.request = "start"
session.expert.entry = "Bad"
[law]
kind = "joint-servo"
relative = true
[[law.waypoint]]
at = 0.0
degrees = 0
[[law.waypoint]]
at = 600.0
degrees = 60
[ros]
command = true
"""
TICKS = os.sysconf("SC_CLK_TCK")
DOMAIN = 77


def times(pid):
    """Seconds of processor time by name of thread; that of the process is the one that speaks with the robot."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            name, rest = (task / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        user, system = rest.split()[11:13]
        name = "outrigger" if task.name == str(pid) else name
        found[name] = found.get(name, 0.0) + (int(user) + int(system)) / TICKS
    return found


def measure(program, words, seconds, readers):
    run = subprocess.Popen([program, *words, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(4.0)
    listener = Node(DOMAIN)
    states = [listener.reader("joint_states", "JointState", depth=10000) for _ in range(readers)]
    time.sleep(1.0)
    for reader in states:
        reader.take(N=10000)
    before, begun = times(run.pid), time.monotonic()
    received = [0] * readers
    stamps = [[] for _ in range(readers)]
    while time.monotonic() - begun < seconds:
        time.sleep(0.2)
        for index, reader in enumerate(states):
            messages = reader.take(N=10000)
            received[index] += len(messages)
            stamps[index] += [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages]
    passed, after = time.monotonic() - begun, times(run.pid)
    said, _ = run.communicate("quit\n")
    summary = json.loads(next(line for line in said.splitlines() if '"type":"summary"' in line))
    share = {name: 100.0 * (after[name] - before.get(name, 0.0)) / passed for name in after}
    loop = share.pop("outrigger", 0.0)
    node = share.pop("outrigger-ros2", 0.0)
    dds = sum(value for name, value in share.items() if name.startswith("RustDDS"))
    # A gap between stamps is a message that did not come, or a state that came late.
    lost = sum(round((b - a) / 2e6) - 1 for of in stamps for a, b in zip(of, of[1:]) if b - a > 3e6)
    return loop, node, dds, summary, received, lost


def main(program, seconds="20", readers="20"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "arm.toml")
        pathlib.Path(path).write_text(CONFIGURATION)
        sim = subprocess.Popen([program, "sim", "ur", "--polyscope", "5.15", "--port-base", "43000"], stdout=subprocess.DEVNULL)
        time.sleep(1.0)
        try:
            print(f"{'':24} {'loop %':>7} {'node %':>7} {'DDS %':>7} {'p50 µs':>8} {'p99 µs':>8} {'received':>10} {'gaps':>5}")
            ros = ["ros2", path, "--domain", str(DOMAIN)]
            for name, words, count in (
                ("without ROS 2", ["run", path], 0),
                ("with it, nobody listens", ros, 0),
                ("one reader", ros, 1),
                (f"{readers} readers", ros, int(readers)),
                ("without ROS 2, again", ["run", path], 0),
            ):
                loop, node, dds, summary, received, lost = measure(program, words, float(seconds), count)
                answered = summary["turnaround"]
                p50, p99 = answered["p50_us"], answered["p99_us"]
                print(f"{name:24} {loop:7.1f} {node:7.1f} {dds:7.1f} {p50:8.0f} {p99:8.0f} {sum(received):10} {lost:5}", flush=True)
        finally:
            sim.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
