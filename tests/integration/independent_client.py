# SPDX-License-Identifier: MIT
"""A TIED/1 client that shares no code with the project: it was written from docs/protocol.md alone.

It checks two replicas against that page and prints `ok NAME` or `not ok NAME: why` for each check; the
exit code is 1 if any failed, 77 if a module is missing. Either it starts the replicas itself,

    independent_client.py --replica-program PATH

or it is given two that run, each the other's peer, with one worker, whose method `work` takes some
tenths of a second or, better, ends when its call is given up:

    independent_client.py a=tcp://127.0.0.1:5000 b=tcp://127.0.0.1:5001
"""
import argparse
import collections
import itertools
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
BUSY, FULL, TOO_LATE, _, _, UNKNOWN_METHOD, EXPIRED, STALE, TOO_LARGE = range(1, 10)
WON, _, CALLER = range(1, 4)
IDEMPOTENT, TIED, LAST, REISSUE = 1, 2, 4, 8
SIBLING_TOLD = 1
NO_DEADLINE = 2**64 - 1

HEARTBEAT_S = 0.2
WAIT_S = 60  # longest wait for anything that must come
FAILURES_MAX = 4
SERVICE = "sleep:fixed(1h)"  # until its call is given up

LOAD = ("depth", "running", "wait")
FIELDS = {  # after version and type
    WELCOME: ("id", "incarnation", "time", "body_max", "inline_max", "queue_depth", "workers", *LOAD),
    REPLY: ("epoch", "sequence", "copy", "status", "flags", "queue_time", "service_time", *LOAD, "body"),
    REJECT: ("epoch", "sequence", "copy", "reason", *LOAD),
    PONG: ("time", *LOAD),
}
TYPES = {"id": str, "body": bytes}  # all others are unsigned integers
SHAPES = {kind: collections.namedtuple("Message", (*names, "kind", "frames")) for kind, names in FIELDS.items()}


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
    return SHAPES[header[1]](**fields, kind=header[1], frames=len(frames))


class Link:
    """A connection to one replica."""

    def __init__(self, client, replica_id, endpoint):
        self.client = client
        self.id = replica_id
        self.inbox = []  # REPLY and REJECT that nobody has asked for yet
        self.answers = {}  # the latest WELCOME and PONG
        self.socket = client.context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.IMMEDIATE, 1)
        self.monitor = self.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.socket.connect(endpoint)
        self.welcome = self.greet()
        expect(self.welcome.id == self.id, f"{self.id} calls itself {self.welcome.id}")

    def send(self, *frames):
        expect(self.socket.poll(WAIT_S * 1000, zmq.POLLOUT), f"no connection to {self.id}")
        self.socket.send_multipart(frames, zmq.DONTWAIT)

    def receive(self, timeout_s):
        """Sort one message into the inbox or the answers; False if none comes in time."""
        if not self.socket.poll(timeout_s * 1000):
            return False
        message = parse(self.socket.recv_multipart())
        if message.kind in (WELCOME, PONG):
            self.answers[message.kind] = message
        else:
            self.inbox.append(message)
        return True

    def until(self, condition, what, nudge=pack(VERSION, PING, 0)):
        """Receive until condition() gives something true; send nudge whenever nothing is heard."""
        end = time.monotonic() + WAIT_S
        while not (found := condition()):
            expect(time.monotonic() < end, f"{what} did not come from {self.id}")
            if not self.receive(HEARTBEAT_S):
                self.send(nudge)
        return found

    def exchange(self, kind, answer, *before_time):
        """Send HELLO or PING and return the answer that echoes its time."""
        stamp = time.monotonic_ns()
        frame = pack(VERSION, kind, *before_time, stamp)
        self.send(frame)

        def came():
            message = self.answers.get(answer)
            return message if message and message.time == stamp else None

        return self.until(came, f"answer {answer}", frame)

    def greet(self):
        return self.exchange(HELLO, WELCOME, 0, "independent", self.client.epoch)

    def ping(self):
        return self.exchange(PING, PONG)

    def load(self, depth, running):
        """Wait until the replica says that it has this load."""
        def reached():
            pong = self.ping()
            return (pong.depth, pong.running) == (depth, running)

        self.until(reached, f"load {depth} waiting, {running} running")

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

    def cancel(self, sequence, reason=CALLER):
        self.send(pack(VERSION, CANCEL, self.client.epoch, sequence, reason))

    def take(self, sequence):
        """Take a REPLY or REJECT of this call out of the inbox."""
        for message in self.inbox:
            if (message.epoch, message.sequence) == (self.client.epoch, sequence):
                self.inbox.remove(message)
                return message
        return None

    def answer(self, sequence):
        return self.until(lambda: self.take(sequence), f"an answer to call {sequence}")

    def reply(self, sequence, copy=0):
        message = self.answer(sequence)
        right = message.kind == REPLY and message.copy == copy and message.status == 0
        expect(right, f"REPLY of copy {copy} expected: {message}")
        return message

    def reject(self, sequence, reason, copy=0):
        message = self.answer(sequence)
        right = message.kind == REJECT and message.copy == copy and message.reason == reason
        expect(right, f"REJECT {reason} of copy {copy} expected: {message}")
        return message

    def stats(self):
        message = self.reply(self.request("tied.stats"))
        return msgpack.unpackb(message.body, raw=False)

    def rises(self, before, **counters):
        """Wait until these counters are that much above what they were before, and not more."""
        def risen():
            after = self.stats()
            rise = {name: after[name] - before[name] for name in counters}
            return rise if all(rise[name] >= counters[name] for name in counters) else None

        rise = self.until(risen, f"a rise of the counters {counters}")
        expect(rise == counters, f"counters of {self.id} rose by {rise}, not by {counters}")

    def occupy(self, copies):
        """Let the only worker run one copy of `work` while copies - 1 wait; return their calls."""
        calls = [self.request("work") for _ in range(copies)]
        self.load(copies - 1, 1)
        return calls

    def end(self, call, behind):
        """Give up a call as soon as it runs and so many copies wait; return its REPLY."""
        given_up = []

        def ended():
            message = self.take(call)
            if not message and not given_up:
                pong = self.ping()
                if (pong.depth, pong.running) == (behind, 1):
                    given_up.append(call)
                    self.cancel(call)
            return message

        message = self.until(ended, f"the end of call {call}")
        expect(message.kind == REPLY and message.copy == 0, f"REPLY of copy 0 expected: {message}")
        return message

    def finish(self, calls):
        """End these calls, and one behind them: whatever else ran has replied too."""
        calls = [*calls, self.request("work")]
        for number, call in enumerate(calls, 1):
            self.end(call, len(calls) - number)


class Client:
    """An epoch, its sequence numbers and a link to each of the two replicas."""

    def __init__(self, context, replicas):
        self.context = context
        self.epoch = secrets.randbelow(2**64 - 1) + 1
        self.sequences = itertools.count()
        self.links = [Link(self, replica_id, endpoint) for replica_id, endpoint in replicas]

    def settled(self):
        for link in self.links:
            link.ping()
            expect(not link.inbox, f"{link.id} sent what nobody waits for: {link.inbox}")
            expect(not link.monitor.poll(0), f"{link.id} has closed the connection")


def check_example(_client):
    """The frames of section 15 come out of this packer and go into this parser."""
    epoch, of_a, of_b = 0x1122334455667788, 0xa1a2a3a4a5a6a7a8, 0xb1b2b3b4b5b6b7b8
    hello = bytes.fromhex("96010100a56170702d31cf1122334455667788ce000f4240")
    request = bytes.fromhex("dc00100103cf11223344556677880000a46563686fce0007a120cd07d003cf"
                            "a1a2a3a4a5a6a7a8a162cfb1b2b3b4b5b6b7b8c003c0c4026869")
    welcome = bytes.fromhex("9c0102a161cfa1a2a3a4a5a6a7a8ce000f4240ce00800000cd0400cd040004000000")
    reply = bytes.fromhex("9d0104cf11223344556677880000000178cd27420203cd1d4cc4026869")
    cancel = bytes.fromhex("950106cf11223344556677880001")
    expect(pack(1, HELLO, 0, "app-1", epoch, 1000000) == hello, "HELLO")
    expect(pack(1, REQUEST, epoch, 0, 0, "echo", 500000, 2000, IDEMPOTENT | TIED, of_a, "b", of_b,
                None, 3, None, b"hi") == request, "REQUEST")
    expect(pack(1, CANCEL, epoch, 0, WON) == cancel, "CANCEL")
    expect(parse([welcome])[:-2] == ("a", of_a, 1000000, 8388608, 1024, 1024, 4, 0, 0, 0), "WELCOME")
    expect(parse([reply])[:-2] == (epoch, 0, 0, 0, SIBLING_TOLD, 120, 10050, 2, 3, 7500, b"hi"), "REPLY")


def check_hello(client):
    for link in client.links:
        again = link.greet()
        expect(again.incarnation == link.welcome.incarnation != 0, "the incarnation is 0 or changes")
        expect(again.workers == 1, "these checks need replicas with one worker")


def check_ping(client):
    for link in client.links:
        pong = link.ping()
        expect((pong.depth, pong.running) == (0, 0), f"an idle replica reports {pong}")


def check_echo(client):
    """Bodies in the header and in a frame of their own; either is taken for any length."""
    for link in client.links:
        for size, inline in itertools.product((0, 2, link.welcome.inline_max, 100 * 1024), (True, False)):
            body = secrets.token_bytes(size)
            reply = link.reply(link.request("echo", body, inline=inline))
            expect(reply.body == body, f"another body came back for {size} bytes, inline {inline}")
            expect((reply.frames == 2) == (size > link.welcome.inline_max), f"place of a body of {size} bytes")
        link.reply(link.request("echo", extra=(7, {"later": [1.5, "x"]}, None)))


def check_refusals(client):
    link = client.links[0]
    for method in ("no-such-method", "tied.no-such-method"):
        link.reject(link.request(method), UNKNOWN_METHOD)
    stale = link.request("echo", incarnation=link.welcome.incarnation ^ 1)
    link.reject(stale, STALE)
    link.reply(link.request("echo", incarnation=0))
    large = bytes(link.welcome.body_max + 1)
    for inline in (True, False):
        link.reject(link.request("echo", large, inline=inline), TOO_LARGE)
    link.reject(link.request("tied.stats", large), TOO_LARGE)


def check_time(client):
    """Calls without time left: on arrival, after a long way, in the queue, and too much queue ahead."""
    link = client.links[0]
    link.reject(link.request("echo", remaining=0), EXPIRED)
    link.reply(link.request("echo", remaining=30_000_000))
    link.reject(link.request("echo", remaining=30_000_000, sent=now_us() - 60_000_000), EXPIRED)
    link.reply(link.request("echo", remaining=30_000_000, sent=0))
    before = link.stats()
    running = link.occupy(1)
    link.reject(link.request("work", remaining=2 * link.ping().wait + 20_000), EXPIRED)
    link.finish(running)
    link.rises(before, executed=2)
    running = link.occupy(2)
    link.reject(link.request("work", remaining=link.ping().wait // 2, sent=0), TOO_LATE)
    link.finish(running)


def check_queue_depth(client):
    """A long queue refuses extra copies, a full one all; an extra copy that is the last is no extra."""
    link = client.links[0]
    limit = link.welcome.queue_depth
    calls = link.occupy(limit + 1)
    extra = link.request("work", copy=1, flags=IDEMPOTENT)
    refusal = link.reject(extra, BUSY, copy=1)
    expect((refusal.depth, refusal.running) == (limit, 1), f"load of the refusal: {refusal}")
    link.reject(link.request("work", copy=2, flags=IDEMPOTENT | LAST), FULL, copy=2)
    link.cancel(calls.pop())
    link.reject(link.request("work", copy=1, flags=IDEMPOTENT), BUSY, copy=1)
    last = link.request("work", copy=2, flags=IDEMPOTENT | LAST)
    link.load(limit, 1)
    for call in [*calls[1:], last]:
        link.cancel(call)
    link.load(0, 1)
    link.finish(calls[:1])


def check_cancel(client):
    link, other = client.links
    before = link.stats()
    ahead = link.occupy(2)
    victim = link.request("work")
    link.load(2, 1)
    link.cancel(victim)
    link.rises(before, cancel_queued=1)
    link.finish(ahead)
    link.rises(before, cancel_queued=1, executed=3)
    other.cancel(victim)  # not known there: no effect
    other.ping()


def check_peers(client):
    """Wait until each replica reaches its sibling; later checks rely on it."""
    for here, there in (client.links, client.links[::-1]):
        before = there.stats()

        def told():
            call = here.request("echo", flags=IDEMPOTENT | TIED, sibling=there)
            return here.reply(call).flags == SIBLING_TOLD

        here.until(told, "SIBLING_TOLD")
        there.until(lambda: there.stats()["started_received"] > before["started_received"], "STARTED")


def check_tied_pair(client):
    """Both copies wait; the first replica starts its own, and the sibling's is dropped."""
    first, second = client.links
    before = {link: link.stats() for link in client.links}
    longer = second.occupy(2)
    shorter = first.occupy(1)
    call = first.request("work", flags=IDEMPOTENT | TIED, sibling=second)
    first.load(1, 1)
    second.request("work", sequence=call, copy=1, flags=IDEMPOTENT | TIED, sibling=first)
    second.load(2, 1)
    expect(not first.take(call), "an answer while another copy runs")
    first.end(shorter.pop(), 1)
    reply = first.end(call, 0)
    expect(reply.flags == SIBLING_TOLD, f"flags of {reply}")
    expect(reply.queue_time > 0 and reply.service_time > 0, f"times of {reply}")
    second.rises(before[second], started_effective=1)
    first.finish(shorter)
    second.finish(longer)
    first.rises(before[first], started_sent=1, executed=3)
    second.rises(before[second], started_received=1, started_effective=1, executed=3)


def check_tombstone(client):
    """STARTED comes before the copy that it concerns; a later number passes."""
    first, second = client.links
    before = second.stats()
    call = first.request("echo", flags=IDEMPOTENT | TIED, sibling=second)
    expect(first.reply(call).flags == SIBLING_TOLD, "SIBLING_TOLD expected")
    second.rises(before, started_received=1)
    second.request("echo", sequence=call, copy=1, flags=IDEMPOTENT | TIED, sibling=first)
    second.finish([])
    second.rises(before, executed=1, started_effective=0)
    second.request("echo", sequence=call, copy=2, flags=IDEMPOTENT | REISSUE)
    second.reply(call, copy=2)


def check_reissue(client):
    """A re-issue merges with the copy that waits: one REPLY, with the older number, and untied."""
    first, second = client.links
    before = {link: link.stats() for link in client.links}
    ahead = first.occupy(1)
    call = first.request("echo", flags=IDEMPOTENT | TIED, sibling=second)
    first.request("echo", sequence=call, copy=2, flags=IDEMPOTENT | REISSUE)
    first.end(ahead.pop(), 1)
    expect(first.reply(call, copy=0).flags == 0, "the merged copy is still tied")
    first.finish([])
    first.rises(before[first], merged=1, started_sent=0, executed=3)


def check_malformed(client):
    """What is no message of this link is counted and discarded; the connection stays."""
    link = client.links[0]
    good = (VERSION, REQUEST, client.epoch, 2**64 - 1, 0, "echo", NO_DEADLINE, 0, 0, 0, None, 0, None, 0, None)
    bad = (
        [b""], [b"\xc1\xff"], [pack(*good, b"x")[:-1]], [pack(*good, b"x") + b"\0"], [pack(*good)],
        [msgpack.packb({1: 2})], [b"\xdd\xff\xff\xff\xff\x01\x09"], [pack(VERSION + 1, PING, 5)],
        [pack(VERSION, 99, 5)], [pack(VERSION, PING, -1)], [b"\x93\x01\x09\xd0\x01"], [pack(VERSION, PING, 1.0)],
        [pack(VERSION, PING, 5, [[[[[]]]]])], [pack(*good, "x")], [pack(*good[:10], "", *good[11:], b"x")],
        [pack(*good[:5], "ec ho", *good[6:], b"x")], [pack(*good, None)], [pack(*good, b"x"), b"x"],
        [pack(*good, None), b"x", b"x"], [pack(VERSION, STARTED, client.epoch, 0, 0)],
        [pack(VERSION, UNTIE, client.epoch, 0, 0)], [pack(VERSION, HELLO, 1, "a", client.epoch, 0)],
        [pack(VERSION, CANCEL, client.epoch, 0, 0)], [pack(VERSION, HELLO, 0, "a", 0, 0)],
        [pack(*good[:2], 0, *good[3:], b"x")],
    )
    counters = ("malformed", "multipart", "misdirected")  # one of them rises for each
    before = link.stats()
    for number, frames in enumerate(bad):
        link.send(*frames)
        after = link.stats()
        rise = sum(after[name] - before[name] for name in counters)
        expect(rise == 1, f"bad message {number} was counted {rise} times")
        before = after
    reply = link.reply(link.request("echo", b"still here"))
    expect(reply.body == b"still here", f"the connection does not answer as before: {reply}")


CHECKS = (check_example, check_hello, check_ping, check_echo, check_refusals, check_time, check_queue_depth,
          check_cancel, check_peers, check_tied_pair, check_tombstone, check_reissue, check_malformed)


def run_checks(replicas):
    """Run the checks, each with a client of its own, until too many failed; return how many did."""
    failed = 0
    for check in CHECKS:
        name = check.__name__.removeprefix("check_")
        context = zmq.Context()
        try:
            client = Client(context, replicas)
            check(client)
            client.settled()
            print(f"ok {name}", flush=True)
        except (Failed, zmq.ZMQError, ValueError, LookupError) as why:
            failed += 1
            print(f"not ok {name}: {why if isinstance(why, Failed) else repr(why)}", flush=True)
        finally:
            context.destroy(linger=100)
        if failed == FAILURES_MAX:
            print("the checks that are left are not run", flush=True)
            break
    return failed


def start(program, replica_id, sibling_id, folder):
    """Start a replica; peers meet in folder, since each needs the other's endpoint at its start."""
    return subprocess.Popen(
        [program, "--id", replica_id, "--bind", "tcp://127.0.0.1:*",
         "--peer-bind", f"ipc://{folder}/{replica_id}", "--peer", f"{sibling_id}=ipc://{folder}/{sibling_id}",
         "--workers", "1", "--queue-depth", "8", "--body-max", "256KiB", "--service", SERVICE,
         "--client-silence", "1h", "--recent-ttl", "1h"],
        stdout=subprocess.PIPE, text=True)


def endpoint_of(process):
    """Wait for the line `ready id=ID clients=ENDPOINT ...`."""
    readable, _, _ = select.select([process.stdout], [], [], WAIT_S)
    line = process.stdout.readline() if readable else ""
    expect(line.startswith("ready "), f"no ready line: {line!r}")
    return dict(word.split("=", 1) for word in line.split()[1:])["clients"]


def run_with_replicas(program):
    processes = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for replica_id, sibling_id in (("a", "b"), ("b", "a")):
                processes[replica_id] = start(program, replica_id, sibling_id, folder)
            failed = run_checks([(name, endpoint_of(process)) for name, process in processes.items()])
            for process in processes.values():
                process.terminate()
            codes = [process.wait(WAIT_S) for process in processes.values()]
            expect(codes == [0, 0], f"exit codes {codes}")
        finally:
            for process in processes.values():
                process.kill()
                process.wait()
    return failed


def main():
    parser = argparse.ArgumentParser(description="Check two replicas against the page on TIED/1.")
    parser.add_argument("replicas", nargs="*", metavar="ID=ENDPOINT", help="two replicas that run")
    parser.add_argument("--replica-program", metavar="PATH", help="start two of this program instead")
    arguments = parser.parse_args()
    replicas = [tuple(replica.split("=", 1)) for replica in arguments.replicas]
    if bool(arguments.replica_program) == bool(replicas):
        parser.error("either two replicas or --replica-program")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the replicas are ended
    if arguments.replica_program:
        return 1 if run_with_replicas(arguments.replica_program) else 0
    if [len(replica) for replica in replicas] != [2, 2]:
        parser.error("two replicas are needed, each as ID=ENDPOINT")
    return 1 if run_checks(replicas) else 0


if __name__ == "__main__":
    sys.exit(main())
