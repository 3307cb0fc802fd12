# SPDX-License-Identifier: MIT
"""What the two sides gave, compared figure by figure."""
import math
import statistics

FIGURES = ("p50", "p99")
WITHIN = 0.10
# Two-sided 95 % of Student's t by degrees of freedom; beyond, nearly that of the normal one.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14)


def student(freedom):
    return STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96 + 2.4 / freedom


def half_width(values):
    """95 % of the mean of these; None for a single one."""
    freedom = len(values) - 1
    if freedom < 1:
        return None
    return student(freedom) * statistics.stdev(values) / math.sqrt(len(values))


def rows_of(cell):
    return [row_of(cell, policy, figure) for policy in cell.options.policies for figure in FIGURES]


def row_of(cell, policy, figure):
    """Means over the repetitions: of the figure, and of what it cost."""
    count, runs = len(cell.repetitions), cell.options.replications
    sides = [(r["real"][policy], r["sim"][policy]) for r in cell.repetitions]
    real = [side["latency_ms"][figure] for side, _ in sides]
    bounds = [side["ci95_ms"][figure] for _, side in sides]
    sim = [sum(pair) / 2 for pair in bounds]
    # Of the mean over all repetitions, from that of each; and of one real run, which is one choice
    # of replicas out of those over which the simulator averages.
    width = math.hypot(*((high - low) / 2 for low, high in bounds)) / count
    mean_real, mean_sim = statistics.fmean(real), statistics.fmean(sim)
    chance = 1.96 * width / student(runs - 1) * math.sqrt(runs) / mean_real
    error = mean_sim / mean_real - 1
    cost = {f"{side}_{key}": statistics.fmean(value(pair[i]) for pair in sides)
            for i, side in enumerate(("real", "sim"))
            for key, value in (("copies_per_call", lambda p: p["copies_per_call"]),
                               ("duplicates_per_call", lambda p: p["duplicates"] / p["calls"]))}
    return {"service": cell.service.text, "load": cell.load, "policy": policy, "figure": figure,
            "real_ms": mean_real, "real_half_width_ms": half_width(real), "sim_ms": mean_sim,
            "sim_ci95_ms": [mean_sim - width, mean_sim + width], "error": error,
            "error_half_width": half_width([s / r for s, r in zip(sim, real)]), "chance": chance,
            "within": abs(error) <= WITHIN, **cost, "real_by_repetition_ms": real,
            "sim_by_repetition_ms": sim}


HEAD = ("| service | load | policy | figure | real, ms | simulated, ms | error | by chance | "
        "within 10 % | duplicates, real / sim | copies, real / sim |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|")


def line_of(row):
    def give(value, scale=1, digits=2):
        return "" if value is None else f" ± {value * scale:.{digits}f}"

    low, high = row["sim_ci95_ms"]
    costs = ("", "")
    if row["figure"] == FIGURES[0]:
        costs = (f"{row['real_duplicates_per_call']:.2%} / {row['sim_duplicates_per_call']:.2%}",
                 f"{row['real_copies_per_call']:.3f} / {row['sim_copies_per_call']:.3f}")
    return (f"| {row['service']} | {row['load']:g} | {row['policy']} | {row['figure']} "
            f"| {row['real_ms']:.2f}{give(row['real_half_width_ms'])} "
            f"| {row['sim_ms']:.2f} [{low:.2f}-{high:.2f}] "
            f"| {row['error']:+.1%}{give(row['error_half_width'], 100, 1)} "
            f"| ± {row['chance']:.1%} | {'yes' if row['within'] else 'no'} "
            f"| {costs[0]} | {costs[1]} |")
