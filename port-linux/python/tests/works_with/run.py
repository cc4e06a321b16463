"""Runs scripts of robot clients on simulated controllers, and writes which of them work.

run.py --environments ~/clients --ros2 target/release/outrigger    everything, and works-with.md
run.py --environments ~/clients --client urx --software 3.2        what was not run keeps its outcome

It needs root or user namespaces: the clients know the standard ports only, so that each has a network of its own.
A script passes if the true joints or the tool of the simulated arm are where it was to go. A script that fails is
repeated once. It ends with 1 if a script fails that has no reason in clients.py, or passes in spite of one.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from clients import CLIENTS, SCRIPTS, SOFTWARE, Client, reason  # noqa: E402
from judge import verdict  # noqa: E402
from page import PAGE, RESULTS, Outcomes, page, read_results, write_results  # noqa: E402

INSIDE = "OUTRIGGER_WORKS_WITH_NETWORK"
PASSED = "passed"


def built(environments: pathlib.Path, client: Client) -> list[str]:
    """Returns the words that start a client's script. Its environment is made if it is not there."""
    folder = environments / client.name
    if client.cargo:
        words = ["cargo", "build", "--release", "--locked", "--manifest-path", client.cargo / "Cargo.toml"]
        subprocess.run(words, env=os.environ | {"CARGO_TARGET_DIR": str(folder)}, check=True)
        return [str(folder / "release" / client.script)]
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        if client.packages:
            subprocess.run([folder / "bin/pip", "install", "-q", *client.packages], check=True)
        (folder / "complete").touch()
    return [str(folder / "bin/python"), str(HERE / "scripts" / client.script)]


def attempted(words: list[str], client: Client, script: str, software: str, ros2: str | None) -> str:
    """Returns "passed", or why the script failed twice."""
    for _ in range(2):
        found = verdict(words, script, software, ros2 if client.ros2 else None)
        if not found:
            return PASSED
        print(f"{client.name} {software} {script}: {found}", file=sys.stderr, flush=True)
        time.sleep(1.0)
    return found


def inside(words: list[str], name: str, versions: list[str], ros2: str | None) -> None:
    """Runs the scripts of a client, and prints an outcome per line. It has a network of its own."""
    # By multicast, clients of ROS 2 and the node find each other.
    subprocess.run(["ip", "link", "set", "lo", "up", "multicast", "on"], check=True)
    subprocess.run(["ip", "route", "add", "224.0.0.0/4", "dev", "lo"], check=True)
    client = next(client for client in CLIENTS if client.name == name)
    for software in versions:
        for script in client.does:
            print(json.dumps([name, script, software, attempted(words, client, script, software, ros2)]), flush=True)


def outside(words: list[str], client: Client, versions: list[str], ros2: str | None) -> Outcomes:
    """Runs the scripts of a client in a network namespace, and returns the outcomes."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    task = json.dumps([words, client.name, versions, ros2])
    unshare = ["unshare", "--net", *user, sys.executable, __file__, task]
    done = subprocess.run(unshare, env=os.environ | {INSIDE: "1"}, stdout=subprocess.PIPE, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(name, script, software): outcome for name, script, software, outcome in rows}


def problems(outcomes: Outcomes) -> list[str]:
    """Returns the failures without a reason, and the reasons without a failure."""
    found = []
    for (name, script, software), outcome in outcomes.items():
        why = reason(name, script, software)
        if outcome != PASSED and why is None:
            found.append(f"{name} {software} {script}: {outcome}")
        if outcome == PASSED and why is not None:
            found.append(f"{name} {software} {script}: passed, in spite of: {why}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environments", type=pathlib.Path, required=True)
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--software", action="append", choices=SOFTWARE)
    parser.add_argument("--ros2", metavar="OUTRIGGER", help="a program that has `ros2`, for clients of ROS 2")
    parser.add_argument("--jobs", type=int, default=1, help="clients at the same time")
    given = parser.parse_args()
    clients = [client for client in CLIENTS if given.client is None or client.name in given.client]
    versions = given.software or list(SOFTWARE)
    if given.ros2 is None and any(client.ros2 for client in clients):
        parser.error("clients of ROS 2 need --ros2: cargo build --release -p outrigger-cli --features ros2")
    ros2 = given.ros2 and shutil.which(str(pathlib.Path(given.ros2).resolve()))
    if given.ros2 and (not ros2 or subprocess.run([ros2, "ros2", "--help"], stdout=subprocess.DEVNULL).returncode):
        parser.error(f"--ros2: expected a program that has the command `ros2`, found {given.ros2}")
    scripts = [built(given.environments.resolve(), client) for client in clients]
    outcomes: Outcomes = {}
    with ThreadPoolExecutor(given.jobs) as pool:
        runs = [pool.submit(outside, *pair, versions, ros2) for pair in zip(scripts, clients)]
        for run in runs:
            outcomes |= run.result()
    together = read_results() | outcomes
    write_results(together)
    PAGE.write_text(page(together), encoding="utf-8")
    for problem in problems(outcomes):
        print(problem)
    print(f"{len(outcomes)} scripts ran; {RESULTS.name} and {PAGE.name} are written")
    return 1 if problems(outcomes) else 0


if __name__ == "__main__":
    if INSIDE in os.environ:
        inside(*json.loads(sys.argv[1]))
    else:
        sys.exit(main())
