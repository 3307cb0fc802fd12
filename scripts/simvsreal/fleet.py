# SPDX-License-Identifier: MIT
"""Replica processes and the client's commands, also for scripts/tail. Each process is ended by its
number, and by the kernel if the script is killed outright."""
import ctypes
import json
import os
import random
import re
import select
import signal
import socket
import statistics
import subprocess
import time

IDS = ("a", "b", "c")
WORKERS = 2
HEDGE_DEPTH = 4 * WORKERS
DEADLINE = "5s"
# STARTED that may be on their way when a replica ends.
ENDING = 20


class Failure(Exception):
    """What a person reads in one line."""


def build(out):
    """Release programs; where they are."""
    subprocess.run(["scripts/deps", "build"], check=True)
    where = "build/demo-release"
    with open(f"{out}/build.log", "w", encoding="utf-8") as log:
        for argv in (["cmake", "--preset", "release", "-B", where, "-DTIED_WERROR=OFF",
                      "-DTIED_BUILD_TESTS=OFF", "-DTIED_BUILD_EXAMPLES=OFF"],
                     ["cmake", "--build", where, "-j", str(os.cpu_count())]):
            if subprocess.run(argv, stdout=log, stderr=log, check=False).returncode != 0:
                raise Failure(f"'{' '.join(argv)}' failed, see {out}/build.log")
    return os.path.join(where, "bin")


def die_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Fleet:
    """To be used in `with`, which ends the processes whatever happens. `service` is a distribution,
    more (number) gives further options of a replica."""

    def __init__(self, bin_dir, out, service, ids=IDS, workers=WORKERS, more=lambda number: []):
        self.bin, self.out, self.service = bin_dir, out, service
        self.ids, self.workers, self.more = ids, workers, more
        self.processes, self.endpoints = [], []

    def __enter__(self):
        try:
            for _ in range(5):
                if self.start():
                    return self
                self.stop()
        except BaseException:
            self.stop()
            raise
        raise Failure(f"the replicas do not start, see {self.out}/replica-*.log")

    def __exit__(self, kind, *_):
        self.stop()
        if kind is None:
            self.check_ways()

    def start(self):
        """A peer's port must be known before it starts; another program may take it meanwhile."""
        self.endpoints = []
        peers = {i: f"tcp://127.0.0.1:{free_port()}" for i in self.ids}
        for number, i in enumerate(self.ids):
            argv = [os.path.join(self.bin, "tied-replica"), "--id", i,
                    "--bind", "tcp://127.0.0.1:*", "--peer-bind", peers[i],
                    "--workers", str(self.workers), "--hedge-depth", str(4 * self.workers),
                    "--service", f"sleep:{self.service}",
                    "--stats", self.stats_file(i), *self.more(number)]
            for other in self.ids:
                argv += ["--peer", f"{other}={peers[other]}"] if other != i else []
            with open(f"{self.out}/replica-{i}.log", "w", encoding="utf-8") as log:
                process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=log, text=True,
                                           preexec_fn=die_with_us)
            self.processes.append(process)
            is_there = select.select([process.stdout], [], [], 10)[0]
            line = process.stdout.readline() if is_there else ""
            ready = re.search(r"^ready .*clients=(\S+)", line)
            if not ready:
                return False
            self.endpoints += ["--replica", f"{i}={ready[1]}"]
        return True

    def stats_file(self, i):
        return f"{self.out}/replica-{i}-{self.service.partition('(')[0]}.json"

    def check_ways(self):
        """What one replica has told another must have arrived, but for the last words before the
        end: else the calls ran twice for a reason that no simulation knows."""
        peers = {}
        for i in self.ids:
            with open(self.stats_file(i), encoding="utf-8") as file:
                peers[i] = {peer["id"]: peer for peer in json.load(file)["peers"]}
        for i in self.ids:
            for other, peer in peers[i].items():
                sent, received = peer["started_sent"], peers[other][i]["started_received"]
                if received < sent - ENDING:
                    raise Failure(f"{other} received {received} of {sent} STARTED of {i}, see "
                                  f"{self.stats_file(other)}")

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
        self.processes = []

    def client(self, *argv):
        """A started tied-client; its errors go to a file."""
        with open(f"{self.out}/{argv[0]}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([os.path.join(self.bin, "tied-client"), argv[0],
                                        *self.endpoints, *argv[1:]], stdout=subprocess.PIPE,
                                       stderr=log, text=True, preexec_fn=die_with_us)
        self.processes.append(process)
        return process

    def finish(self, process):
        text = process.communicate(timeout=900)[0]
        self.processes.remove(process)
        if process.returncode != 0:
            raise Failure(f"tied-client failed with {process.returncode}, see {self.out}/*.log")
        return text

    def ping_ms(self):
        """Median round trip to the replicas."""
        text = self.finish(self.client("ping", "--timeout", DEADLINE))
        trips = [float(line.split()[2]) for line in text.splitlines()[1:] if " up " in line]
        if len(trips) != len(self.ids):
            raise Failure("a replica does not answer pings")
        return statistics.median(trips)

    def bench(self, rate, seconds, warm_up, seed, policy, method, meanwhile=None, more=(),
              timeout=DEADLINE):
        """The report of one run; `meanwhile` is called in the middle of it. One policy a run: a
        client whose turn it is not would read its PONGs late and take that for the round trip."""
        file = f"{self.out}/bench.json"
        argv = ["bench", "--rate", repr(rate), "--duration", f"{seconds}s", "--warmup",
                f"{warm_up}s", "--slices", "1", "--seed", str(seed), "--method", method,
                "--timeout", timeout, "--json", file, "--policy", policy, *more]
        process = self.client(*argv)
        if meanwhile:
            time.sleep(seconds / 2 + warm_up)
            meanwhile()
        self.finish(process)
        with open(file, encoding="utf-8") as report:
            result = json.load(report)
        policy = result["policies"][0]
        if policy["load"] is None:
            raise Failure("a replica did not tell its counters")
        # The report's load is what this has to do with the capacity.
        workers = result["replicas"] * result["workers"]
        policy["service_ms"] = policy["load"] * result["duration_ms"] * workers / policy["calls"]
        return policy


def free_port():
    """Below the range that the kernel gives out by itself, and below that of tests/support/proxy.c."""
    while True:
        port = random.randrange(10000, 16000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
