"""Motions, states and stops, judged by where the simulated arm truly is."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from outrigger_robot import ConnectionFailed, Rejected, Robot, Stopped, sim

HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])
BESIDE = HOME + np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0])


def until(condition, seconds=5.0):
    """Waits until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.005)


def mover_until_stopped(robot, raised):
    """Returns a thread that makes a long motion and appends the exception that ends it."""

    def move():
        try:
            robot.move_to(HOME + [2.0, 0, 0, 0, 0, 0])
        except Stopped as error:
            raised.append(error)

    return threading.Thread(target=move)


def test_a_connected_robot_is_only_observed(ur, robot):
    time.sleep(3.0)
    assert robot.mode == "Monitor" and robot.not_ready == [] and robot.why_stopped() is None
    assert np.allclose(ur.q, HOME)


def test_an_arm_reaches_joint_angles_in_radians_and_degrees(ur, robot):
    robot.move_to(BESIDE)
    assert np.allclose(ur.q, BESIDE, atol=1e-3) and ur.at_rest
    robot.move_to(np.degrees(HOME), degrees=True)
    assert np.allclose(ur.q, HOME, atol=1e-3)


def test_a_second_motion_does_not_connect_again(robot):
    robot.move_to(BESIDE)
    assert robot.mode == "Command"
    robot.move_to(HOME)
    assert robot.mode == "Command" and robot.why_stopped() is None


def test_the_tool_follows_a_line_to_a_pose(ur, robot):
    goal = ur.pose
    goal[2] += 0.03
    robot.move_to(pose=goal, linear=True, speed=0.1)
    assert np.allclose(ur.pose[:3], goal[:3], atol=1e-3)
    # It is turned by half a turn: about the axis or about its opposite.
    assert any(np.allclose(ur.pose[3:], turned, atol=1e-3) for turned in (goal[3:], -goal[3:]))


def test_a_duration_is_kept(robot):
    robot.move_to(HOME + [0.01, 0, 0, 0, 0, 0])
    begun = time.monotonic()
    robot.move_to(BESIDE, duration=2.0)
    assert 1.9 < time.monotonic() - begun < 4.0


def test_states_come_at_the_rate_of_the_robot_and_own_their_memory(robot):
    states = robot.states()
    first = next(states)
    begun = time.monotonic()
    more = [next(states) for _ in range(250)]
    assert 0.4 < time.monotonic() - begun < 2.0
    assert more[-1].time > first.time
    kept = first.q
    assert kept.shape == (6,) and kept.dtype == np.float64 and kept.flags.owndata and kept.flags.writeable
    kept[:] = 7.0
    assert not np.allclose(first.q, 7.0)


def test_stop_brings_the_arm_to_rest_and_the_next_motion_moves_it_again(ur, robot):
    raised = []
    mover = mover_until_stopped(robot, raised)
    mover.start()
    until(lambda: not ur.at_rest)
    with pytest.raises(Rejected, match="another call"):
        robot.move_to(BESIDE)
    robot.stop()
    mover.join(5.0)
    assert raised and ur.at_rest and abs(ur.q[0] - 2.0) > 0.1
    why = robot.why_stopped()
    assert why.reason == "Released" and not why.latched
    robot.move_to(HOME)
    assert np.allclose(ur.q, HOME, atol=1e-3)


@pytest.mark.ur(faults=["protective-stop@2.5s"])
def test_a_protective_stop_is_named_with_advice(ur, robot):
    with pytest.raises(Stopped) as raised:
        robot.move_to(HOME + [2.0, 0, 0, 0, 0, 0], speed=0.2)
    assert raised.value.reason and raised.value.advice
    why = robot.why_stopped()
    assert why.latched and why.reason == raised.value.reason and why.advice
    with pytest.raises(Rejected, match="reset"):
        robot.move_to(BESIDE)
    time.sleep(0.5)
    assert ur.at_rest


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"q": HOME, "pose": HOME},
        {"q": [1.0, 2.0]},
        {"q": np.zeros((2, 6))},
        {"q": [float("nan")] * 6},
        {"q": HOME, "speed": -1.0},
        {"q": HOME, "speed": float("inf")},
        {"q": HOME, "duration": 1e9},
        {"q": HOME, "duration": 1.0, "speed": 0.1},
    ],
)
def test_wrong_arguments_are_named_and_move_nothing(ur, robot, wrong):
    with pytest.raises((ValueError, TypeError)):
        robot.move_to(**wrong)
    assert robot.mode == "Monitor" and np.allclose(ur.q, HOME)


def test_goals_beyond_the_limits_are_rejected(ur, robot):
    for goal in ({"q": [100.0] * 6}, {"pose": [5.0, 0, 0, 0, 0, 0]}, {"q": BESIDE, "speed": 90.0}):
        with pytest.raises(Rejected):
            robot.move_to(**goal)
    assert np.allclose(ur.q, HOME, atol=1e-3)


def test_no_controller_is_a_connection_that_failed():
    with pytest.raises(ConnectionFailed):
        Robot.ur("127.0.0.1:1")
    with pytest.raises(ValueError):
        Robot.ur("127.0.0.1:99999")


def test_a_second_robot_for_one_arm_is_refused(ur, robot):
    with pytest.raises(ConnectionFailed, match="already commanded"):
        Robot.ur(ur.address)


def test_a_closed_robot_says_so(ur):
    robot = Robot.ur(ur.address)
    robot.close()
    robot.close()
    again = [
        lambda: robot.move_to(HOME),
        lambda: robot.dashboard("programState"),
        lambda: robot.script("sec secondary():\n  textmsg(\"closed\")\nend\n"),
        lambda: robot.set("digital-out.0=on"),
        lambda: robot.freedrive(),
        robot.states,
        robot.stop,
        robot.reset,
        robot.why_stopped,
        lambda: robot.state,
        lambda: robot.mode,
    ]
    for call in again:
        with pytest.raises(ConnectionFailed, match="closed"):
            call()


def in_python(program: str, *words: str) -> subprocess.Popen:
    # A shell may have started the tests with SIGINT ignored.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + textwrap.dedent(program)
    return subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE, text=True)


MOVING = """
    import sys
    from outrigger_robot import Robot
    with Robot.ur(sys.argv[1]) as robot:
        print("connected", flush=True)
        robot.move_to([2.5, -1.57, -1.57, -1.57, 1.57, 0.0], speed=0.5)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_arm_rests_within_a_second_where_its_process_ends(ur, how):
    program = in_python(MOVING, ur.address)
    assert program.stdout.readline() == "connected\n"
    until(lambda: abs(ur.qd[0]) > 0.2)
    program.send_signal(how)
    time.sleep(1.0)
    assert ur.at_rest and ur.q[0] < 2.4, ur.q
    assert program.wait(5.0) != 0


def test_a_fork_does_not_have_the_session(ur, robot):
    states = robot.states()
    next(states)
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: robot.state, lambda: next(states), lambda: ur.q, lambda: robot.close()):
            try:
                call()
            except ConnectionFailed:
                refused += 1
        del robot, states
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    robot.move_to(BESIDE)


def test_a_slow_python_does_not_disturb_a_commanded_arm(ur, robot):
    robot.move_to(BESIDE)
    until = time.monotonic() + 2.0
    while time.monotonic() < until:  # The interpreter's lock is held all the time.
        pass
    assert robot.mode == "Command" and np.allclose(ur.q, BESIDE, atol=1e-3)


def test_faults_of_a_simulator_are_checked():
    for wrong in ({"software": "99.1"}, {"model": "ur99"}, {"faults": ["nonsense"]}, {"q": [float("inf")] * 6}):
        with pytest.raises(ValueError):
            sim.ur(**wrong)


def test_waypoints_are_followed_with_their_times(ur, robot):
    middle, end = HOME + [0.2, 0, 0, 0, 0, 0], HOME + [0.2, 0.1, 0, 0, 0, 0]
    begun = time.monotonic()
    robot.follow([1.0, 2.0], np.array([middle, end]))
    assert 1.9 < time.monotonic() - begun < 4.0
    assert np.allclose(ur.q, end, atol=2e-3)
    with pytest.raises(ValueError, match="positions"):
        robot.follow([1.0, 2.0], [HOME])
    with pytest.raises(ValueError, match="times"):
        robot.follow([-1.0], [HOME])
    with pytest.raises(ValueError):
        robot.follow([2.0, 1.0], [HOME, end])
    with pytest.raises(Rejected, match="joint 1"):
        robot.follow([0.1], [HOME + [3.0, 0, 0, 0, 0, 0]])


def test_streamed_speeds_move_the_arm_and_a_late_program_brings_it_to_rest(ur, robot):
    with robot.stream_speeds(timeout=0.1) as stream:
        for _ in range(100):
            stream.send([0.2, 0, 0, 0, 0, 0])
            time.sleep(0.01)
        lapses = stream.lapses
        assert 0.1 < ur.q[0] - HOME[0] < 0.3
        time.sleep(0.6)
        assert ur.at_rest and stream.lapses == lapses + 1 and robot.mode == "Command"

        def goes_back():
            stream.send([-0.2, 0, 0, 0, 0, 0])
            return ur.qd[0] < -0.05

        until(goes_back)
    assert robot.mode == "Command"
    robot.move_to(HOME)


def test_streamed_positions_are_followed_and_one_too_far_is_rejected(ur, robot):
    with robot.stream_positions(timeout=0.1) as stream:
        for step in range(100):
            stream.send(HOME + [0.001 * step, 0, 0, 0, 0, 0])
            time.sleep(0.01)
        assert abs(ur.q[0] - 0.099) < 0.03
        with pytest.raises(Rejected):
            for _ in range(50):
                stream.send(HOME + [3.0, 0, 0, 0, 0, 0])
                time.sleep(0.01)
        time.sleep(0.2)
        for step in range(50):
            try:
                stream.send(HOME + [0.099 - 0.001 * step, 0, 0, 0, 0, 0])
            except Rejected:
                assert step < 3, "the value before was rejected once"
            time.sleep(0.01)
    assert abs(ur.q[0] - 0.05) < 0.02
    with pytest.raises(ValueError, match="ended"):
        stream.send(HOME)
    with pytest.raises(ValueError, match="timeout"):
        robot.stream_speeds(timeout=5.0)


def test_outputs_are_set_and_read_back(robot):
    robot.move_to(BESIDE)
    robot.set("digital-out.3=on")
    until = time.monotonic() + 2.0
    while not robot.state.digital_outputs & 8:
        assert time.monotonic() < until
        time.sleep(0.01)
    with pytest.raises(ValueError):
        robot.set("nonsense")


def test_a_stream_begins_after_a_motion_and_ends_by_a_stop_or_an_exception(ur, robot):
    robot.move_to(BESIDE)
    with pytest.raises(Stopped):
        with robot.stream_speeds(timeout=0.1) as stream:
            for step in range(500):
                stream.send([-0.2, 0, 0, 0, 0, 0])
                time.sleep(0.01)
                if step == 100:
                    assert ur.q[0] < BESIDE[0] - 0.1
                    robot.stop()
    assert robot.mode == "Monitor" and ur.at_rest
    with pytest.raises(KeyError):
        with robot.stream_speeds() as stream:
            stream.send([-0.1, 0, 0, 0, 0, 0])
            raise KeyError
    until(lambda: robot.mode == "Monitor")


def test_nothing_starts_after_a_stop(ur, robot):
    ended = []
    for delay in (0.0, 0.02, 0.1, 0.3, 0.6):
        mover = mover_until_stopped(robot, ended)
        mover.start()
        time.sleep(delay)
        robot.stop()
        mover.join(5.0)
        assert not mover.is_alive()
        robot.stop()
        before = ur.q
        time.sleep(0.5)
        assert ur.at_rest and np.allclose(ur.q, before) and robot.mode == "Monitor"
    assert len(ended) == 5


def test_two_robots_are_commanded_at_once():
    with sim.ur(q=HOME) as first, sim.ur(q=HOME) as second:
        with Robot.ur(first.address) as one, Robot.ur(second.address) as other:
            one.move_to(BESIDE)
            other.move_to(BESIDE)
            assert one.mode == other.mode == "Command"
        assert np.allclose(first.q, BESIDE, atol=1e-3) and np.allclose(second.q, BESIDE, atol=1e-3)


def test_a_slow_reader_of_states_misses_some_and_counts_them(robot):
    states = robot.states()
    next(states)
    time.sleep(1.0)
    times = [next(states).time for _ in range(70)]
    assert times == sorted(times) and states.lost > 50


def test_a_stop_has_its_figure_and_a_recording(tmp_path):
    with sim.ur(q=HOME, faults=["stall@4s:1s"]) as simulator:
        with Robot.ur(simulator.address, fault_recordings=tmp_path) as robot:
            robot.move_to(BESIDE)
            until(lambda: robot.why_stopped() is not None, 10.0)
            until(lambda: robot.why_stopped().recording is not None)
            stop = robot.why_stopped()
            assert stop.latched and os.path.getsize(stop.recording) > 10_000
            assert stop.figure is None or any(letter.isdigit() for letter in stop.figure)


def test_limits_of_motions_are_those_that_were_given(ur):
    with Robot.ur(ur.address, limits={"velocity": 1.5, "acceleration": 3.0}) as robot:
        robot.move_to(BESIDE, speed=1.3, acceleration=2.5)
        assert np.allclose(ur.q, BESIDE, atol=1e-3)
    with Robot.ur(ur.address, limits={"velocity": 0.3, "acceleration": 0.5}) as robot:
        robot.move_to(HOME)
        assert np.allclose(ur.q, HOME, atol=1e-3), "the defaults are no faster than the limits"
    with pytest.raises(ValueError, match="limits.velocity"):
        Robot.ur(ur.address, limits={"velocity": -1})


def test_an_arm_that_is_being_stopped_is_not_ready(ur, robot):
    moving = mover_until_stopped(robot, [])
    moving.start()
    until(lambda: abs(ur.qd[0]) > 0.2)
    stopping = threading.Thread(target=robot.stop)
    stopping.start()
    seen = set()
    while stopping.is_alive():
        if robot.mode == "Stopping":
            seen.update(robot.not_ready)
        time.sleep(0.001)
    moving.join()
    assert "the arm is being stopped" in seen
