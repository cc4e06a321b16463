"""Recordings of simulated arms: what they contain, and what damaged and foreign ones say."""

import pathlib
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest
from mcap_bytes import log, mcap

import outrigger_robot
from outrigger_robot import OutriggerError, RecordingError, sim
from outrigger_robot.outrigger_native import command

RUN = """
[robot]
address = "127.0.0.1"
[run]
request = "start"
end = "done"
recordings = "{folder}"
[session.expert.grade.perfect]
jitter = 0.2
delay = 0.2
misses = 100
received = 0.1
[session.expert.grade.ok]
jitter = 0.2
delay = 0.2
misses = 100
received = 0.1
[session.expert.grade.bad]
jitter = 0.2
delay = 0.2
misses = 100
received = 0.1
[law]
kind = "joint-servo"
relative = true
[[law.waypoint]]
at = 0.0
degrees = [0, 0, 0, 0, 0, 0]
[[law.waypoint]]
at = 20.0
degrees = [0, 0, 0, 0, 0, 20]
"""


def outrigger(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "outrigger_robot", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the recording of a run that ended by a protective stop, and that of the fault."""
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "run.toml").write_text(RUN.format(folder=folder / "faults"))
    # On a busy machine, a run may end earlier by another fault.
    for _ in range(5):
        shutil.rmtree(folder / "faults", ignore_errors=True)
        (folder / "run.mcap").unlink(missing_ok=True)
        with sim.ur("5.15", faults=["protective-stop@4s"]) as simulator:
            words = ["--robot", simulator.address, "--record", folder / "run.mcap", "-q"]
            run = outrigger("run", folder / "run.toml", *words)
            said, _ = run.communicate(timeout=60)
        if run.returncode == 4 and b"(ProtectiveStop)" in said:
            return folder
    pytest.fail(said.decode())


@pytest.fixture(scope="module")
def recording(folder):
    return outrigger_robot.open(folder / "run.mcap")


@pytest.fixture(scope="module")
def fault_file(folder):
    (file,) = (folder / "faults").iterdir()
    return file


def test_the_channels_of_a_run_are_tables_with_a_row_for_each_message(recording):
    joints = recording.columns("joint_states")
    count = recording.channels["/joint_states"]
    assert count > 500 and joints["arrival_time"].shape == (count,)
    assert joints["position"].shape == (count, 6) and joints["position"].dtype == np.float64
    assert np.all(np.diff(joints["arrival_time"]) >= 0) and joints["arrival_time"][0] > 1.7e9
    moved = joints["position"][-1] - joints["position"][0]
    assert moved[5] > 0.005 and np.allclose(moved[:5], 0, atol=1e-3)
    assert recording.columns("/io", ["inputs"])["inputs"].shape[1] == 18
    assert recording.columns("modes")["safety_mode_name"][0] == "NORMAL"
    received = b"".join(recording.columns("raw/30003")["data"])
    assert b"".join(recording.columns("raw/30003", ["data"])["data"]) == received
    assert list(recording.columns("raw/30003", ["arrival_time"])) == ["arrival_time"]
    with pytest.raises(KeyError, match="time"):
        recording.columns("raw/30003", ["time"])
    assert len(received) > 10_000 and int.from_bytes(received[:4], "big") in (1108, 1116, 1140, 1220)


def test_every_channel_of_a_run_has_as_many_rows_as_messages(recording):
    for name, count in recording.channels.items():
        assert {len(column) for column in recording.columns(name).values()} == {count}, name


def test_fields_are_selected_and_wrong_names_are_errors(recording):
    assert list(recording.columns("tool_pose", ["pose.position"])) == [
        "arrival_time",
        "pose.position.x",
        "pose.position.y",
        "pose.position.z",
    ]
    with pytest.raises(KeyError, match="no channel .*it has .*joint_states"):
        recording.columns("nothing")
    with pytest.raises(KeyError, match="no field .nonsense"):
        recording.columns("tool", ["pose", "nonsense"])


def test_the_fault_has_reason_advice_and_time(recording):
    fault = recording.fault
    assert fault.reason == "ProtectiveStop" and "protective stop" in fault.text
    assert fault.text and fault.advice and fault.reason in str(fault)
    arrivals = recording.columns("link")["arrival_time"]
    assert arrivals[0] < fault.time < arrivals[-1] + 1
    assert recording.why_stopped().reason == fault.reason
    texts = [event.text for event in recording.events]
    assert any(text.startswith("Command → ") and fault.text in text for text in texts), texts
    times = [event.time for event in recording.events]
    assert times == sorted(times) and {event.severity for event in recording.events} <= {"info", "warning", "error"}


def test_the_facts_say_what_was_recorded_and_lost(recording):
    assert recording.entries_lost == 0 and recording.metadata["entries_lost"] == "0"
    assert recording.metadata["robot"].startswith("127.0.0.1") and recording.damage is None
    assert sum(recording.channels.values()) == int(recording.metadata["messages"])


def test_the_engine_decides_the_same_again(recording):
    replay = recording.replay()
    assert replay and replay.same and replay.difference is None
    assert replay.inputs > 500 and replay.commands > 100 and replay.transitions >= 4 and replay.seconds > 2
    assert any("Command → " in text and recording.fault.reason in text for _, text in replay.lines)


def test_the_recording_of_a_fault_has_the_fault_and_the_replay(fault_file, recording):
    fault = outrigger_robot.open(str(fault_file))
    assert fault.channels == {} and fault.fault.reason == recording.fault.reason
    assert any("Command → " in event.text for event in fault.events)
    assert fault.replay().same
    with pytest.raises(KeyError, match="it has none"):
        fault.columns("joint_states")


def test_a_changed_command_is_the_first_difference(fault_file, tmp_path):
    whole = fault_file.read_bytes()
    at = whole.rfind(b"speedj([0.000000")
    (tmp_path / "changed").write_bytes(whole[:at] + b"speedj([0.000001" + whole[at + 16 :])
    changed = outrigger_robot.open(tmp_path / "changed")
    replay = changed.replay()
    assert not replay and not replay.same and replay.difference.startswith("first difference: "), replay
    assert changed.fault.reason == "ProtectiveStop"


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_have_a_column_for_each_number_or_say_what_to_install(recording, monkeypatch, name):
    frame = getattr(recording, name)
    monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(DataFrame=dict))
    columns = frame("tool", ["pose"])
    assert list(columns) == ["arrival_time", *(f"pose_{n}" for n in range(6))]
    assert np.array_equal(columns["pose_2"], recording.columns("tool")["pose"][:, 2])
    assert frame("modes")["robot_mode_name"][0] == "RUNNING"
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"pip install {name}"):
        frame("tool")


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_real_frame_has_the_shape_of_the_table(recording, name):
    pytest.importorskip(name)
    frame = getattr(recording, name)("joint_states")
    assert frame.shape == (recording.channels["/joint_states"], 31)


def test_a_cut_recording_says_where_and_delivers_the_part_before(folder, recording, tmp_path):
    whole = (folder / "run.mcap").read_bytes()
    cut = tmp_path / "cut.mcap"
    for size in (len(whole) * 2 // 3, len(whole) - 1):
        cut.write_bytes(whole[:size])
        with pytest.raises(RecordingError, match="is not complete") as raised:
            outrigger_robot.open(cut)
        assert 0 < raised.value.position <= size and isinstance(raised.value, OutriggerError)
        part = outrigger_robot.open(cut, partial=True)
        assert part.damage.position == raised.value.position
        rows = len(part.columns("joint_states")["arrival_time"])
        assert 0 < rows == part.channels["/joint_states"] <= recording.channels["/joint_states"]
        assert part.replay().same and part.replay().inputs <= recording.replay().inputs


def test_a_damaged_chunk_is_not_delivered(folder, recording, tmp_path):
    damaged = bytearray((folder / "run.mcap").read_bytes())
    damaged[len(damaged) // 2] ^= 0x10
    (tmp_path / "damaged.mcap").write_bytes(damaged)
    with pytest.raises(RecordingError, match="is damaged at byte") as raised:
        outrigger_robot.open(tmp_path / "damaged.mcap")
    assert str(raised.value.position) in str(raised.value)
    part = outrigger_robot.open(tmp_path / "damaged.mcap", partial=True)
    assert part.channels["/joint_states"] < recording.channels["/joint_states"]


def test_a_cut_recording_of_a_fault_is_refused(fault_file, tmp_path):
    whole = fault_file.read_bytes()
    for size in (9, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(RecordingError) as raised:
            outrigger_robot.open(tmp_path / "cut", partial=True)
        assert raised.value.position == size


def test_files_that_are_no_recordings_are_refused(tmp_path):
    (tmp_path / "text.txt").write_text("[robot]\n")
    (tmp_path / "text.mcap").write_text("[robot]\n")
    (tmp_path / "empty.mcap").touch()
    (tmp_path / "empty").touch()
    (tmp_path / "ros.mcap").write_bytes(mcap([("/joint_states", 1.0, b"\0\1\0\0cdr")]))
    (tmp_path / "folder.mcap").mkdir()
    wrong = {
        "text.txt": "expected an MCAP file",
        "text.mcap": "is no recording",
        "empty.mcap": "empty",
        "empty": "empty",
        "ros.mcap": "of another program: .*/joint_states",
        "folder.mcap": "regular file",
    }
    for name, words in wrong.items():
        for partial in (False, True):
            with pytest.raises(RecordingError, match=words):
                outrigger_robot.open(tmp_path / name, partial=partial)
    with pytest.raises(FileNotFoundError, match="missing"):
        outrigger_robot.open(tmp_path / "missing.mcap")


def test_lost_entries_are_counted_and_make_a_replay_impossible(tmp_path):
    lines = [log(1, "recorder", "3 entries lost: the file could not be written as fast", 3), log(2, "recorder", "4 entries lost")]
    (tmp_path / "gaps.mcap").write_bytes(mcap(lines))
    gaps = outrigger_robot.open(tmp_path / "gaps.mcap")
    assert gaps.entries_lost == 7 and gaps.events[0].severity == "warning"
    with pytest.raises(RecordingError, match="with gaps cannot be replayed"):
        gaps.replay()


def test_a_release_is_no_fault_and_one_after_it_is(tmp_path):
    lines = [log(1, "transition", "Arming → Command"), log(2, "transition", "Command → Stopping: finished (early)")]
    later = log(3, "transition", "Stopping → Offline: no connection to the controller (LinkClosed)")
    for messages, fault in ((lines, None), ([*lines, later], "LinkClosed")):
        (tmp_path / "end.mcap").write_bytes(mcap(messages, {"robot": "here"}))
        ended = outrigger_robot.open(tmp_path / "end.mcap")
        why = ended.why_stopped()
        assert (why.reason, why.text, why.time) == ("Released", "finished (early)", 2.0)
        assert (ended.fault and ended.fault.reason) == fault and ended.metadata == {"robot": "here"}


def table(tmp_path, rows):
    messages = [log(0, "link", "x"), *(("/x", n, row) for n, row in enumerate(rows))]
    (tmp_path / "table.mcap").write_bytes(mcap(messages))
    return outrigger_robot.open(tmp_path / "table.mcap").columns("x")


def test_columns_have_the_type_that_holds_all_values(tmp_path):
    columns = table(
        tmp_path,
        [
            {"late": None, "bool": True, "number": 1, "gap": 1, "text": "a", "grows": [1], "nest": {"x": [1, 2]}},
            {"late": [1.5], "bool": False, "number": 2.5, "text": None, "grows": [1, 2, 3], "nest": {"x": [3, 4]}},
            {"late": [None], "bool": True, "number": 3, "gap": 3, "text": "b", "grows": [], "nest": {"x": [5, 6]}},
        ],
    )
    nan = np.nan
    expected = {
        "arrival_time": [0.0, 1.0, 2.0],
        "late": [[nan], [1.5], [nan]],
        "bool": np.array([True, False, True]),
        "number": [1.0, 2.5, 3.0],
        "gap": [1.0, nan, 3.0],
        "grows": [[1, nan, nan], [1, 2, 3], [nan, nan, nan]],
        "nest.x": np.array([[1, 2], [3, 4], [5, 6]]),
    }
    assert list(columns["text"]) == ["a", None, "b"]
    for name, values in expected.items():
        found = columns[name]
        assert found.dtype == np.asarray(values).dtype and np.array_equal(found, values, equal_nan=found.dtype == float)
    mixed = table(tmp_path, [{"v": 1}, {"v": "x"}, {"v": [1, {"a": 2}]}, {"v": [1, 2]}])["v"]
    assert list(mixed) == ["1", "x", '[1,{"a":2}]', "[1, 2]"]


def test_a_message_that_is_no_object_is_an_error_with_the_channel(tmp_path):
    for data in (b"[1]", b"{", b'{"a": 1} x', b""):
        with pytest.raises(RecordingError, match="a message of /x: expected a JSON object"):
            table(tmp_path, [{"a": 1}, data])


MEMORY = """
import resource, sys
import outrigger_robot
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
recording = outrigger_robot.open(sys.argv[1])
rows = len(recording.columns("x")["a"])
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_does_not_grow_with_the_file(tmp_path):
    noise = bytes(1 << 20)
    large = [message for n in range(200) for message in (("/raw/30001", n, noise), ("/x", n, {"a": n}))]
    (tmp_path / "large.mcap").write_bytes(mcap(large))
    said = subprocess.run([sys.executable, "-c", MEMORY, tmp_path / "large.mcap"], capture_output=True, text=True, check=True)
    rows, kilobytes = map(int, said.stdout.split())
    assert rows == 200 and kilobytes < 20_000, said.stdout


def test_a_recording_of_a_krc_has_seven_joints_and_torques(tmp_path):
    port, file = "49951", tmp_path / "lwr.mcap"
    simulator = outrigger("sim", "krc", "--remote", port, "-q")
    try:
        words = ["record", "127.0.0.1", "--kind", "krc", "--listen", port, "--out", str(file), "--duration", "2", "-q"]
        assert command(["outrigger", *words]) == 0
    finally:
        simulator.kill()
        simulator.communicate()
    recording = outrigger_robot.open(file)
    joints = recording.columns("joint_states")
    count = recording.channels["/joint_states"]
    assert count > 100 and joints["position"].shape == joints["external_torque"].shape == (count, 7)
    with pytest.raises(RecordingError, match="nothing ran"):
        recording.replay()
    assert pathlib.Path(recording.path) == file
