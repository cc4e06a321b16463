"""Bytes of controllers, from memory, files, recordings and captures of the network."""

import gc
import os
import pathlib
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from pcap_bytes import FIN, SYN, pcap, pcapng, tcp, udp

import outrigger_robot
from outrigger_robot import ConnectionFailed, RecordingError, decode, decode_file, sim
from outrigger_robot.outrigger_native import command

PACKET = (pathlib.Path(__file__).parents[3] / "core/wire/examples/realtime-5.15.bin").read_bytes()


def packet(number: float) -> bytes:
    """Returns a packet of port 30003 with this time of the controller."""
    return PACKET[:4] + struct.pack(">d", number) + PACKET[12:]


def times(messages):
    return [message["time"] if "error" not in message else message["error"] for message in messages]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    file = tmp_path_factory.mktemp("decode") / "arm.mcap"
    with sim.ur("5.15") as simulator:
        words = ["outrigger", "record", simulator.address, "--out", str(file), "--duration", "2", "-q"]
        assert command(words) == 0
    return file


def test_messages_have_arrays_numbers_and_their_place():
    first, second = decode(packet(1.5) + packet(2.5))
    assert (first["offset"], second["offset"]) == (0, len(PACKET))
    assert (first["time"], second["time"], first["message_size"]) == (1.5, 2.5, len(PACKET))
    assert first["q_actual"].shape == (6,) and first["q_actual"].dtype == np.float64
    assert isinstance(first["digital_input_bits"], int) and "error" not in first
    assert times(decode(bytearray(packet(7)), port=30013)) == [7]
    assert list(decode(b"")) == []


def test_the_bytes_of_a_recording_are_the_states_of_its_channel(recorded):
    recording = outrigger_robot.open(recorded)
    data = b"".join(recording.columns("raw/30003")["data"])
    messages = list(decode(data))
    states = recording.columns("realtime", ["time", "q_actual"])
    assert len(messages) == len(states["time"]) > 500
    assert np.array_equal([message["time"] for message in messages], states["time"])
    assert np.array_equal([message["q_actual"] for message in messages], states["q_actual"])
    of_file = list(decode_file(recorded, 30003))
    assert [message["time"] for message in of_file] == times(messages)
    assert np.allclose([message["arrival_time"] for message in of_file], states["arrival_time"], atol=0.5)
    assert {message["port"] for message in of_file} == {30003}


def test_variables_of_rtde_have_the_names_of_the_request_or_of_the_recipe(recorded):
    data = [message for message in decode_file(recorded, 30004) if "actual_q" in message]
    assert len(data) > 500 and data[0]["actual_q"].shape == (6,)
    stream = b"".join(outrigger_robot.open(recorded).columns("raw/30004")["data"])
    unnamed = list(decode(stream, 30004))
    assert any("values" in message for message in unnamed) and "error" not in unnamed[-1]
    wrong = list(decode(stream, 30004, recipe=["timestamp"]))
    assert "names 1" in next(message["error"] for message in wrong if "error" in message)


def test_the_messages_of_the_primary_interface_have_groups(recorded):
    messages = list(decode_file(recorded, 30001))
    assert not [message for message in messages if "error" in message]
    nested = [value for message in messages for value in message.values() if isinstance(value, (dict, list))]
    assert len(messages) > 10 and nested


def test_all_ports_of_a_recording_are_decoded_without_a_port(recorded):
    assert {message["port"] for message in decode_file(recorded)} == {30001, 30003, 30004}
    with pytest.raises(RecordingError, match="nothing came from port 49938"):
        list(decode_file(recorded, "fri"))


def test_what_cannot_be_decoded_has_its_place_and_what_follows_is_decoded():
    damaged = packet(1) + bytes(700) + packet(2) + packet(3)
    messages = list(decode(damaged))
    errors = [message for message in messages if "error" in message]
    assert errors and errors[0]["offset"] == len(PACKET) and set(errors[0]) == {"offset", "error"}
    good = [message for message in messages if "error" not in message]
    assert times(good)[0] == 1 and times(good)[-1] == 3 and good[-1]["offset"] == len(damaged) - len(PACKET)
    (_, cut) = decode(packet(1) + packet(2)[:-5])
    assert cut["offset"] == len(PACKET) and "ends inside a message" in cut["error"]


@pytest.mark.parametrize("port", [30001, 30002, 30003, 30004, "variables", "fri"])
def test_any_bytes_are_errors_and_nothing_else(port):
    random = np.random.default_rng(7)
    for _ in range(50):
        data = random.integers(0, 256, random.integers(0, 3000), dtype=np.uint8).tobytes()
        # Lengths that a stream could have, too.
        for start in (b"", struct.pack(">i", max(len(data), 1)), struct.pack(">HB", max(len(data) % 65536, 3), 85)):
            for message in decode(start + data, port, recipe=["timestamp"] if port == 30004 else None):
                assert 0 <= message["offset"] <= len(start + data)


def test_wrong_arguments_are_named(tmp_path):
    for port in (80, "FRI", 3.5, -1, True):
        with pytest.raises(ValueError, match="port: expected 30001"):
            decode(b"", port)
    with pytest.raises(ValueError, match="recipe"):
        decode(b"", 30004, recipe=["timestamp,actual_q"])
    with pytest.raises(TypeError):
        decode("text")
    (tmp_path / "text").write_text("[robot]\n")
    with pytest.raises(RecordingError, match="port=30003") as raised:
        decode_file(tmp_path / "text")
    assert raised.value.position == 0
    with pytest.raises(RecordingError, match="regular file"):
        decode_file(tmp_path)
    with pytest.raises(FileNotFoundError, match="missing"):
        decode_file(tmp_path / "missing")


def test_a_file_of_bytes_is_decoded_with_its_port(tmp_path):
    (tmp_path / "bytes").write_bytes(b"".join(packet(n) for n in range(500)))
    assert times(decode_file(tmp_path / "bytes", 30003)) == list(range(500))


def captured(tmp_path, data, port=None):
    (tmp_path / "capture").write_bytes(data)
    return list(decode_file(tmp_path / "capture", port))


@pytest.mark.parametrize("form", [pcap, pcapng, lambda packets: pcap(packets, link=101)])
def test_connections_of_a_capture_are_put_together(tmp_path, form):
    stream = b"".join(packet(n) for n in range(6))
    # Around the largest sequence number; the second segment is late, the fourth one comes twice.
    cuts = [0, 700, 1500, 3000, 5000, len(stream)]
    parts = [tcp(stream[a:b], 2**32 - 99 + a) for a, b in zip(cuts, cuts[1:])]
    packets = [
        tcp(number=2**32 - 100, flags=SYN),
        tcp(b"", 7, sent=True),
        *(parts[n] for n in (0, 2, 1, 3, 3)),
        tcp(packet(50), 1, client=51001),
        parts[4],
        tcp(b"not a controller", port=80),
    ]
    messages = captured(tmp_path, form(packets))
    first = [message for message in messages if message["client"] == "192.168.56.1:51000"]
    assert times(first) == list(range(6)) and [m["offset"] for m in first] == [n * len(PACKET) for n in range(6)]
    other = [message for message in messages if message["client"] == "192.168.56.1:51001"]
    assert times(other) == [50] and other[0]["arrival_time"] == 1007.5 and other[0]["port"] == 30003


def test_bytes_that_a_capture_lacks_are_named_and_later_messages_are_found(tmp_path):
    parts = [tcp(packet(n), 1 + n * len(PACKET)) for n in range(4)]
    messages = captured(tmp_path, pcap([tcp(flags=SYN), parts[0], parts[2], parts[3]]))
    assert times(messages) == [0, f"{len(PACKET)} bytes are missing in the capture", 2, 3]
    assert messages[1]["offset"] == len(PACKET)
    # Without its beginning, and first in the midst of a message.
    half = len(PACKET) // 2
    rtde = [struct.pack(">HB", 5, ord("S")) + b"\1\1"[:2]] * 3
    late = [tcp(PACKET[half:], 5), tcp(packet(8), 5 + len(PACKET) - half), tcp(packet(9), 5 + 2 * len(PACKET) - half)]
    found = captured(tmp_path, pcap(late))
    assert "error" in found[0] and times(found)[-1] == 9
    assert [m["offset"] for m in captured(tmp_path, pcap([tcp(b"".join(rtde), 1, port=30004)]))]


def test_a_connection_that_begins_again_is_decoded_from_its_beginning(tmp_path):
    packets = [tcp(flags=SYN), tcp(packet(1)[:600], 1), tcp(number=9000, flags=SYN), tcp(packet(2), 9001)]
    assert times(captured(tmp_path, pcap(packets))) == [2]


def test_a_hundred_connections_one_after_another_fit_and_at_once_are_too_many(tmp_path):
    def connection(n, *after):
        return [tcp(flags=SYN, client=40000 + n), tcp(packet(n), 1, client=40000 + n), *after]

    one_after_another = [p for n in range(100) for p in connection(n, tcp(flags=FIN, client=40000 + n))]
    messages = captured(tmp_path, pcap(one_after_another))
    assert times(messages) == list(range(100)) and {message["offset"] for message in messages} == {0}
    at_once = [p for n in range(100) for p in connection(n)]
    messages = captured(tmp_path, pcap(at_once))
    errors = [message["error"] for message in messages if "error" in message]
    assert len(messages) == 65 and errors == ["left out: more than 64 connections at a time"]


def test_datagrams_of_fri_are_decoded_in_both_directions(tmp_path):
    file = tmp_path / "lwr.mcap"
    simulator = subprocess.Popen([sys.executable, "-m", "outrigger_robot", "sim", "krc", "--remote", "49952", "-q"])
    try:
        words = ["record", "127.0.0.1", "--kind", "krc", "--listen", "49952", "--out", str(file), "--duration", "1", "-q"]
        assert command(["outrigger", *words]) == 0
    finally:
        simulator.kill()
        simulator.wait()
    recording = outrigger_robot.open(file)
    measured = list(recording.columns("raw/49938")["data"])
    sent = list(recording.columns("raw/49938/sent")["data"])
    packets = [udp(data, 50000, 49938) for data in measured] + [udp(data, 49938, 50000) for data in sent]
    messages = captured(tmp_path, pcap([*packets[:5], udp(b"noise", 50000, 49938), *packets[5:]]))
    kinds = [message.get("message") for message in messages]
    assert kinds.count("measurement") == len(measured) > 50 and kinds.count("command") == len(sent) > 50
    assert messages[0]["msr_jnt_pos"].shape == (7,)


def test_a_capture_that_is_cut_or_damaged_delivers_what_is_before(tmp_path):
    for form in (pcap, pcapng):
        whole = form([tcp(packet(n), n * len(PACKET)) for n in range(4)])
        for data in (whole[:-40], whole[:-2000] + b"\xff" * 2000):
            (tmp_path / "capture").write_bytes(data)
            messages = []
            with pytest.raises(RecordingError, match="damaged at byte") as raised:
                for message in decode_file(tmp_path / "capture"):
                    messages.append(message)
            assert len(messages) >= 2 and 0 < raised.value.position < len(data)
    with pytest.raises(RecordingError, match="nothing came from port 30004"):
        captured(tmp_path, whole, 30004)


def test_an_iterator_that_is_not_read_holds_neither_thread_nor_memory(tmp_path):
    (tmp_path / "large").write_bytes(packet(1) * 50_000)
    threads = len(os.listdir("/proc/self/task"))
    before = int(open("/proc/self/statm").read().split()[1])
    iterators = [decode_file(tmp_path / "large", 30003) for _ in range(5)]
    for iterator in iterators:
        assert next(iterator)["time"] == 1
    pages = int(open("/proc/self/statm").read().split()[1]) - before
    assert pages * os.sysconf("SC_PAGE_SIZE") < 120 << 20
    del iterator, iterators
    gc.collect()
    until = time.monotonic() + 5
    while len(os.listdir("/proc/self/task")) > threads:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_threads_share_an_iterator_and_a_fork_has_none(tmp_path):
    (tmp_path / "bytes").write_bytes(packet(1) * 5000)
    messages = decode_file(tmp_path / "bytes", 30003)
    counts = []
    readers = [threading.Thread(target=lambda: counts.append(sum(1 for _ in messages))) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(60)
    assert sum(counts) == 5000
    messages = decode_file(tmp_path / "bytes", 30003)
    child = os.fork()
    if child == 0:
        try:
            next(messages)
        except ConnectionFailed:
            os._exit(3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


def test_segments_that_wait_for_earlier_ones_take_little_memory(tmp_path):
    file, segments = tmp_path / "gaps.pcap", 200
    # Every second segment is missing, at 8 connections: 96 MB would wait.
    packets = [tcp(number=0, flags=SYN, client=51000 + client) for client in range(8)]
    for n in range(segments):
        packets += [tcp(bytes(60_000), 60_002 + n * 120_000, client=51000 + client) for client in range(8)]
    file.write_bytes(pcap(packets))
    program = """if True:
        import resource, sys
        from outrigger_robot import decode_file
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        before = peak()
        errors = [message["error"] for message in decode_file(sys.argv[1]) if "error" in message]
        print(sum("missing" in error for error in errors), (peak() - before) // 1024)
    """
    missing, megabytes = map(int, subprocess.check_output([sys.executable, "-c", program, str(file)]).split())
    assert missing == 8 * segments and megabytes < 48
