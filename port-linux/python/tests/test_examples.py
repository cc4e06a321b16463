"""Each example runs as a program, and is judged by the true joints of a simulated arm and by what it prints."""

import importlib.util
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from outrigger_robot import sim

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])
#: A busy machine ends commanding for one of these. The example is then tried again, which is printed.
BUSY = re.compile(r"\((GradeLow|LocalStall|StateStale|MoveUnseen)\)|link quality is below")
ATTEMPTS = 5


def run(number, *words):
    """Runs an example; returns its exit code and what it printed."""
    (program,) = EXAMPLES.glob(f"{number:02}_*.py")
    done = subprocess.run([sys.executable, program, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def quietly(attempt):
    """Makes an attempt that returns (code, text, …), again while a busy machine ended it."""
    for _ in range(ATTEMPTS):
        result = attempt()
        if result[0] == 0 or not BUSY.search(result[1]):
            break
        print("again, on a busy machine:", result[1].splitlines()[-1])
    assert result[0] == 0, result[1]
    return result[1:]


def on_simulator(number, *words, **options):
    """Runs an example on a simulated arm; returns what it printed, and the true joint angles after it."""

    def attempt():
        with sim.ur("5.15", q=HOME, **options) as simulator:
            code, text = run(number, simulator.address, *words)
            time.sleep(0.5)
            return code, text, simulator.q, simulator.at_rest

    text, q, at_rest = quietly(attempt)
    assert at_rest
    return text, q - HOME


def test_a_sensor_is_followed():
    text, moved = on_simulator(1)
    assert "turned by 0.40 rad" in text and abs(moved[5] - 0.4) < 0.01


def test_a_part_is_placed_beside():
    text, moved = on_simulator(2)
    assert "closed on the way: True; placed 0.150 m" in text and abs(moved[0]) > 0.1


def test_waypoints_of_a_file_are_followed():
    text, moved = on_simulator(3)
    assert "4 waypoints in 6.0 s" in text
    assert np.allclose(moved, np.radians([5, 0, 0, 0, 0, 0]), atol=2e-3)


def test_waypoints_of_another_file_are_followed(tmp_path):
    file = tmp_path / "way.csv"
    file.write_text("t,q1,q2,q3,q4,q5,q6\n2,-7,0,0,0,0,3\n")
    _, moved = on_simulator(3, str(file))
    assert np.allclose(moved, np.radians([-7, 0, 0, 0, 0, 3]), atol=2e-3)


def test_a_program_is_tested_with_pytest():
    def attempt():
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *EXAMPLES.glob("04_*.py")]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout

    (text,) = quietly(attempt)
    assert "2 passed" in text


def test_a_program_that_is_tested_is_a_program():
    text, moved = on_simulator(4)
    assert "arrived" in text and abs(moved[0] - 0.8) < 2e-3


def test_a_joystick_moves_the_arm():
    text, moved = on_simulator(5)
    assert "1 lapse" in text and 0.1 < moved[0] < 0.2 and -0.2 < moved[5] < -0.1


def test_a_stop_is_explained_and_the_arm_goes_on():
    text, moved = on_simulator(6, faults=["protective-stop@3s:6s"])
    # Which of both arrives first depends on the machine.
    assert re.search(r"stopped: .*\((ProtectiveStop|ProgramStopped)\); ", text) and "ready to go on" in text
    assert 0.05 < moved[0] < 0.5


def test_one_arm_follows_another():
    def attempt():
        with sim.ur("3.15", model="ur10", q=HOME) as leader, sim.ur("5.15", q=HOME) as follower:
            code, text = run(7, leader.address, follower.address)
            time.sleep(0.5)
            return code, text, leader.q - HOME, follower.q - HOME

    text, led, followed = quietly(attempt)
    assert "turned by 0.30 rad, the follower by 0.30 rad" in text and "commanded: Command and Command" in text
    assert abs(led[0] - 0.3) < 2e-3 and abs(followed[0] - 0.3) < 6e-3


def test_states_are_recorded(tmp_path):
    file = tmp_path / "states.npz"
    text, moved = on_simulator(8, str(file))
    recorded = np.load(file)
    assert len(recorded["time"]) > 500 and f"{len(recorded['time'])} states" in text
    assert np.allclose(recorded["q"][-1] - HOME, moved, atol=2e-3) and recorded["qd"][:, 0].max() > 0.3


def test_a_program_in_urscript_is_observed():
    text, moved = on_simulator(9)
    assert "joint 1 moved by 0.30 rad" in text and abs(moved[0] - 0.3) < 2e-3


@pytest.mark.skipif(importlib.util.find_spec("rtde_control") is None, reason="ur_rtde is not installed")
def test_ur_rtde_is_explained():
    text, moved = on_simulator(10, port_base=29999, faults=["protective-stop@3s"])
    assert "did not arrive" in text and "protective stop" in text and 0.05 < moved[0] < 0.59


@pytest.mark.parametrize("number", [1, 3, 9])
def test_without_an_address_an_example_starts_a_simulator(number):
    (text,) = quietly(lambda: run(number))
    assert "rad" in text or "waypoints" in text
