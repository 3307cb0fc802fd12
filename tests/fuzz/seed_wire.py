#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seed corpus of fuzz_wire: one valid file per message type, and hostile ones.

    /usr/bin/python3 tests/fuzz/seed_wire.py [DIRECTORY]     (default: corpus/wire beside this file)

Needs the msgpack module (Debian: python3-msgpack), which packs the headers independently of our
encoder. The files are kept in the repository, so this runs only when a message changes.
"""
import pathlib
import sys

import msgpack

EPOCH, SEQUENCE = 0x0123456789ABCDEF, 7
INCARNATION = 0xFEDCBA9876543210
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
LOAD = [3, 4, 12500]

VALID = {
    "hello": [1, 1, 0, "app-1", EPOCH, 1000],
    "welcome": [1, 2, "a", INCARNATION, 1000, 8 << 20, 1024, 1024, 4] + LOAD + [15],
    "welcome_old": [1, 2, "a", INCARNATION, 1000, 8 << 20, 1024, 1024, 4] + LOAD,
    "request": [1, 3, EPOCH, SEQUENCE, 0, "work", 500000, 123456789, 3, INCARNATION, "b",
                INCARNATION - 1, b"key-1", 2, TRACE, b"hello"],
    "request_plain": [1, 3, EPOCH, SEQUENCE, 0, "work", 2**64 - 1, 0, 0, 0, None, 0, None, 0, None,
                      b""],
    "request_body_follows": [1, 3, EPOCH, SEQUENCE, 1, "work", 1, 1, 1, 1, "a", 1, None, 0, None,
                             None],
    "reply": [1, 4, EPOCH, SEQUENCE, 0, 0, 1, 1500, 10000] + LOAD + [b"hello"],
    "reply_body_follows": [1, 4, EPOCH, SEQUENCE, 0, 5, 3, 0, 1] + LOAD + [None],
    "reject": [1, 5, EPOCH, SEQUENCE, 1, 1] + LOAD,
    "cancel": [1, 6, EPOCH, SEQUENCE, 1],
    "started": [1, 7, EPOCH, SEQUENCE, 0],
    "untie": [1, 8, EPOCH, SEQUENCE, 1],
    "ping": [1, 9, 123456789],
    "pong": [1, 10, 123456789] + LOAD,
    "done": [1, 11, EPOCH, SEQUENCE, 0],
    "claim": [1, 12, EPOCH, SEQUENCE, 1, 2500, INCARNATION],
    "grant": [1, 13, EPOCH, SEQUENCE, 0],
    "deny": [1, 14, EPOCH, SEQUENCE, 0],
    "later_fields": [1, 9, 5, {"k": [1, 2.5, None, True, -7]}, msgpack.ExtType(1, b"x")],
}

HOSTILE = {
    "empty": b"",
    "array32_max": bytes.fromhex("ddffffffff"),
    "array32_2_28": bytes.fromhex("dd10000000"),
    "map32_max": bytes.fromhex("94010905dfffffffff"),
    "str32_max": bytes.fromhex("96010100dbffffffff"),
    "bin32_max": bytes.fromhex("9d0104010100000000000000" + "00" + "c6ffffffff"),
    "deep": bytes.fromhex("94010905") + b"\x91" * 200 + b"\xc0",
    "version_2": msgpack.packb([2, 9, 5]),
    "type_15": msgpack.packb([1, 15, 5]),
    "trailing": msgpack.packb([1, 9, 5]) + b"\x00",
    "name_nul": msgpack.packb([1, 1, 0, "a\0b", 1, 1]),
    "negative": msgpack.packb([1, 9, -5]),
    "float": msgpack.packb([1, 9, 5.0]),
    "never_used": bytes.fromhex("94010905c1"),
}


def main() -> None:
    default = pathlib.Path(__file__).parent / "corpus" / "wire"
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    target.mkdir(parents=True, exist_ok=True)
    for name, message in VALID.items():
        (target / name).write_bytes(msgpack.packb(message, use_bin_type=True))
    for name, data in HOSTILE.items():
        (target / f"hostile_{name}").write_bytes(data)


main()
