"""Reads a recording with mcap, the package by the authors of the format, and prints the values that it decoded.

Usage: mcap_reads.py FILE

Each line of the output is a name and its numbers. Every checksum is verified. Every message with the encoding json is
parsed, and its types are compared with its schema.
"""

import json
import sys

from mcap.reader import make_reader

TYPES = {"number": (int, float, type(None)), "integer": int, "string": str, "boolean": bool, "array": list, "object": dict}


def say(name, *values):
    print(name, *(repr(float(value)) for value in values))


def check(value, schema, where):
    kind = schema.get("type")
    if kind in TYPES and not isinstance(value, TYPES[kind]):
        sys.exit(f"{where}: {value!r} is no {kind}")
    if kind == "object":
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                check(value[name], inner, f"{where}.{name}")
    if kind == "array" and "items" in schema:
        for item in value:
            check(item, schema["items"], where)


def main(path):
    counts, newest, times, raw = {}, {}, [], 0
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        for schema, channel, message in reader.iter_messages():
            counts[channel.topic] = counts.get(channel.topic, 0) + 1
            if channel.message_encoding != "json":
                raw += len(message.data) if channel.topic == "/raw/30003" else 0
                continue
            value = json.loads(message.data)
            check(value, json.loads(schema.data), channel.topic)
            newest[channel.topic] = value
            if channel.topic == "/realtime":
                times.append(value["time"])
        pages = {page.name: page.metadata for page in reader.iter_metadata()}
        summary = reader.get_summary()
    if summary.statistics.message_count != sum(counts.values()):
        sys.exit("the statistics count other messages than there are")
    say("times", *times)
    say("q", *newest["/realtime"]["q_actual"])
    say("position", *newest["/joint_states"]["position"])
    say("pose", *newest["/tool"]["pose"])
    say("robot_mode", newest["/modes"]["robot_mode"])
    say("digital_in", newest["/io"]["digital_input_bits"])
    say("rtde_q", *newest.get("/rtde", {}).get("actual_q", []))
    say("primary_q", *(joint for joint in newest["/primary/joint_data"]["q_actual"]))
    say("log_lines", counts["/log"])
    say("lost", pages["summary"]["entries_lost"])
    say("raw_bytes", raw)


if __name__ == "__main__":
    main(sys.argv[1])
