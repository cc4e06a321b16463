"""Fixtures of pytest: a simulated controller for a test of a robot program.

.. code-block:: python

    @pytest.mark.ur("5.11", model="ur10e", faults=["protective-stop@2s"])
    def test_my_program(ur):
        my_program(ur.host, port=ur.port(30001))
        assert ur.at_rest
"""

from collections.abc import Iterator

import pytest

from . import sim


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "krc(*, period_ms, q, faults): the simulated KRC of `krc`")
    config.addinivalue_line("markers", "ur(software='5.15', *, model, q, faults): the simulated controller of `ur`")


@pytest.fixture
def ur(request: pytest.FixtureRequest) -> Iterator[sim.SimulatedUr]:
    """A simulated controller on free ports, for one test. The mark `ur` has its arguments."""
    mark = request.node.get_closest_marker("ur")
    with sim.ur(*(mark.args if mark else ()), **(mark.kwargs if mark else {})) as simulator:
        yield simulator


@pytest.fixture
def krc(request: pytest.FixtureRequest) -> Iterator[sim.SimulatedKrc]:
    """A simulated KRC with a KUKA LWR, for one test. The mark `krc` has its arguments."""
    mark = request.node.get_closest_marker("krc")
    with sim.krc(*(mark.args if mark else ()), **(mark.kwargs if mark else {})) as simulator:
        yield simulator
