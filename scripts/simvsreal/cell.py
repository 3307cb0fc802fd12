# SPDX-License-Identifier: MIT
"""One service at one load: measured on processes, then simulated with what was measured."""
import json
import os
import statistics
import subprocess

from simvsreal.calls import MASK, mix, slice_of
from simvsreal.fleet import DEADLINE, HEDGE_DEPTH, IDS, WORKERS, Failure, die_with_us


class Cell:
    def __init__(self, options, fleet, service, load):
        self.options, self.service, self.load = options, service, load
        self.rate = round(load * len(IDS) * WORKERS / service.mean_ms * 1e3, 3)
        self.lateness_ms = 0
        self.overheads, self.pings, self.failed, self.repetitions = [], [], 0, []
        self.ping_at_rest_ms = fleet.ping_ms()
        # A call without work: what the generator, both ways and the replica's threads take.
        echo = fleet.bench(self.rate, options.echo, options.warm_up, options.seed, "single", "echo")
        self.echo_ms = echo["latency_ms"]["p50"]
        self.delay_ms = max((self.echo_ms - echo["service_ms"]) / 2, 0.005)
        for number in range(options.repetitions):
            self.repeat(fleet, number)

    def repeat(self, fleet, number):
        options, policies = self.options, list(self.options.policies)
        seconds = round(options.duration / options.repetitions, 3)
        seed = mix(mix(options.seed) + number & MASK)
        turn = number % len(policies)
        before = slice_of(self.service, self.rate, mix(seed), options.warm_up)
        calls = slice_of(self.service, self.rate, mix(seed ^ mix(1)), seconds)
        real = {}
        for name in policies[turn:] + policies[:turn]:
            ping = None if real else lambda: self.pings.append(fleet.ping_ms())
            policy = fleet.bench(self.rate, seconds, options.warm_up, seed, name, "work", ping)
            # One call may fall on the other side of the end by the last bit of a logarithm.
            if abs(policy["calls"] - len(calls)) > 1:
                raise Failure(f"{name} made {policy['calls']} calls, not {len(calls)} as drawn here")
            self.failed += policy["calls"] - policy["outcomes"]["ok"]
            self.lateness_ms = max(self.lateness_ms, policy["lateness_max_ms"])
            over = policy["service_ms"] - statistics.fmean(ms for _, ms in calls)
            self.overheads.append((policy["executions"] == policy["calls"], over))
            real[name] = policy
        self.repetitions.append({"number": number, "before": before, "calls": calls, "real": real})

    def peer_delay_ms(self):
        """Not more than to a client: on a busy machine the few PINGs are a poor sample."""
        return min(statistics.median(self.pings) / 2, self.delay_ms)

    def overhead_ms(self):
        """On top of what was drawn; exact where all calls ran, and each once."""
        once = [over for is_once, over in self.overheads if is_once]
        mean = statistics.fmean(once or [over for _, over in self.overheads])
        if mean < -0.02 * self.service.mean_ms:
            raise Failure(f"services took {-mean:.3f} ms less than drawn here: not the same draws")
        return max(mean, 0)

    def scenario(self, repetition):
        """Written beside the calls it names. Those of the warm-up go before, and a rest follows."""
        name = f"{self.service.text.split('(')[0]}-{self.load:g}-{repetition['number'] + 1}"
        before, calls = repetition["before"] or [(0.0, 1.0)], repetition["calls"]
        begin = before[-1][0] + 1000 - calls[0][0]
        rows = before + [(begin + at, ms) for at, ms in calls]
        with open(f"{self.options.out}/{name}.csv", "w", encoding="utf-8") as file:
            file.write("at_ms,service_ms\n")
            file.writelines(f"{at:.6f},{ms + self.overhead_ms():.6f}\n" for at, ms in rows)
        policies = "".join(f"  - {{name: \"{p}\", kind: \"{p}\"" + (f", hedge_depth: {HEDGE_DEPTH}" if
                           p.startswith("tied") else "") + "}\n" for p in self.options.policies)
        with open(f"{self.options.out}/{name}.yaml", "w", encoding="utf-8") as file:
            file.write(f"title: {self.service.text} at load {self.load:g}, as it was measured\n"
                       f"arrivals: {{kind: trace, file: {name}.csv, column: at_ms}}\n"
                       f"service: {{table: {name}.csv, column: service_ms, in_order: true}}\n"
                       "copies: identical\n"
                       f"deadline: {DEADLINE}\n"
                       f"replicas: {{count: {len(IDS)}, workers: {WORKERS}, queue_depth: 1024}}\n"
                       f"network: {{delay: {self.delay_ms * 1e6:.0f}ns, "
                       f"peer_delay: {self.peer_delay_ms() * 1e6:.0f}ns}}\n"
                       f"policies:\n{policies}"
                       f"amount: {{calls: {len(calls)}, warm_up: {len(before) / len(calls):.15f}, "
                       f"cool_down: 0, replications: {self.options.replications}}}\n")
        return name, len(before)

    def simulate(self):
        """For each repetition, {policy: its part of the report of tied-sim}."""
        for repetition in self.repetitions:
            name, cut = self.scenario(repetition)
            argv = [os.path.join(self.options.bin, "tied-sim"), "run", f"{self.options.out}/{name}.yaml",
                    "--quiet", "--seed", str(self.options.seed), "--json", f"{self.options.out}/{name}.json"]
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  preexec_fn=die_with_us, check=False)
            if done.returncode != 0:
                raise Failure(f"{' '.join(argv)}: {done.stdout.strip()}")
            with open(f"{self.options.out}/{name}.json", encoding="utf-8") as file:
                policies = json.load(file)["policies"]
            for policy in policies:
                if policy["unstable"] or policy["cut_requests"] != cut * self.options.replications:
                    raise Failure(f"{self.options.out}/{name}.json: unstable, or not the calls that were asked for")
            repetition["sim"] = {policy["policy"]: policy for policy in policies}

    def inputs(self):
        return {"one_way_ms": round(self.delay_ms, 4), "peer_one_way_ms": round(self.peer_delay_ms(), 4),
                "service_overhead_ms": round(self.overhead_ms(), 4), "echo_p50_ms": round(self.echo_ms, 4),
                "ping_at_rest_ms": self.ping_at_rest_ms, "ping_under_load_ms": self.pings,
                "lateness_max_ms": round(self.lateness_ms, 4), "failed_calls": self.failed}
