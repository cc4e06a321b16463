"""The simulator and a robot connected to it, for each test."""

import pytest

from outrigger_robot import Robot

pytest_plugins = ["pytester"]


@pytest.fixture
def robot(ur):
    with Robot.ur(ur.address) as connected:
        yield connected
