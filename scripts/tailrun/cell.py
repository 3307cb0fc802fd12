# SPDX-License-Identifier: MIT
"""One scenario at one rate: every policy over the same calls, several times, in turns."""
import statistics
import sys

from simvsreal.calls import MASK, mix
from simvsreal.fleet import Fleet

WORKERS = 4
# Seeds of their own: the copies of a call are slow independently of each other. In B the stalls
# are half a period apart, on the wall clock, and each run begins at the same point of the period.
PERIOD = "4s"
SCENARIOS = {
    "A1": {"service": "bimodal(5ms,200ms,0.01)"},
    "A2": {"service": "bimodal(5ms,200ms,0.02)"},
    "B": {"service": "fixed(5ms)", "stalls": ("1s", "3s")},
}
DEADLINE = "20s"
FIGURES = ("p50", "p90", "p99", "p99_9")


def fleet_of(options, scenario):
    stalls = SCENARIOS[scenario].get("stalls")

    def more(number):
        seed = ["--seed", str(mix(options.seed + 0x7461696c) + number & MASK)]
        return seed + (["--pause", f"every:{PERIOD}+{stalls[number]},200ms"] if stalls else [])

    return Fleet(options.bin, options.out, SCENARIOS[scenario]["service"], ids=("a", "b"),
                 workers=WORKERS, more=more)


def figures_of(report):
    """Of one run, from tied-client's report of it."""
    method, outcomes = report["method"], report["outcomes"]
    return {**{name: report["latency_ms"][name] for name in FIGURES},
            "executions": report["executions_per_call"], "copies": report["copies_per_call"],
            "hedges": method["hedged"] / report["calls"],
            "hedges_won": method["hedges_won"] / max(method["hedged"], 1),
            "extra_refused": method["extra_refused"], "failed": report["calls"] - outcomes["ok"],
            "calls": report["calls"], "outcomes": outcomes, "not_sent": report["not_sent"],
            "method": method, "lateness_max": report["lateness_max_ms"]}


class Cell:
    def __init__(self, scenario, rate, policies):
        self.scenario, self.rate, self.policies = scenario, rate, policies
        self.runs = {policy: [] for policy in policies}

    def repeat(self, options, fleet, number):
        seed = mix(mix(options.seed) + number & MASK)
        seconds = round(options.calls / options.repetitions / self.rate, 3)
        align = ("--align", PERIOD) if "stalls" in SCENARIOS[self.scenario] else ()
        turn = number % len(self.policies)
        for policy in self.policies[turn:] + self.policies[:turn]:
            print(f"{self.scenario} at {self.rate:g}/s, {number + 1} of {options.repetitions}: "
                  f"{policy}", file=sys.stderr, flush=True)
            report = fleet.bench(self.rate, seconds, options.warm_up, seed, policy, "work",
                                 more=align, timeout=DEADLINE)
            self.runs[policy].append(figures_of(report))

    def median(self, policy, name):
        return statistics.median(run[name] for run in self.runs[policy])

    def total(self, policy, name):
        return sum(run[name] for run in self.runs[policy])

    def as_json(self):
        return {"scenario": self.scenario, "rate_per_s": self.rate,
                "policies": [{"policy": policy, "runs": runs}
                             for policy, runs in self.runs.items()]}
