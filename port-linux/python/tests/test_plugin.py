"""The fixture `ur` of the plugin, in a test of somebody's own."""

import re
import socket
import time
from xml.etree import ElementTree

import numpy as np
import pytest

from outrigger_robot import sim

FAILS = """
    import pytest
    import socket

    @pytest.mark.ur(model="ur10e", faults=["protective-stop@1s"])
    def test_weld(ur):
        with socket.create_connection((ur.host, ur.port(30001))) as program:
            program.sendall(b"def weld():\\n  textmsg(\\"<begin>\\")\\n  speedj([0.5, 0, 0, 0, 0, 0], 1, 60)\\nend\\n")
            q = ur.wait_until_at_rest()
        assert q[0] > 3.0, "it did not get there"
"""


def test_the_mark_chooses_the_controller(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.ur("3.15", model="ur10", q=[0.1, -1.5, -1.5, -1.5, 1.5, 0.0])
        def test_marked(ur):
            assert (ur.model, ur.q[0]) == ("ur10", 0.1) and ur.software.startswith("3.15")

        def test_plain(ur):
            assert ur.model == "ur5e" and ur.port(30004) == ur.port_base + 5

        @pytest.mark.ur("5.11", model="ur3e")
        class TestMarked:
            @pytest.mark.ur(model="ur16e")
            def test_nearest_mark(self, ur):
                assert ur.model == "ur16e" and ur.software.startswith("5.11")

        @pytest.mark.parametrize("ur", ["5.15", "3.15"], indirect=True)
        @pytest.mark.ur(faults=["delay@0::2ms"])
        def test_versions(ur, request):
            assert ur.software.startswith(request.node.callspec.params["ur"])
        """
    )
    pytester.runpytest("--strict-markers").assert_outcomes(passed=5)
    assert not (pytester.path / "outrigger-report").exists()


@pytest.mark.parametrize(
    ("mark", "arguments", "expected"),
    [
        ('ur(modl="ur10e")', "ur", "ur(modl='ur10e'): "),
        ('ur("five")', "ur", "ur('five'): software: expected MAJOR.MINOR"),
        ("ur(515)", "ur", "ur(515): "),
        ('ur(faults=["stal@2s"])', "ur", "ur(faults=['stal@2s']): faults: fault `stal@2s`: no kind `stal`"),
        ('ur("5.15")', "", "the mark `ur` has no effect: the test has no argument `ur`"),
        ('ur("5.15")\n@pytest.mark.parametrize("ur", ["3.15"], indirect=True)', "ur", "ur: both parametrize and the mark `ur` have '5.15' in place"),
    ],
)
def test_a_wrong_mark_is_an_error_that_names_it(pytester, mark, arguments, expected):
    pytester.makepyfile(f"import pytest\n\n@pytest.mark.{mark}\ndef test_it({arguments}):\n    pass\n")
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    assert expected in result.stdout.str()


@pytest.mark.parametrize("logging", ["no", "system-out", "system-out -o junit_log_passing_tests=false"])
def test_a_failure_writes_a_page_and_says_in_junit_what_the_arm_did(pytester, logging):
    pytester.makepyfile(test_cell=FAILS)
    result = pytester.runpytest("--junit-xml=junit.xml", "-o", *f"junit_logging={logging}".split())
    result.assert_outcomes(failed=1)
    page = pytester.path / "outrigger-report" / "test_cell.py" / "test_weld" / "ur.html"
    result.stdout.fnmatch_lines(["*simulated ur*", "model: ur10e", f"page: {page}"])

    text = page.read_text(encoding="utf-8")
    assert "<h1>test_cell.py::test_weld</h1>" in text and "it did not get there" in text
    assert "message: &lt;begin&gt;" in text and text.count("<figure>") == 4
    # The page loads nothing.
    assert not re.search(r"""(src|href)=|url\(|@import|fetch\(|https?://(?!www\.w3\.org)""", text)

    case = ElementTree.parse(pytester.path / "junit.xml").find(".//testcase")
    found = {entry.get("name"): entry.get("value") for entry in case.find("properties")}
    assert (found["ur.model"], found["ur.software"], found["ur.at_rest"]) == ("ur10e", "5.15.0", "true")
    assert 0.05 < float(found["ur.q"].split()[0]) < 0.6
    assert "safety mode PROTECTIVE_STOP" in found["ur.events"] and found["ur.page"] == str(page)
    output = [entry.text for entry in case.findall("system-out")]
    assert len(output) == 1 and f"[[ATTACHMENT|{page}]]" in output[0]


def test_the_folder_is_chosen_and_a_test_that_passes_again_has_no_page(pytester):
    pytester.makeini("[pytest]\noutrigger_report = of-the-setting")
    path = pytester.makepyfile(test_cell=FAILS)
    pytester.runpytest("--outrigger-report", "here/reports").assert_outcomes(failed=1)
    pytester.runpytest().assert_outcomes(failed=1)
    pages = ["here/reports/test_cell.py/test_weld/ur.html", "of-the-setting/test_cell.py/test_weld/ur.html"]
    assert all((pytester.path / page).exists() for page in pages)
    path.write_text(path.read_text(encoding="utf-8").replace("q[0] > 3.0", "q[0] < 3.0"), encoding="utf-8")
    pytester.runpytest().assert_outcomes(passed=1)
    assert [(pytester.path / page).exists() for page in pages] == [True, False]


def test_workers_of_xdist_have_their_own_controllers_pages_and_properties(pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(
        """
        import pytest
        import socket

        @pytest.mark.parametrize("number", range(16))
        @pytest.mark.parametrize("ur", ["5.15", "3.15"], indirect=True)
        def test_arm(ur, number):
            before = ur.q[5]
            with socket.create_connection((ur.host, ur.port(30002))) as program:
                program.sendall(f"movej([0, -1.57, -1.57, -1.57, 1.57, {0.01 + number / 100}], a=5, v=2)\\n".encode())
                q = ur.wait_until_at_rest(60)
            assert abs(q[5] - 0.01 - number / 100) < 1e-3, "another test's controller"
            assert sum("connected to port 30002" in text for _, text in ur.events()) <= 2
            assert number != 7, "on purpose"
        """
    )
    result = pytester.runpytest_subprocess("-n", "4", "--junit-xml=junit.xml", "-q")
    result.assert_outcomes(passed=30, failed=2)
    pages = sorted((pytester.path / "outrigger-report").rglob("ur.html"))
    assert len(pages) == 2 and len({page.parent for page in pages}) == 2
    xml = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert all(f"[[ATTACHMENT|{page}]]" in xml for page in pages) and xml.count('name="ur.events"') == 2


def test_the_history_is_that_of_the_true_arm():
    with sim.ur("3.15", faults=["hand@1s:500ms:20"]) as simulator:
        assert simulator.history().q.shape[1] == 6, "also of a history that has not begun"
        with socket.create_connection((simulator.host, simulator.port(30002))) as program:
            program.sendall(b"movej([0.4, -1.57, -1.57, -1.57, 1.57, 0.0], a=5, v=2)\n")
            q = simulator.wait_until_at_rest(20.0)
        time.sleep(1.0)
        past, events = simulator.history(), simulator.events()
        assert np.allclose(past.q[-1], q, atol=1e-4) and np.allclose(past.pose[-1], simulator.pose)
    assert past.time.shape == (len(past),) and all(a.shape == (len(past), 6) for a in (past.qd, past.pose, past.force))
    assert np.allclose(np.diff(past.time), 0.008) and past.q.base is None
    # The speeds are those of the angles.
    assert np.allclose(np.diff(past.q[:, 0]) / 0.008, past.qd[1:, 0], atol=0.05)
    assert past.force[:, 2].min() == pytest.approx(-20.0)
    texts = [text for _, text in events]
    assert texts[0] == "client 127.0.0.1 connected to port 30002" and "fault `hand` ends" in texts, texts
    assert all(0.0 <= at <= past.time[-1] + 0.1 for at, _ in events)
    # Also of a simulator that is closed.
    assert len(simulator.history()) >= len(past) and simulator.events()[: len(events)] == events
    assert "<figure>" in simulator.report("closed")


def test_an_arm_that_does_not_come_to_rest_is_a_timeout():
    with sim.ur("5.15") as simulator:
        with socket.create_connection((simulator.host, simulator.port(30002))) as program:
            program.sendall(b"speedj([0.2, 0, 0, 0, 0, 0], 1, 60)\n")
            with pytest.raises(TimeoutError, match="not at rest after 1 s"):
                simulator.wait_until_at_rest(1.0)
        with pytest.raises(ValueError, match="timeout: expected seconds, found -1"):
            simulator.wait_until_at_rest(-1)
    with pytest.raises(ValueError, match="closed"):
        simulator.wait_until_at_rest()
