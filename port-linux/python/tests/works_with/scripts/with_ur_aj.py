"""ur-aj: functions of the module, with degrees and millimetres."""

import math

import ur_aj
from task import run


def line(task):
    ur_aj.configure_robot(task.host)
    x, y, z = (1000.0 * length for length in task.pose[:3])
    ur_aj.moveL(x, y, z, *(math.degrees(angle) for angle in task.pose[3:]), speed=0.1)


def read(task):
    ur_aj.configure_robot(task.host)
    return [math.radians(angle) for angle in ur_aj.getjoints()]


if __name__ == "__main__":
    run(globals())
