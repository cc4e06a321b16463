"""Fixtures of pytest: a simulated controller for a test of a robot program.

.. code-block:: python

    @pytest.mark.ur("5.11", model="ur10e", faults=["protective-stop@2s"])
    def test_my_program(ur):
        my_program(ur.host, port=ur.port(30001))
        assert ur.at_rest

After a failed test, ``outrigger-report/TEST/ur.html`` shows what the arm did.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Callable, Optional
from xml.etree import ElementTree

import pytest

from . import sim
from ._test_report import properties, report_folder

#: The kinds of simulated controllers: the name of a fixture and of its mark, with the signature of the mark.
_KINDS = {
    "krc": "krc(*, period_ms, q, faults, surface): the simulated KRC of the fixture `krc`",
    "ur": "ur(software='5.15', *, model, q, faults, surface): the simulated controller of the fixture `ur`",
}
_OPTION = "outrigger_report"
#: The values of the setting junit_logging with which pytest itself writes output into the JUnit file.
_OUTPUT = ("all", "system-out", "out-err")

#: The simulators of a test by the name of their fixture.
_SIMULATORS = pytest.StashKey[dict[str, sim.SimulatedUr]]()


@pytest.fixture
def ur(request: pytest.FixtureRequest) -> Iterator[sim.SimulatedUr]:
    """A simulated controller on free ports, for one test. The mark `ur` has its arguments.

    `@pytest.mark.parametrize("ur", ["5.15", "3.15"], indirect=True)` selects versions of the software.
    """
    yield from _simulator(request, sim.ur)


@pytest.fixture
def krc(request: pytest.FixtureRequest) -> Iterator[sim.SimulatedKrc]:
    """A simulated KRC with a KUKA LWR, for one test. The mark `krc` has its arguments. There is no page about it."""
    yield from _simulator(request, sim.krc)


def _simulator(request: pytest.FixtureRequest, start: Callable[..., Any]) -> Iterator[Any]:
    """Starts the simulator of a fixture with the arguments of the marks of its name, the nearest mark last."""
    kind = str(request.fixturename)
    arguments: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers(kind))):
        arguments = mark.args or arguments
        keywords.update(mark.kwargs)
    if hasattr(request, "param"):
        if arguments:
            pytest.fail(f"{kind}: both parametrize and the mark `{kind}` have {arguments[0]!r} in place", pytrace=False)
        arguments = (request.param,)
    simulator, wrong = None, ""
    try:
        simulator = start(*arguments, **keywords)
    except (TypeError, ValueError) as error:
        wrong = str(error)
    if simulator is None:
        given = [repr(value) for value in arguments] + [f"{name}={value!r}" for name, value in keywords.items()]
        pytest.fail(f"{kind}({', '.join(given)}): {wrong}\nexpected {_KINDS[kind]}", pytrace=False)
    with simulator:
        if isinstance(simulator, sim.SimulatedUr):
            request.node.stash.setdefault(_SIMULATORS, {})[kind] = simulator
        yield simulator


def pytest_addoption(parser: pytest.Parser) -> None:
    what = "folder for pages about failed tests with a simulated arm, relative to the rootdir"
    parser.getgroup("outrigger", "simulated robots").addoption(
        "--outrigger-report", dest=_OPTION, metavar="DIR", help=f"{what}; default: the setting {_OPTION}"
    )
    parser.addini(_OPTION, what, default="outrigger-report")


def pytest_configure(config: pytest.Config) -> None:
    for mark in _KINDS.values():
        config.addinivalue_line("markers", mark)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Attachments(config), "outrigger-attachments")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.own_markers:
        if mark.name in _KINDS and mark.name not in getattr(item, "fixturenames", [mark.name]):
            pytest.fail(f"the mark `{mark.name}` has no effect: the test has no argument `{mark.name}`", pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, Any, None]:
    outcome = yield
    if call.when != "call":
        return
    report = outcome.get_result()
    config = item.config
    folder = Path(config.rootpath, config.getoption(_OPTION) or config.getini(_OPTION))
    simulators = item.stash.get(_SIMULATORS, None) or {}
    for kind, simulator in simulators.items():
        try:
            page = folder / report_folder(item.nodeid) / f"{kind}.html"
            if not report.failed:
                page.unlink(missing_ok=True)  # of an earlier run
                continue
            found = properties(simulator)
            _write(folder, page, simulator.report(item.nodeid, report.longreprtext))
        except Exception as error:  # the failure of the test itself must be seen
            report.sections.append((f"simulated {kind}", f"no page: {error}"))
            continue
        item.user_properties.extend((f"{kind}.{name}", value) for name, value in found.items())
        item.user_properties.append((f"{kind}.page", str(page)))
        report.user_properties = list(item.user_properties)
        lines = [f"{name}: {value}" for name, value in found.items() if name != "events"]
        report.sections.append((f"simulated {kind}", "\n".join([*lines, f"page: {page}"])))
        if config.getini("junit_logging") in _OUTPUT:
            # In the JUnit file is the output of this report, or of the next one of the test.
            report.sections.append(("Captured stdout call", f"[[ATTACHMENT|{page}]]\n"))
            item.add_report_section("call", "stdout", f"[[ATTACHMENT|{page}]]\n")


def _write(folder: Path, page: Path, text: str) -> None:
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


class _Attachments:
    """Names the pages in the JUnit file, in the form that Jenkins and GitLab attach."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        xml = _junit(self.config)
        if xml is None or report.when != "call" or xml.logging in _OUTPUT:
            return
        pages = [value for name, value in report.user_properties if name in {f"{kind}.page" for kind in _KINDS}]
        if pages:
            output = ElementTree.Element("system-out")
            output.text = "\n".join(f"[[ATTACHMENT|{page}]]" for page in pages)
            xml.node_reporter(report).append(output)


def _junit(config: pytest.Config) -> Optional[Any]:
    """Returns pytest's writer of the JUnit file; None without such a file. pytest has no public interface for output in it."""
    try:
        from _pytest.junitxml import xml_key
    except ImportError:
        return None
    return config.stash.get(xml_key, None)
