"""Captures of the network that are written byte by byte."""

import struct

CONTROLLER = bytes([192, 168, 56, 101])
CLIENT = bytes([192, 168, 56, 1])
SYN, FIN, ACK = 2, 1, 16


def ip(source: bytes, target: bytes, protocol: int, payload: bytes) -> bytes:
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0) + source + target + payload


def tcp(payload=b"", number=0, *, port=30003, client=51000, flags=ACK, sent=False) -> bytes:
    """Returns the IP packet of a segment to the client, or, if `sent`, to the controller."""
    ports = (client, port) if sent else (port, client)
    header = struct.pack(">HHIIBBHHH", *ports, number % 2**32, 0, 5 << 4, flags, 0xFFFF, 0, 0)
    return ip(*((CLIENT, CONTROLLER) if sent else (CONTROLLER, CLIENT)), 6, header + payload)


def udp(payload: bytes, source: int, target: int) -> bytes:
    return ip(CONTROLLER, CLIENT, 17, struct.pack(">HHHH", source, target, 8 + len(payload), 0) + payload)


def ethernet(packet: bytes) -> bytes:
    return bytes(12) + b"\x08\x00" + packet


def pcap(packets, link=1) -> bytes:
    """Returns a capture of packets in Ethernet frames, the first at 1000 s, then one each second."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)]
    for n, packet in enumerate(packets):
        frame = ethernet(packet) if link == 1 else packet
        parts.append(struct.pack("<IIII", 1000 + n, 500_000, len(frame), len(frame)) + frame)
    return b"".join(parts)


def block(kind: int, body: bytes) -> bytes:
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def pcapng(packets) -> bytes:
    """Returns a capture like `pcap`, with nanoseconds."""
    nanoseconds = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
    parts = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", 1, 0, 65535) + nanoseconds),
    ]
    for n, packet in enumerate(packets):
        frame = ethernet(packet)
        time = (1000 + n) * 10**9 + 5 * 10**8
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
        parts.append(block(6, head + frame + bytes(-len(frame) % 4)))
    return b"".join(parts)
