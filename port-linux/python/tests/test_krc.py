"""A KUKA LWR, judged by where the simulated arm truly is."""

import numpy as np
import pytest

from outrigger_robot import Rejected, Robot, sim

HOME = np.array([0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0])
BESIDE = HOME + np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture
def lwr(krc):
    with Robot.krc(krc.host, krc.remote) as robot:
        yield robot


def test_an_lwr_reaches_joint_angles_and_follows_waypoints(krc, lwr):
    assert lwr.state.q.shape == (7,)
    lwr.move_to(BESIDE)
    assert np.allclose(krc.q, BESIDE, atol=2e-3)
    lwr.follow([1.0, 2.0], [HOME, BESIDE])
    assert np.allclose(krc.q, BESIDE, atol=2e-3)


def test_a_stream_of_speeds_moves_an_lwr(krc, lwr):
    before = krc.q[6]
    with lwr.stream_speeds(timeout=0.2) as stream:
        for _, state in zip(range(100), lwr.states()):
            assert state.q.shape == (7,)
            stream.send([0, 0, 0, 0, 0, 0, 0.2])
    assert 0.05 < krc.q[6] - before < 0.2


def test_a_wrong_number_of_joints_is_named(lwr):
    with pytest.raises(ValueError, match="q: expected 7 finite numbers, found"):
        lwr.move_to([0.0] * 6)


def test_an_lwr_has_no_dashboard_and_no_force_mode(lwr):
    with pytest.raises(Rejected, match="a KUKA LWR has no dashboard"):
        lwr.dashboard("power on")
    with pytest.raises(Rejected, match="a KUKA LWR has no force mode"):
        lwr.force([None, None, -10, None, None, None])


def test_options_of_a_simulated_krc_are_checked():
    for words, arguments in [
        ("period_ms: expected 1 to 100, found 0", {"period_ms": 0}),
        ("q: expected 7 finite numbers", {"q": [0.0] * 6}),
        ("faults: ", {"faults": ["nonsense"]}),
        ("surface: expected a height in m, found NaN", {"surface": float("nan")}),
    ]:
        with pytest.raises(ValueError, match=words):
            sim.krc(**arguments)
