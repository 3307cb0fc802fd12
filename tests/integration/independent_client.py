# SPDX-License-Identifier: MIT
"""A TIED/1 client that shares no code with the project: it was written from docs/protocol.md alone.

It checks two replicas against that page and prints `ok NAME` or `not ok NAME: why` for each check; the
exit code is 1 if any failed, 77 if a module is missing. Either it starts the replicas itself,

    independent_client.py --replica-program PATH

or it is given two that run, each the other's peer, with one worker, whose method `work` takes a few
tenths of a second:

    independent_client.py a=tcp://127.0.0.1:5000 b=tcp://127.0.0.1:5001
"""
import argparse
import collections
import contextlib
import itertools
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time

try:
    import msgpack
    import zmq
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VERSION = 1
HELLO, WELCOME, REQUEST, REPLY, REJECT, CANCEL, STARTED, UNTIE, PING, PONG = range(1, 11)
BUSY, FULL, TOO_LATE, DRAINING, NOT_PERMITTED, UNKNOWN_METHOD, EXPIRED, STALE, TOO_LARGE = range(1, 10)
CANCEL_WON, CANCEL_DEADLINE, CANCEL_CALLER = range(1, 4)
IDEMPOTENT, TIED, LAST, REISSUE = 1, 2, 4, 8
SIBLING_TOLD, SIBLING_STARTED = 1, 2
NO_DEADLINE = 2**64 - 1

HEARTBEAT_S = 0.2
WAIT_S = 10  # longest wait for anything that must come
SERVICE = "sleep:fixed(500ms)"  # long against every delay that is not meant

LOAD = ("depth", "running", "wait")
FIELDS = {  # after version and type
    WELCOME: ("id", "incarnation", "time", "body_max", "inline_max", "queue_depth", "workers", *LOAD),
    REPLY: ("epoch", "sequence", "copy", "status", "flags", "queue_time", "service_time", *LOAD, "body"),
    REJECT: ("epoch", "sequence", "copy", "reason", *LOAD),
    PONG: ("time", *LOAD),
}
TYPES = {"id": str, "body": bytes}  # all others are unsigned integers
SHAPES = {kind: collections.namedtuple("Message", ("kind", *names)) for kind, names in FIELDS.items()}


class Failed(Exception):
    """A check did not hold."""


def expect(condition, why):
    if not condition:
        raise Failed(why)


def now_us():
    return time.monotonic_ns() // 1000


def pack(*elements):
    return msgpack.packb(list(elements), use_bin_type=True)


def parse(frames):
    """Return the message of these frames; fail if it is not one that a replica may send to a client."""
    # Names are bytes that nobody checks for UTF-8.
    header = msgpack.unpackb(frames[0], raw=False, unicode_errors="surrogateescape")
    expect(isinstance(header, list) and header[0] == VERSION, f"no TIED/1 header: {header!r}")
    expect(header[1] in FIELDS, f"a replica sent type {header[1]}")
    names = FIELDS[header[1]]
    fields = dict(zip(names, header[2:]))
    expect(len(fields) == len(names), f"too few elements: {header!r}")
    follows = "body" in fields and fields["body"] is None
    expect(len(frames) == 1 + follows, f"{len(frames)} frames for {header!r}")
    if follows:
        fields["body"] = frames[1]
    for name, value in fields.items():
        right = type(value) is TYPES.get(name, int) and (type(value) is not int or value >= 0)
        expect(right, f"{name} is {value!r}")
    return SHAPES[header[1]](header[1], **fields)


class Link:
    """A connection to one replica."""

    def __init__(self, client, replica_id, endpoint):
        self.client = client
        self.id = replica_id
        self.inbox = []  # REPLY and REJECT that nobody has asked for yet
        self.answers = {}  # the latest WELCOME and PONG
        self.body_frame = False  # whether the last message came with one
        self.socket = client.context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.IMMEDIATE, 1)
        self.socket.setsockopt(zmq.LINGER, 100)
        self.monitor = self.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.socket.connect(endpoint)
        self.welcome = self.greet()

    def close(self):
        self.socket.disable_monitor()
        self.socket.close()

    def send(self, *frames):
        expect(self.socket.poll(WAIT_S * 1000, zmq.POLLOUT), f"no connection to {self.id}")
        self.socket.send_multipart(frames, zmq.DONTWAIT)

    def receive(self, timeout_s):
        """Sort one message into the inbox or the answers; False if none comes in time."""
        if not self.socket.poll(timeout_s * 1000):
            return False
        frames = self.socket.recv_multipart()
        message = parse(frames)
        if message.kind in (WELCOME, PONG):
            self.answers[message.kind] = message
        else:
            self.inbox.append((message, len(frames) > 1))
        return True

    def until(self, condition, what):
        """Receive until condition() gives something true; PING whenever nothing is heard."""
        end = time.monotonic() + WAIT_S
        while not (found := condition()):
            expect(time.monotonic() < end, f"{what} did not come from {self.id}")
            if not self.receive(HEARTBEAT_S):
                self.send(pack(VERSION, PING, 0))
        return found

    def exchange(self, kind, answer, *before_time):
        """Send HELLO or PING and return the answer that echoes its time."""
        stamp = time.monotonic_ns()
        self.send(pack(VERSION, kind, *before_time, stamp))

        def came():
            message = self.answers.get(answer)
            return message if message and message.time == stamp else None

        return self.until(came, f"answer {answer}")

    def greet(self):
        return self.exchange(HELLO, WELCOME, 0, "independent", self.client.epoch)

    def ping(self):
        return self.exchange(PING, PONG)

    def load(self, depth, running):
        """Wait until the replica says that it has this load."""
        self.until(lambda: self.ping()[2:4] == (depth, running), f"load {depth} waiting, {running} running")

    def request(self, method, body=b"", sequence=None, copy=0, remaining=NO_DEADLINE, flags=0,
                incarnation=None, sibling=None, inline=True, sent=None, extra=()):
        """Send one copy and return its call's sequence number."""
        if sequence is None:
            sequence = next(self.client.sequences)
        header = pack(
            VERSION, REQUEST, self.client.epoch, sequence, copy, method, remaining,
            now_us() if sent is None else sent, flags,
            self.welcome.incarnation if incarnation is None else incarnation,
            sibling.id if sibling else None, sibling.welcome.incarnation if sibling else 0,
            None, 3, None, body if inline else None, *extra)
        self.send(header, *([] if inline else [body]))
        return sequence

    def cancel(self, sequence, reason=CANCEL_CALLER):
        self.send(pack(VERSION, CANCEL, self.client.epoch, sequence, reason))

    def take(self, sequence):
        """Take a REPLY or REJECT of this call out of the inbox."""
        for index, (message, body_frame) in enumerate(self.inbox):
            if (message.epoch, message.sequence) == (self.client.epoch, sequence):
                self.body_frame = body_frame
                del self.inbox[index]
                return message
        return None

    def answer(self, sequence):
        return self.until(lambda: self.take(sequence), f"an answer to call {sequence}")

    def reply(self, sequence, copy=0):
        message = self.answer(sequence)
        expect(message[0::3][0] == REPLY and message.copy == copy, f"REPLY of copy {copy} expected: {message}")
        return message

    def reject(self, sequence, *reasons, copy=0):
        message = self.answer(sequence)
        right = message.kind == REJECT and message.copy == copy and message.reason in reasons
        expect(right, f"REJECT {reasons} of copy {copy} expected: {message}")
        return message

    def stats(self):
        message = self.reply(self.request("tied.stats"))
        return collections.Counter(msgpack.unpackb(message.body, raw=False))
