"""Force, freedrive, laws, scripts and the dashboard, judged by the simulated controller."""

import threading
import time

import numpy as np
import pytest

from outrigger_robot import Rejected, Robot, Stopped, sim

HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])


def until(condition, seconds=5.0):
    """Waits until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


def test_force_mode_presses_the_tool_onto_a_surface():
    with sim.ur(q=HOME) as free:
        height = free.pose[2] - 0.01
    with sim.ur(q=HOME, surface=height) as simulator, Robot.ur(simulator.address) as robot:
        with robot.force([None, None, -20.0, None, None, None]) as force:
            force.wait(3.0)
            assert 15.0 < simulator.force[2] < 25.0
        until(lambda: simulator.at_rest)
        assert robot.mode == "Command"


def test_force_mode_that_is_not_renewed_ends(ur, robot):
    robot.force([None, None, -5.0, None, None, None], renew_within=0.2)
    until(lambda: robot.why_stopped() is not None)
    assert robot.why_stopped().reason == "NotRenewed" and robot.why_stopped().latched
    until(lambda: ur.at_rest)


def test_force_mode_beyond_its_limit_ends_with_its_reason(ur, robot):
    with pytest.raises(Stopped, match="force mode ended") as raised:
        with robot.force([None, None, 20.0, None, None, None], deviation=0.02) as force:
            force.wait(10.0)
    assert raised.value.reason == "GuideLimit"
    until(lambda: ur.at_rest)


def test_a_protective_stop_is_reset_as_readme_says(ur):
    with sim.ur(q=HOME, faults=["protective-stop@2s"]) as simulator, Robot.ur(simulator.address) as robot:
        with pytest.raises(Stopped):
            robot.move_to(HOME + [2.0, 0, 0, 0, 0, 0])
        time.sleep(5.5)
        robot.dashboard("unlock protective stop")
        robot.reset()
        robot.move_to(HOME)
        assert np.allclose(simulator.q, HOME, atol=1e-3)


def test_an_exception_in_freedrive_stops_the_arm(ur, robot):
    with pytest.raises(KeyError), robot.freedrive():
        raise KeyError("mine")
    until(lambda: robot.mode == "Monitor")
    assert ur.at_rest


def test_limits_of_force_mode_are_checked(robot):
    for words, arguments in [
        ("wrench: expected 6 numbers or None, found 3", {"wrench": [None, None, -5.0]}),
        ("no axis is selected", {"wrench": [None] * 6}),
        ("force, number 2, is -600", {"wrench": [None, None, -600.0, None, None, None]}),
        ("guide.tool_speed", {"wrench": [None, None, -5.0, None, None, None], "tool_speed": float("nan")}),
    ]:
        with pytest.raises(ValueError, match=words):
            robot.force(**arguments)


def test_the_payload_is_set_at_the_controller(robot):
    robot.payload(1.25, (0.0, 0.01, 0.05))
    with pytest.raises(ValueError, match="payload"):
        robot.payload(float("nan"))


def test_a_script_moves_the_arm_and_returns_at_its_end(ur, robot):
    goal = HOME + [0.2, 0, 0, 0, 0, 0]
    robot.script(f"def turn():\n  movej({goal.tolist()}, 1.4, 1.0)\nend\n")
    until(lambda: ur.at_rest)
    assert np.allclose(ur.q, goal, atol=1e-3)


@pytest.mark.parametrize("end", ["stop", "close"])
def test_a_script_that_nobody_waits_for_ends_with_the_stop(ur, robot, end):
    robot.script("def turn():\n  while True:\n    speedj([0.3, 0, 0, 0, 0, 0], 1.0, 0.1)\n  end\nend\n", wait=False)
    until(lambda: np.abs(ur.qd).max() > 0.1)
    getattr(robot, end)()
    assert np.abs(ur.qd).max() < 0.02 and not ur.program_runs
    time.sleep(0.5)
    assert ur.at_rest
    if end == "stop":
        # A program of the pendant goes on: nothing of this robot runs any more.
        robot.stop()
        robot.move_to(ur.q + [0.1, 0, 0, 0, 0, 0])


def test_a_script_with_an_error_is_not_started(ur, robot):
    with pytest.raises(ValueError, match="script:3:1: program 'wrong' not started"):
        robot.script("def wrong():\n  movej(\nend\n")
    assert np.allclose(ur.q, HOME)


def test_a_script_is_rejected_while_the_arm_is_commanded(ur, robot):
    robot.move_to(HOME + [0.1, 0, 0, 0, 0, 0])
    with pytest.raises(Rejected):
        robot.script("def turn():\n  movej([0,-1.57,-1.57,-1.57,1.57,0])\nend\n")
    robot.stop()


def test_stop_ends_a_script_that_is_waited_for(ur, robot):
    raised = []

    def run():
        try:
            robot.script("def turn():\n  while True:\n    speedj([0.1,0,0,0,0,0], 1.0, 0.1)\n  end\nend\n")
        except Stopped as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: abs(ur.qd[0]) > 0.05)
    robot.stop()
    thread.join(10)
    until(lambda: ur.at_rest)
    assert len(raised) == 1


def test_the_dashboard_answers_in_text(robot):
    assert robot.dashboard("programState").startswith("STOPPED")
    assert "5.15" in robot.dashboard("PolyscopeVersion")
    with pytest.raises(ValueError, match="expected a request of a dashboard server"):
        robot.dashboard("make coffee")
    with pytest.raises(Stopped, match="load"):
        robot.dashboard("load nowhere.urp")


def test_a_law_keeps_a_distance_that_python_measures(ur):
    surface = ur.pose[2] - 0.1
    sensor = {"name": "gap", "input": "requests", "range": [0.0, 0.5], "max_age": 0.2}
    law = {"kind": "standoff", "source": "gap", "distance": 0.05, "longest_approach": 0.2}
    with Robot.ur(ur.address) as robot, robot.run(law=law, sensor=sensor, limits={"velocity": 0.5}) as run:
        for _ in range(400):
            run.sample(ur.pose[2] - surface)
            time.sleep(0.01)
        assert abs(ur.pose[2] - surface - 0.05) < 0.005


def test_a_law_whose_sensor_is_silent_does_not_start(ur):
    sensor = {"name": "gap", "input": "requests", "range": [0.0, 0.5]}
    law = {"kind": "standoff", "source": "gap", "distance": 0.05}
    with Robot.ur(ur.address) as robot, robot.run(law=law, sensor=sensor) as run:
        with pytest.raises(Rejected, match="not ready: no reading was passed on"):
            run.wait(15.0)
        assert robot.mode == "Monitor"
        with pytest.raises(Rejected, match="another call commands the arm"):
            robot.move_to(HOME)


def test_wrong_keys_of_a_law_are_named(ur, robot):
    with pytest.raises(ValueError, match="law.kind"):
        robot.run(law={"kind": "magic"})
    robot.move_to(HOME + [0.1, 0, 0, 0, 0, 0])
    assert np.allclose(ur.q, HOME + [0.1, 0, 0, 0, 0, 0], atol=1e-3)
