"""universal-robots-clients: its RTDE client, which moves nothing."""

import universal_robots_clients.rtde_client as rtde
from task import run


def read(task):
    client = rtde.connect(task.host)
    try:
        return list(rtde.read_actual_joint_positions(client))
    finally:
        rtde.disconnect(client)


if __name__ == "__main__":
    run(globals())
