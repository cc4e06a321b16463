"""The network namespace that a judge runs in, and the simulated controllers there."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

# Suites and examples have the addresses of their authors' robots in their source: the controller has all of them. Some suites
# open servers on its ports themselves, so it is another host than theirs.
ROBOT = "192.168.56.101"
ALSO = ("192.168.1.100", "192.168.1.6")
CLIENT = "192.168.56.1"
INSIDE = "OUTRIGGER_JUDGES_NAMESPACE"


def enter_namespace():
    """Starts this program anew in a network namespace of its own; returns in there, opposite a second one for controllers."""
    if INSIDE not in os.environ:
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", *user, sys.executable, *sys.argv])
    # It reads a pipe that nobody writes to, and so ends with this program.
    read, write = os.pipe()
    os.set_inheritable(write, False)
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; read line"], stdin=read, stdout=subprocess.PIPE)
    holder.stdout.readline()
    other = within(holder.pid)
    for words in (
        ["ip", "link", "set", "lo", "up"],
        [*other, "ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", str(holder.pid)],
        ["ip", "address", "add", f"{CLIENT}/24", "dev", "wire"],
        ["ip", "link", "set", "wire", "up"],
        [*other, "ip", "address", "add", f"{ROBOT}/24", "dev", "wire"],
        [*other, "ip", "link", "set", "wire", "up"],
        *[[*other, "ip", "address", "add", f"{address}/32", "dev", "wire"] for address in ALSO],
        *[["ip", "route", "add", f"{address}/32", "dev", "wire"] for address in ALSO],
    ):
        subprocess.run(words, check=True)
    return holder


def within(pid):
    """The words that run a command in the network namespace of a process."""
    return ["nsenter", f"--net=/proc/{pid}/ns/net"]


class Controller:
    """A simulated controller: a process, its log, and optionally an operator at its pendant."""

    def __init__(self, words, log, operator=None):
        """Starts the command `words`. An operator, an address and a program, loads it and plays it whenever none runs."""
        self.log = open(log, "wb")
        words = [str(word) for word in words]
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, start_new_session=True
        )
        timer = threading.Timer(20, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if not line:
            self.process.wait()
            self.log.close()
            raise SystemExit(f"{' '.join(words)} ended: {pathlib.Path(log).read_text(errors='replace')[-500:]}")
        self.ready = json.loads(line)
        self.left = threading.Event()
        self.operator = threading.Thread(target=self.operate, args=operator, daemon=True) if operator else None
        if self.operator:
            self.operator.start()

    def operate(self, address, program):
        """Presses play whenever no program runs: what some examples ask a person at the pendant for."""
        step = by_robot_api if self.ready["software"].startswith("10.") else by_dashboard
        while not self.left.wait(0.3):
            try:
                step(address, program)
            except OSError:
                pass  # It is starting, or ends.

    def stop(self):
        """Ends the controller; returns a complaint if it had ended by itself."""
        self.left.set()
        if self.operator:
            self.operator.join()
        died = self.process.poll()
        if died is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                died = "killed, as it did not end when asked to"
        self.process.stdout.close()
        self.log.close()
        return None if died is None else f"the simulated controller ended by itself: {died}"


def by_dashboard(address, program):
    with socket.create_connection((address, 29999), 2) as connection:
        lines = connection.makefile("rw", newline="\n")
        lines.readline()

        def ask(line):
            lines.write(line + "\n")
            lines.flush()
            return lines.readline().strip()

        state = ask("programState")
        if state.startswith("STOPPED"):
            if not state.endswith(program):
                ask(f"load {program}")
            ask("play")


def by_robot_api(address, program):
    url = f"http://{address}/universal-robots/robot-api/program/v1"

    def put(path, **content):
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/{path}", json.dumps(content).encode(), headers, method="PUT")
        urllib.request.urlopen(request, timeout=2).close()

    with urllib.request.urlopen(f"{url}/state", timeout=2) as answer:
        state = json.load(answer).get("state")
    if state == "STOPPED":
        put("load", programName=program.rsplit(".", 1)[0])
        put("state", action="play")
