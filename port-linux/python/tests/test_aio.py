"""The awaitable forms, judged by where the simulated arm truly is."""

import asyncio

import numpy as np
import pytest

from outrigger_robot import aio

HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])


def test_calls_are_awaited_while_the_event_loop_goes_on(ur):
    async def main():
        async with await aio.Robot.ur(ur.address) as robot:
            moving = asyncio.create_task(robot.move_to(HOME + [0.3, 0, 0, 0, 0, 0]))
            turns = 0
            async for state in robot.states():
                turns += 1
                if moving.done():
                    break
            await moving
            assert turns > 100 and state.q.shape == (6,)

    asyncio.run(main())
    assert np.allclose(ur.q, HOME + [0.3, 0, 0, 0, 0, 0], atol=1e-3)


def test_a_cancelled_motion_stops_the_arm_before_it_is_raised(ur):
    async def main():
        async with await aio.Robot.ur(ur.address) as robot:
            moving = asyncio.create_task(robot.move_to(HOME + [2.0, 0, 0, 0, 0, 0]))
            while abs(ur.qd[0]) < 0.1:
                await asyncio.sleep(0.01)
            moving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await moving
            assert ur.at_rest and robot.mode == "Monitor"

    asyncio.run(main())
    assert abs(ur.q[0]) < 1.9


def test_streams_and_force_mode_end_with_their_block(ur):
    async def main():
        async with await aio.Robot.ur(ur.address) as robot:
            async with robot.stream_speeds(timeout=0.2) as stream:
                for _ in range(50):
                    stream.send([0.2, 0, 0, 0, 0, 0])
                    await asyncio.sleep(0.01)
            assert np.abs(ur.qd).max() < 0.05 and ur.q[0] > 0.02
            async with robot.force([None, None, -5.0, None, None, None]) as force:
                await force.wait(0.5)

    asyncio.run(main())
