"""Laws: whoever stops, cancels or forgets one, the arm rests and can be commanded again."""

import asyncio
import gc
import threading
import time

import numpy as np
import pytest
from test_commands import HOME, until

from outrigger_robot import ConnectionFailed, Rejected, Robot, Stopped, aio, sim

#: Turns the last joint until it is stopped.
TURN = {"kind": "twist", "expert": {"twist": [0.0, 0.0, 0.03, 0.0, 0.0, 0.0]}}
SENSOR = {"name": "gap", "input": "requests", "range": [0.0, 0.5]}
STANDOFF = {"kind": "standoff", "source": "gap", "distance": 0.05, "longest_approach": 0.2}


def stands(ur, seconds=0.5):
    """Returns whether the arm rests, and stays where it is."""
    until(lambda: ur.at_rest)
    before = ur.q.copy()
    time.sleep(seconds)
    return np.allclose(before, ur.q, atol=2e-4)


def moves_again(ur, robot):
    goal = ur.q + [0.05, 0, 0, 0, 0, 0]
    robot.move_to(goal)
    return np.allclose(ur.q, goal, atol=1e-3)


@pytest.mark.parametrize("delay", [0.0005, 0.05, 0.3, 1.0])
def test_a_stop_while_a_law_starts_is_not_lost(ur, robot, delay):
    raised, begins = [], threading.Event()

    def run():
        begins.set()
        try:
            with robot.run(TURN) as law:
                law.wait(5.0)
        except Stopped as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    begins.wait()
    time.sleep(delay)
    robot.stop()
    assert stands(ur)
    thread.join(20)
    assert len(raised) == 1 and moves_again(ur, robot)


def test_a_law_that_nobody_keeps_is_released(ur, robot):
    law = robot.run(TURN)
    until(lambda: np.abs(ur.qd).max() > 0.01)
    del law
    gc.collect()
    assert stands(ur) and moves_again(ur, robot)


def test_a_reading_after_a_stop_does_not_start_the_law(ur, robot):
    with robot.run(STANDOFF, SENSOR) as law:
        robot.stop()
        with pytest.raises(Stopped):
            law.sample(0.1)
        assert stands(ur)


def test_a_fault_of_a_law_is_kept_until_it_is_reset(ur, robot):
    with pytest.raises(Stopped), robot.run(STANDOFF, SENSOR) as law:
        until(lambda: law.sample(0.1) or robot.mode == "Command")
        law.wait(3.0)  # without readings
    stop = robot.why_stopped()
    assert stop.latched and stop.reason == "SourceStale"
    with pytest.raises(Rejected, match="call reset"):
        robot.move_to(HOME + [0.1, 0, 0, 0, 0, 0])
    robot.reset()
    assert moves_again(ur, robot)


def test_a_law_that_cannot_start_leaves_the_robot_as_it_was(ur, robot, tmp_path):
    file = tmp_path / "there.mcap"
    file.write_text("")
    with pytest.raises(ValueError, match="there.mcap"):
        robot.run(TURN, record=file)
    assert moves_again(ur, robot)


def test_closing_the_robot_ends_a_law(ur):
    robot = Robot.ur(ur.address)
    with robot.run(TURN) as law:
        until(lambda: np.abs(ur.qd).max() > 0.01)
        robot.close()
        assert stands(ur)
        with pytest.raises((ConnectionFailed, Stopped)):
            law.wait()


def test_wrong_tables_and_values_are_named(robot):
    for words, arguments in [
        ("host: expected a table of the control loop", {"host": {"cpu": 1}}),
        ("source: expected a table of the control loop", {"source": [SENSOR]}),
        ("limits.velocity", {"limits": {"velocity": 1 << 70}}),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            robot.run(TURN, **arguments)


@pytest.mark.parametrize("delay", [0.001, 0.01, 0.05, 0.5])
def test_a_cancelled_start_of_a_law_leaves_an_arm_at_rest(ur, delay):
    async def main():
        async with await aio.Robot.ur(ur.address) as robot:

            async def law():
                async with robot.run(TURN) as run:
                    await run.wait(10.0)

            task = asyncio.create_task(law())
            await asyncio.sleep(delay)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert stands(ur)
            await robot.move_to(ur.q + [0.05, 0, 0, 0, 0, 0])

    asyncio.run(main())


def test_freedrive_that_ends_at_once_has_ended(ur, robot):
    with robot.freedrive():
        pass
    time.sleep(1.5)
    assert robot.mode == "Command" and robot.why_stopped() is None


def test_an_earlier_mode_does_not_renew_a_later_one(ur, robot):
    first = robot.force([None, None, -5.0, None, None, None])
    robot.stop()
    second = robot.force([None, None, -5.0, None, None, None])
    with pytest.raises(Stopped):
        first.renew()
    second.renew()


def test_a_stop_waits_for_a_script_and_a_secondary_program_stops_nothing(ur, robot):
    turn = "def turn():\n  while True:\n    speedj([0.2,0,0,0,0,0], 1.0, 0.1)\n  end\nend\n"
    thread = threading.Thread(target=lambda: pytest.raises(Stopped, robot.script, turn))
    thread.start()
    until(lambda: abs(ur.qd[0]) > 0.1)
    robot.stop()
    assert np.abs(ur.qd).max() < 0.02
    thread.join(10)
    with sim.ur() as other:
        assert other.program_runs is False


def test_states_go_on_while_a_law_begins_and_ends(ur, robot):
    states, times = robot.states(), []
    over = threading.Event()

    def read():
        times.extend(state.time for state in states)
        over.set()

    reader = threading.Thread(target=read)
    reader.start()
    with robot.run(TURN):
        until(lambda: np.abs(ur.qd).max() > 0.01)
        during, read_so_far = robot.state.time, len(times)
        until(lambda: len(times) > read_so_far + 200)
    after = robot.state.time
    until(lambda: times[-1] > after)
    assert times == sorted(times) and any(during < moment < after for moment in times)
    robot.close()
    assert over.wait(2.0)
    reader.join()
