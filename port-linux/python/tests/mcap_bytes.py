"""Recordings that are written byte by byte, for what no simulator does."""

import json
import struct

MAGIC = b"\x89MCAP0\r\n"


def text(value: str) -> bytes:
    return struct.pack("<I", len(value.encode())) + value.encode()


def record(kind: int, body: bytes) -> bytes:
    return struct.pack("<BQ", kind, len(body)) + body


def mcap(messages, facts=None) -> bytes:
    """Returns an MCAP file without chunks. A message is (topic, seconds, bytes, or an object for JSON)."""
    parts = [MAGIC, record(1, text("") + text("test"))]
    channels: dict = {}
    for topic, seconds, data in messages:
        if topic not in channels:
            channels[topic] = len(channels)
            parts.append(record(4, struct.pack("<HH", channels[topic], 0) + text(topic) + text("") + text("")))
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        time = round(seconds * 1e9)
        parts.append(record(5, struct.pack("<HIQQ", channels[topic], 0, time, time) + data))
    if facts is not None:
        pairs = b"".join(text(key) + text(value) for key, value in facts.items())
        parts.append(record(12, text("summary") + struct.pack("<I", len(pairs)) + pairs))
    parts += [record(15, bytes(4)), record(2, bytes(20)), MAGIC]
    return b"".join(parts)


def log(seconds, name, message, level=2):
    return ("/log", seconds, {"level": level, "name": name, "message": message})
