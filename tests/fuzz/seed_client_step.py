#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seed corpus of fuzz_client_step: one short script for each turn that a call can take.

    /usr/bin/python3 tests/fuzz/seed_client_step.py [DIRECTORY]
                                                (default: corpus/client_step beside this file)

The format is that of read_options (), read_event () and change_settings () in fuzz_client_step.c. The files are kept in
the repository, so this runs only when the format changes.
"""
import pathlib
import sys

SINGLE, TIED, PARK, EXCLUSIVE, AS_SET = 0, 1, 2, 3, 4
BUSY, DRAINING, STALE, DENIED = 1, 4, 8, 11
AUTO = 3
NEVER = b"\xff" * 9
NONE = b"\x00\x00"
LOAD = b"\x02\x01" + NONE
STAY = b"\x01"
MS_1 = b"\x14\x01"  # 1 << 20 ns


def event(kind: int, of: int, rest: bytes = b"", passes: bytes = b"") -> bytes:
    """of: which request of the past it concerns, counted from 0; passes: time that passes first."""
    return bytes([kind, of]) + rest + (b"\x00" + passes if passes else STAY)


def submit(mode: int = TIED, deadline: bytes = NEVER, stagger: bytes = NONE,
           token: int = 0) -> bytes:
    return event(1, 0, bytes([token, mode, 1]) + deadline + stagger)


def reply(of: int, flags: int = 0, status: int = 0) -> bytes:
    return event(3, of, bytes([status, flags]) + NONE + LOAD)


def settings(mode: int = TIED, bits: int = 1, hedge: int = 0, terms: bytes = b"",
             waits: int = 0) -> bytes:
    """Of method 0, or 1 with bit 0x80; the budget allows what it can, and is full after one call."""
    budget = bytes([0, 250, 0, 0, 0])
    return (bytes([0, bits, mode]) + budget + bytes([hedge, len(terms)]) + terms
            + bytes([0, 0, 0, waits]))


def reject(of: int, reason: int) -> bytes:
    return event(4, of, bytes([reason]) + LOAD)


def up(replica: int, incarnation: int) -> bytes:
    welcome = bytes([replica, incarnation, 1]) + NONE + LOAD
    return event(5, 0, bytes([replica])) + event(7, 0, welcome)


def down(replica: int) -> bytes:
    return event(6, 0, bytes([replica]))


def pong(replica: int) -> bytes:
    return event(8, 0, bytes([replica]) + NONE + LOAD)


def cancel(of: int) -> bytes:
    return event(2, of)


def unsent(of: int) -> bytes:
    return event(9, of)


def later(passes: bytes) -> bytes:
    return event(11, 0, b"", passes)


STOP = event(10, 0, b"\xff")


def script(*events: bytes, copies_max: int = 4, min_remaining: int = 0, sequence: int = 0) -> bytes:
    options = bytes([sequence, 2, 7, copies_max - 1, 0, 0, min_remaining, 19, 1])
    return options + MS_1 + b"".join(events)


TWO = up(0, 1) + up(1, 2)
THREE = TWO + up(2, 3)
DEADLINE = b"\x14\x05"

SEEDS = {
    "tie_won_by_the_first": script(TWO, submit(), reply(0, 1)),
    "tie_both_ran": script(TWO, submit(), reply(1, 3), reply(0, 3)),
    "answered_before_the_stagger": script(TWO, submit(stagger=MS_1), reply(0)),
    "stagger_then_deadline": script(TWO, submit(deadline=DEADLINE, stagger=MS_1), later(MS_1),
                                    later(DEADLINE), reply(0)),
    "refused_before_the_stagger": script(TWO, submit(stagger=MS_1), reject(0, BUSY), reply(1)),
    "refused_everywhere": script(THREE, submit(), reject(0, BUSY), reject(1, BUSY),
                                 reject(2, BUSY)),
    "draining_then_elsewhere": script(TWO, submit(SINGLE), reject(0, DRAINING), reply(1)),
    "stale_greets_again": script(up(0, 1), submit(SINGLE), reject(0, STALE), up(0, 4), reply(1)),
    "starter_lost_and_merged": script(TWO, submit(), down(0), reply(2), up(0, 4)),
    "reissue_refused": script(THREE, submit(), down(0), reject(2, BUSY), reply(3)),
    "reissue_meets_full_pipe": script(TWO, submit(), down(0), unsent(2), pong(1), reply(3)),
    "reissue_meets_full_pipe_no_room": script(TWO, submit(), down(0), unsent(2), copies_max=3),
    "doubtful_copy_near_deadline": script(TWO, submit(deadline=DEADLINE), later(b"\x13\x09"),
                                          down(0), reply(1), reply(0), min_remaining=1),
    "doubtful_copy_lost_too": script(TWO, submit(), down(0), unsent(2), down(1), up(0, 4),
                                     reply(3)),
    "no_room_to_tie": script(TWO, submit(), down(0), reply(0), down(1), copies_max=2),
    "waits_for_a_replica": script(submit(), submit(SINGLE, token=1), TWO, reply(0), reply(1)),
    "restart_under_us": script(TWO, submit(SINGLE), up(0, 5), up(1, 6), reply(1)),
    "silence": script(TWO, submit(), *[later(b"\x16\x06") for _ in range(4)], pong(0), reply(1)),
    "given_up": script(TWO, submit(), cancel(0), reply(0), reply(1), sequence=1),
    "parked_pair": script(TWO, submit(PARK), reply(1, 1)),
    "exclusive_pair": script(TWO, submit(EXCLUSIVE, deadline=DEADLINE), reply(1), reply(0)),
    "exclusive_refused_then_alone": script(THREE, submit(EXCLUSIVE, deadline=DEADLINE),
                                           reject(0, BUSY), reject(1, DENIED), reply(2)),
    "exclusive_lost_and_waited_for": script(TWO, submit(EXCLUSIVE, deadline=DEADLINE), down(0),
                                            reject(1, DENIED), later(DEADLINE)),
    "error_waits_for_the_other": script(TWO, settings(waits=1), submit(AS_SET),
                                        reply(0, 0, 2), reply(1)),
    "hedge_as_set": script(THREE, settings(SINGLE, 1, 1, b"\x04"), submit(AS_SET), reply(0),
                           submit(AS_SET), later(b"\x14\x04"), reply(2)),
    "automatic_hedge": script(TWO, settings(SINGLE, 1, AUTO), submit(AS_SET), reply(0),
                              submit(AS_SET), reply(1), submit(AS_SET), later(MS_1), reply(2)),
    "method_switched_off": script(TWO, settings(TIED, 0x8f), submit(0x40), reply(0)),  # 0x40 % 5: as set
    "stopped": script(TWO, submit(), submit(token=1), submit(token=2), STOP, submit(token=3)),
}


def main() -> None:
    default = pathlib.Path(__file__).parent / "corpus" / "client_step"
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    target.mkdir(parents=True, exist_ok=True)
    for name, data in SEEDS.items():
        (target / name).write_bytes(data)


main()
