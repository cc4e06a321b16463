"""The task of a script, from its command line: SCRIPT JSON."""

import json
import sys


class Task:
    """Where the robot is, and what a script has to do with it."""

    def __init__(self, host, joints, pose, speeds):
        self.host = host
        self.joints = joints
        self.pose = pose
        self.speeds = speeds


def run(scripts):
    """Runs the function that the command line names; prints what it returns."""
    name, task = sys.argv[1], Task(**json.loads(sys.argv[2]))
    del sys.argv[1:]  # Some clients parse the command line.
    print(json.dumps(scripts[name](task)))
