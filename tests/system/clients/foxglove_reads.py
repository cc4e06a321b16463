"""Reads a recording with mcap, and makes a message of foxglove-sdk of each message with a schema of Foxglove.

Usage: foxglove_reads.py FILE [LAYOUT]

A topic or field of the layout for Foxglove that the recording lacks is an error.

Each line of the output is a name and its numbers.
"""

import json
import re
import sys

from foxglove_messages import check, described, drawn, parse, tool
from mcap.reader import make_reader


def say(name, *values):
    print(name, *(repr(float(value)) for value in values))


def main(path, layout=None):
    counts, newest, times, fields = {}, {}, {}, {}
    with open(path, "rb") as file:
        for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():
            if channel.topic not in fields:
                fields[channel.topic] = schema and json.loads(schema.data)
            if schema is None or not schema.name.startswith("foxglove."):
                continue
            value = json.loads(message.data)
            described(value, json.loads(schema.data), channel.topic)
            parse(schema.name, value)
            newest[schema.name] = value
            counts[schema.name] = counts.get(schema.name, 0) + 1
            times.setdefault(channel.topic, []).append(message.log_time)
    panels = ""
    if layout:
        with open(layout) as file:
            panels = json.dumps(json.load(file)["configById"])
    for topic, field in re.findall('"(/[a-z_]+)(?:[.]([a-z_]+)[^"]*)?"', panels):
        check(topic in fields, f"the layout shows {topic}")
        check(not field or field in fields[topic]["properties"], f"the layout shows {topic}.{field}")
    for name, count in counts.items():
        say(name, count)
    joints = newest["foxglove.JointStates"]["joints"]
    check([joint["name"] for joint in joints][:3] == ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"], str(joints))
    say("joints", *(joint["position"] for joint in joints))
    say("velocities", *(joint["velocity"] for joint in joints))
    pose = newest["foxglove.PoseInFrame"]
    check(pose["frame_id"] == "base", pose["frame_id"])
    say("pose", *(pose["pose"]["position"][k] for k in "xyz"))
    apart = [b - a for a, b in zip(times["/joints"], times["/joints"][1:])]
    say("joints_period", sum(apart) / len(apart) / 1e9)
    transforms = newest["foxglove.FrameTransforms"]
    position, ahead = tool(transforms)
    say("tool", *position)
    say("ahead", *ahead)
    say("cylinders", drawn(newest["foxglove.SceneUpdate"], transforms))


if __name__ == "__main__":
    main(*sys.argv[1:])
