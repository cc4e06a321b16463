"""Exchanges data by Cyclone DDS with a script that runs in a simulated PolyScope X. Usage: judge_scripts.py DOMAIN
PORT

PORT is port 30001 of the controller, which the script is sent to. Results are printed as lines `name: value`. A
failed check ends this program with its reason.
"""

import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "port-linux/cli/examples/ros2"))

import ros2
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from ros2 import DEFINED, JOINTS, SERVICES, Node, qos, struct, until

ros2.PATIENCE = 90.0
struct("std_msgs/msg/Int64", "int64 data")

# The script waits for each message of the judge, so that its result does not depend on timing.
SCRIPT = """
def speaks():
  said = ros_publisher_factory(topic="/cell/said", msg_type="std_msgs/msg/String", history="keep_last", depth=20,
    durability="transient_local")
  echo = ros_publisher_factory("/cell/echo", "std_msgs/msg/Int64", history="keep_last", depth=20, durability="transient_local")
  seen = ros_publisher_factory("/cell/seen", "sensor_msgs/msg/JointState", durability="transient_local")
  counts = ros_subscriber_factory("/cell/count", "std_msgs/msg/Int64", history="keep_last", depth=3, reliability="reliable")
  go = ros_subscriber_factory("/cell/go", "std_msgs/msg/Bool", reliability="reliable", durability="transient_local")
  first = counts.read()
  echo.write(first)
  local went = go.read()
  local history = counts.read_history(10)
  local i = 0
  while i < size(history):
    echo.write(history[i])
    i = i + 1
  end
  counts.close()
  states = ros_subscriber_factory("/joint_states", "sensor_msgs/msg/JointState")
  seen.write(states.read())
  open = ros_service_client_factory("/cell/open", "std_srvs/srv/Trigger")
  local served = open.wait_for_service(60.0)
  local answer = open.call(struct(), 60.0)
  said.write(struct(data=answer.message))
  zero = ros_service_client_factory("/io_and_status_controller/zero_ftsensor", "std_srvs/srv/Trigger")
  local refused = zero.call(struct())
  said.write(struct(data=refused.message))
  if refused.success == False:
    said.write(struct(data="refused"))
  end
  nobody = ros_service_client_factory("/cell/nobody", "std_srvs/srv/Empty")
  local alone = nobody.wait_for_service(1.0)
  own = ros_publisher_factory("/cell/own", "std_msgs/msg/Int64", history="keep_last", depth=10)
  hears = ros_subscriber_factory("/cell/own", "std_msgs/msg/Int64", history="keep_last", depth=10)
  sleep(1.0)
  own.write(struct(data=floor(1)))
  own.write(struct(data=floor(2)))
  sleep(1.0)
  said.write(struct(data=str_cat(to_string([served, alone]), to_string(hears.read_history()))))
  local over = go.read()
  said.write(struct(data="over"))
  said.close()
  while True:
    sync()
  end
end
"""


def say(name, *values):
    print(f"{name}:", *values, flush=True)


def check(holds, why):
    if not holds:
        raise SystemExit(why)


class Server:
    """A service server that answers as rmw_cyclonedds does."""

    def __init__(self, node, name, of):
        request, self.response = SERVICES[of]
        self.requests = DataReader(node.participant, Topic(node.participant, f"rq/{name}Request", request), qos=qos())
        self.answers = DataWriter(node.participant, Topic(node.participant, f"rr/{name}Reply", self.response), qos=qos())

    def serve(self, **fields):
        request = until(lambda: self.requests.take(N=1), "a request")[0]
        self.answers.write(self.response(client=request.client, number=request.number, **fields))


def collect(reader, count, name):
    found = []
    until(lambda: found.extend(reader.take(N=20)) or len(found) >= count, f"{count} of {name}")
    return found


def main():
    domain, port = map(int, sys.argv[1:])
    node = Node(domain)
    server = Server(node, "cell/open", "Trigger")
    counts, go = node.writer("cell/count", "Int64"), node.writer("cell/go", "Bool", latched=True, depth=1)
    said, echo = node.reader("cell/said", "String", latched=True), node.reader("cell/echo", "Int64", latched=True)
    seen, states = node.reader("cell/seen", "JointState", latched=True), node.reader("joint_states", "JointState")
    controller = socket.create_connection(("127.0.0.1", port))
    controller.sendall(SCRIPT.encode())

    until(counts.get_matched_subscriptions, "a reader of /cell/count")
    int64, flag = DEFINED["Int64"], DEFINED["Bool"]
    counts.write(int64(data=(1 << 32) + 7))
    wrapped = collect(echo, 1, "echoes")
    for data in (-1, 1, 2, 3, (1 << 31)):
        counts.write(int64(data=data))
    check(counts.wait_for_acks(duration(seconds=60)), "counts were not taken")
    go.write(flag(data=True))
    echoes = [one.data for one in wrapped + collect(echo, 3, "echoes")]
    check(echoes == [7, 2, 3, -(1 << 31)], f"echoes: {echoes}")

    relayed, told = collect(seen, 1, "states")[0], collect(states, 1, "the node's states")[0]
    check(relayed.name == told.name == JOINTS, f"{relayed.name}, {told.name}")
    check(relayed.position == told.position, f"{relayed.position}, {told.position}")
    check(len(relayed.effort) == 6 and relayed.header.stamp.sec > 0, f"{relayed}")

    server.serve(success=True, message="gripper open")
    words = [one.data for one in collect(said, 4, "words")]
    check(words[0] == "gripper open" and words[2] == "refused", f"words: {words}")
    say("refused", words[1])
    # A program receives its own messages once, and knows whether a service has a server.
    check(words[3] == "[True, False][{data: 1}, {data: 2}]", f"{words[3]}")

    go.write(flag(data=False))
    # The last message arrives although its publisher is closed right after it.
    check(collect(said, 1, "last words")[0].data == "over", "another last word")
    until(lambda: not said.get_matched_publications(), "the end of /cell/said")
    check(echo.get_matched_publications(), "/cell/echo is closed, too")
    # The publishers of a program end with it.
    controller.sendall(b"def over():\n  textmsg(1)\nend\n")
    until(lambda: not echo.get_matched_publications(), "the end of /cell/echo")
    say("done", "yes")


main()
