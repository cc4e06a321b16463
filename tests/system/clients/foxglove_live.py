"""Reads live data by the subprotocol foxglove.sdk.v1, written from its specification, and misbehaves in every way.

Usage: foxglove_live.py ws://ADDRESS:PORT

Each line of the output is a name and its numbers.
"""

import json
import os
import socket
import struct
import sys
import time
from urllib.parse import urlparse

from foxglove_messages import check, described, drawn, parse, tool
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

PROTOCOL = "foxglove.sdk.v1"
MOST_CLIENTS = 32


def say(name, *values):
    print(name, *(repr(float(value)) for value in values), flush=True)


class Client:
    def __init__(self, url, **options):
        options |= {"compression": None, "max_size": None, "ping_interval": None, "close_timeout": 0.1}
        self.socket = connect(url, subprotocols=[PROTOCOL], **options).__enter__()
        check(self.socket.subprotocol == PROTOCOL, f"{self.socket.subprotocol}")
        self.info = json.loads(self.socket.recv(timeout=5))
        check(self.info["op"] == "serverInfo", str(self.info))
        self.channels, self.subscriptions, self.statuses = {}, {}, []

    def subscribe(self, topics, within=10):
        end = time.monotonic() + within
        while not set(topics) <= set(self.channels):
            check(time.monotonic() < end, f"not advertised: {set(topics) - set(self.channels)}")
            self.receive(1)
        first = len(self.subscriptions)
        wanted = [{"id": first + n, "channelId": self.channels[topic]["id"]} for n, topic in enumerate(topics)]
        self.subscriptions |= {one["id"]: topic for one, topic in zip(wanted, topics)}
        self.socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))

    def receive(self, timeout):
        """Returns topic, time and value of the next message of a channel; None after anything else, or in time."""
        try:
            message = self.socket.recv(timeout=timeout)
        except TimeoutError:
            return None
        if isinstance(message, str):
            message = json.loads(message)
            if message["op"] == "advertise":
                self.channels |= {channel["topic"]: channel for channel in message["channels"]}
            if message["op"] == "status":
                self.statuses.append(message)
            return None
        opcode, subscription, at = struct.unpack_from("<BIQ", message)
        check(opcode == 1, f"opcode {opcode}")
        return self.subscriptions[subscription], at, json.loads(message[13:])

    def collect(self, seconds):
        end, found = time.monotonic() + seconds, {}
        while time.monotonic() < end:
            one = self.receive(0.1)
            if one:
                found.setdefault(one[0], []).append(one[1:])
        return found


def values(url):
    client = Client(url)
    check(client.info["capabilities"] == [], f"it can do more than be read: {client.info['capabilities']}")
    client.subscribe(["/joints", "/transforms", "/arm", "/tool_pose", "/modes"])
    found = client.collect(3)
    for topic, messages in found.items():
        channel = client.channels[topic]
        check((channel["encoding"], channel["schemaEncoding"]) == ("json", "jsonschema"), str(channel))
        check(abs(messages[-1][0] / 1e9 - time.time()) < 5, f"{topic}: not of now")
        for _, value in messages:
            described(value, json.loads(channel["schema"]), topic)
            if channel["schemaName"].startswith("foxglove."):
                parse(channel["schemaName"], value)
    newest = {topic: messages[-1][1] for topic, messages in found.items()}
    say("joints", *(joint["position"] for joint in newest["/joints"]["joints"]))
    say("joints_rate", len(found["/joints"]) / 3)
    say("poses_rate", len(found["/tool_pose"]) / 3)
    say("robot_mode", newest["/modes"]["robot_mode"])
    position, ahead = tool(newest["/transforms"])
    say("tool", *position)
    say("ahead", *ahead)
    say("cylinders", drawn(newest["/arm"], newest["/transforms"]))
    # Nobody commands: a channel of a client is refused.
    client.socket.send(json.dumps({"op": "advertise", "channels": [{"id": 1, "topic": "/go", "encoding": "json", "schemaName": "x"}]}))
    client.socket.send(struct.pack("<BI", 1, 1) + b"{}")
    client.collect(0.5)
    check(any("clientPublish" in status["message"] for status in client.statuses), str(client.statuses))
    return client


def misbehave(url, good):
    """Checks that a good client reads on beside bad ones."""
    where = urlparse(url)
    address = (where.hostname, where.port)
    try:
        connect(url, subprotocols=["foxglove.websocket.v1"]).__enter__()
        check(False, "another subprotocol was accepted")
    except InvalidHandshake:
        pass
    garbage = socket.create_connection(address)
    garbage.sendall(b"\x00\xff\r\n\r\n" * 1000)
    unfinished = [socket.create_connection(address) for _ in range(3)]
    for one in unfinished:
        one.sendall(b"GET / HTTP/1.1\r\n")
    odd = Client(url)
    for message in ["{", "[]", '{"op":"subscribe"}', json.dumps({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 999999}]})]:
        odd.socket.send(message)
    for message in [b"", b"\x01", b"\xff" * 100]:
        odd.socket.send(message)
    odd.collect(0.5)
    check(odd.statuses, "garbage was not answered")
    say("answers_to_garbage", len(odd.statuses))
    too_much = Client(url)
    try:
        for _ in range(64):
            too_much.socket.send("x" * 65536)
            too_much.receive(0)
        time.sleep(0.5)
        too_much.socket.send("x")
        too_much.collect(1)
        check(False, "4 MB were accepted")
    except (ConnectionClosed, OSError):
        pass
    deaf = Client(url)
    deaf.collect(1)
    deaf.subscribe(list(deaf.channels))
    # From here on it does not read.
    deaf.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    many, refused = [], 0
    for _ in range(100):
        try:
            many.append(Client(url, open_timeout=5))
        except (InvalidHandshake, ConnectionClosed, OSError, EOFError, TimeoutError):
            refused += 1
    say("of_100", len(many), refused)
    check(len(many) < MOST_CLIENTS and refused > 60, f"{len(many)} of 100, {refused} refused")
    for client in many:
        client.subscribe(["/joints"])
    good.collect(0.2)
    said = good.collect(3)["/joints"]
    say("rate_beside", len(said) / 3)
    for client in many[-3:]:
        check("/joints" in client.collect(1), "one of many reads nothing")
    for client in many:
        client.socket.close()
    # Places are free again.
    time.sleep(1)
    Client(url).socket.close()


if __name__ == "__main__":
    reader = values(sys.argv[1])
    if "--misbehave" in sys.argv:
        misbehave(sys.argv[1], reader)
    say("end", 1)
    # Without waiting for the clients that were left open.
    os._exit(0)
