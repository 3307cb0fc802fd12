# SPDX-License-Identifier: MIT
"""One service at one load: measured on processes, then simulated with what was measured."""
import json
import os
import statistics
import subprocess

from simvsreal.calls import MASK, mix, slice_of
from simvsreal.fleet import DEADLINE, HEDGE_DEPTH, IDS, WORKERS, Failure, die_with_us


# Shares of calls between which their delays are averaged, from the median up.
SLOWER = (0.5, 0.75, 0.9, 0.97, 0.99, 1)
# Of the mean service.
QUICK_MAX = 0.05


def quantile(distribution, share):
    """Of a report's [share, ms] pairs."""
    for (low, low_ms), (high, high_ms) in zip(distribution, distribution[1:]):
        if share <= high:
            return low_ms + (high_ms - low_ms) * (share - low) / (high - low)
    return distribution[-1][1]


class Cell:
    def __init__(self, options, fleet, service, load):
        self.options, self.service, self.load = options, service, load
        self.rate = round(load * len(IDS) * WORKERS / service.mean_ms * 1e3, 3)
        self.lateness_ms = self.failed = 0
        self.echoes, self.overheads, self.pings, self.repetitions = [], [], [], []
        self.ping_at_rest_ms = fleet.ping_ms()
        for number in range(options.repetitions):
            self.repeat(fleet, number)

    def repeat(self, fleet, number):
        options, policies = self.options, list(self.options.policies)
        seconds = round(options.duration / options.repetitions, 3)
        seed = mix(mix(options.seed) + number & MASK)
        turn = number % len(policies)
        self.measure_echo(fleet, seed)
        before = slice_of(self.service, self.rate, mix(seed), options.warm_up)
        calls = slice_of(self.service, self.rate, mix(seed ^ mix(1)), seconds)
        drawn_ms = statistics.fmean(ms for _, ms in calls)
        real = {}
        for name in policies[turn:] + policies[:turn]:
            ping = None if real else lambda: self.pings.append(fleet.ping_ms())
            policy = fleet.bench(self.rate, seconds, options.warm_up, seed, name, "work", ping)
            # One call may fall on the other side of the end by the last bit of a logarithm.
            if abs(policy["calls"] - len(calls)) > 1:
                raise Failure(f"{name} made {policy['calls']} calls, {len(calls)} are drawn here")
            self.failed += policy["calls"] - policy["outcomes"]["ok"]
            self.lateness_ms = max(self.lateness_ms, policy["lateness_max_ms"])
            is_once = policy["executions"] == policy["calls"]
            self.overheads.append((is_once, policy["service_ms"] - drawn_ms))
            real[name] = policy
        self.repetitions.append({"number": number, "before": before, "calls": calls, "real": real})

    def measure_echo(self, fleet, seed):
        """A call without work at this rate: the generator is late, messages travel, threads wake
        up. What its median takes without the service, and how much more its slower half takes."""
        seconds = self.options.echo
        echo = fleet.bench(self.rate, seconds, seconds / 4, seed, "single", "echo")
        median = echo["latency_ms"]["p50"]
        more = []
        for low, high in zip(SLOWER, SLOWER[1:]):
            middles = [low + (high - low) * (i + 0.5) / 8 for i in range(8)]
            slower = statistics.fmean(quantile(echo["distribution"], x) for x in middles)
            more.append(slower - median)
        self.echoes.append((median - echo["service_ms"], more))

    # What the simulator is given.

    def at_most(self, value_ms):
        """A smoke run has figures on any machine. On one that is busy with much else, what was
        measured would make a queue that only grows."""
        return min(value_ms, QUICK_MAX * self.service.mean_ms) if self.options.quick else value_ms

    def delay_ms(self):
        """Of each of the two messages of a call."""
        middle = statistics.median(median for median, _ in self.echoes)
        return self.at_most(max(middle / 2, 0.005))

    def extra(self):
        """On top of it: what delays a call meets one of its messages, each as likely."""
        shares = [(high - low) / 2 for low, high in zip(SLOWER, SLOWER[1:])]
        steps, last_ns = [f"0s:{1 - sum(shares):.4f}"], 0
        for share, values in zip(shares, zip(*(more for _, more in self.echoes))):
            last_ns = max(last_ns + 1, round(self.at_most(statistics.median(values)) * 1e6))
            steps.append(f"{last_ns}ns:{share:.4f}")
        return f"steps({','.join(steps)})"

    def peer_delay_ms(self):
        """Not more than to a client: on a busy machine the few PINGs are a poor sample."""
        return min(statistics.median(self.pings) / 2, self.delay_ms())

    def overhead_ms(self):
        """On top of what was drawn; exact where all calls ran, and each once."""
        once = [over for is_once, over in self.overheads if is_once]
        # Nobody wakes up before the end of a sleep.
        if min(once, default=0) < -0.005 * self.service.mean_ms:
            raise Failure("services took less than drawn here: these are not the same draws")
        return self.at_most(max(statistics.fmean(once or [over for _, over in self.overheads]), 0))

    def inputs(self):
        return {"service": self.service.text, "load": self.load, "rate_per_s": self.rate,
                "one_way_ms": self.delay_ms(), "extra": self.extra(),
                "peer_one_way_ms": self.peer_delay_ms(), "service_overhead_ms": self.overhead_ms(),
                "ping_at_rest_ms": self.ping_at_rest_ms, "ping_under_load_ms": self.pings,
                "lateness_max_ms": self.lateness_ms, "failed_calls": self.failed}

    def line(self):
        us = {key: f"{value * 1e3:.0f} us" for key, value in self.inputs().items()
              if isinstance(value, float)}
        return (f"{self.service.text} at load {self.load:g}, {self.rate:g} calls/s: one way "
                f"{us['one_way_ms']}, between replicas {us['peer_one_way_ms']}, service + "
                f"{us['service_overhead_ms']}; ping / 2 {self.ping_at_rest_ms * 500:.0f} us at "
                f"rest, {statistics.median(self.pings) * 500:.0f} us under load; sent late by "
                f"{self.lateness_ms:.2f} ms at most; {self.failed} calls failed")

    def scenario(self, repetition):
        """Written beside the calls it names: its path, and the calls that come before, which are
        those of the warm-up. A rest follows them, as in tied-client bench."""
        name = f"{self.service.text.split('(')[0]}-{self.load:g}-{repetition['number'] + 1}"
        path = os.path.join(self.options.out, name)
        before, calls = repetition["before"] or [(0.0, 1.0)], repetition["calls"]
        begin = before[-1][0] + 1000 - calls[0][0]
        rows = before + [(begin + at, ms) for at, ms in calls]
        with open(f"{path}.csv", "w", encoding="utf-8") as file:
            file.write("at_ms,service_ms\n")
            file.writelines(f"{at:.6f},{ms + self.overhead_ms():.6f}\n" for at, ms in rows)
        policies = ""
        for policy in self.options.policies:
            depth = f", hedge_depth: {HEDGE_DEPTH}" if policy.startswith("tied") else ""
            policies += f"  - {{name: \"{policy}\", kind: \"{policy}\"{depth}}}\n"
        with open(f"{path}.yaml", "w", encoding="utf-8") as file:
            file.write(f"title: {self.service.text} at load {self.load:g}, as it was measured\n"
                       f"arrivals: {{kind: trace, file: {name}.csv, column: at_ms}}\n"
                       f"service: {{table: {name}.csv, column: service_ms, in_order: true}}\n"
                       "copies: identical\n"
                       f"deadline: {DEADLINE}\n"
                       f"replicas: {{count: {len(IDS)}, workers: {WORKERS}, queue_depth: 1024}}\n"
                       f"network: {{delay: {self.delay_ms() * 1e6:.0f}ns, "
                       f"peer_delay: {self.peer_delay_ms() * 1e6:.0f}ns, "
                       f"extra: \"{self.extra()}\", peer_extra: fixed(0s)}}\n"
                       f"policies:\n{policies}"
                       f"amount: {{calls: {len(calls)}, "
                       f"warm_up: {len(before) / len(calls):.15f}, cool_down: 0, "
                       f"replications: {self.options.replications}}}\n")
        return path, len(before)

    def simulate(self):
        """Gives each repetition, beside "real", {policy: its part of the report of tied-sim}."""
        program = os.path.join(self.options.bin, "tied-sim")
        for repetition in self.repetitions:
            path, cut = self.scenario(repetition)
            argv = [program, "run", f"{path}.yaml", "--quiet", "--seed", str(self.options.seed),
                    "--json", f"{path}.json"]
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  preexec_fn=die_with_us, check=False)
            if done.returncode != 0:
                raise Failure(f"{' '.join(argv)}: {done.stdout.strip()}")
            with open(f"{path}.json", encoding="utf-8") as file:
                policies = json.load(file)["policies"]
            for policy in policies:
                if policy["unstable"]:
                    raise Failure(f"{path}.json: the queue of {policy['policy']} grew")
                if policy["cut_requests"] != cut * self.options.replications:
                    raise Failure(f"{path}.json: not the calls that were asked for")
            repetition["sim"] = {policy["policy"]: policy for policy in policies}
