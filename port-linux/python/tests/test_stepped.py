"""The simulated controller in virtual time."""

import time

import numpy as np
import pytest

from outrigger_robot import sim

HOME = np.radians([0.0, -90.0, -90.0, -90.0, 90.0, 0.0])

PICK = """
def pick():
  movej({above}, 1.4, 1.0)
  set_digital_out(0, True)
  while get_digital_in(0) == False:
    sync()
  end
  movej({home}, 1.4, 1.0)
  set_digital_out(0, False)
end
"""


def test_a_program_runs_in_virtual_time_and_waits_for_an_input():
    above = HOME + [0.5, 0, 0, 0, 0, 0]
    simulator = sim.stepped_ur("5.15", q=HOME)
    begun = time.monotonic()
    simulator.send(PICK.format(above=above.tolist(), home=HOME.tolist()))
    simulator.step(5.0)
    assert np.allclose(simulator.q, above, atol=1e-4) and simulator.at_rest
    assert simulator.outputs == 1 and simulator.program_runs
    simulator.set_inputs(1)
    simulator.step(5.0)
    assert np.allclose(simulator.q, HOME, atol=1e-4)
    assert simulator.outputs == 0 and not simulator.program_runs
    assert simulator.time == pytest.approx(10.0) and time.monotonic() - begun < 5.0


def test_an_error_of_a_program_is_an_event():
    simulator = sim.stepped_ur()
    simulator.send("def wrong():\n  movej(nowhere)\nend")
    simulator.step(1.0)
    texts = [text for _, text in simulator.events()]
    assert any("nowhere" in text for text in texts), texts
    assert simulator.events() == []


def test_a_run_repeats_exactly():
    def run():
        simulator = sim.stepped_ur(q=HOME, faults=["protective-stop@1s"])
        simulator.send("speedj([0.3, 0, 0, 0, 0, 0], 1.0, 5.0)")
        simulator.step(3.0)
        return simulator.q.tolist(), simulator.events()

    first = run()
    assert first == run()
    assert 0.1 < first[0][0] < 0.4


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), 3601.0])
def test_a_wrong_step_is_rejected(seconds):
    with pytest.raises(ValueError, match="seconds: expected 0 to 3600"):
        sim.stepped_ur().step(seconds)
