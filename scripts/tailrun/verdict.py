# SPDX-License-Identifier: MIT
"""Cells as lines of a table, and what was to be reached."""
from tailrun.cell import FIGURES

# The last policy is the one that has to reach them.
WITHIN = 1.05
P99_MAX = {("A1", 460): 16, ("B", 460): 9}
EXECUTIONS_MAX = 1.06
# A queue that only grows: by the end of 20 000 calls it is seconds long.
COLLAPSED_P99 = 1000

HEAD = ("| scenario | calls/s | policy | p50 | p90 | p99 | p99.9 | executions | hedges | won "
        "| refused | failed |\n|---|---|---|---|---|---|---|---|---|---|---|---|")


def span(cell, policy, name):
    """Median, and what the repetitions ranged over if that shows."""
    values = [run[name] for run in cell.runs[policy]]
    text, low, high = (f"{x:.1f}" for x in (cell.median(policy, name), min(values), max(values)))
    return text if low == high else f"{text} [{low}-{high}]"


def lines_of(cell):
    return [f"| {cell.scenario} | {cell.rate:g} | {policy} | "
            + " | ".join(span(cell, policy, name) for name in FIGURES)
            + f" | {cell.median(policy, 'executions'):.3f} | {cell.median(policy, 'hedges'):.2%} "
              f"| {cell.median(policy, 'hedges_won'):.0%} | {cell.total(policy, 'extra_refused')} "
              f"| {cell.total(policy, 'failed')} |" for policy in cell.policies]


def goal(text, is_reached):
    return {"text": text, "is_reached": bool(is_reached)}


def goals_of(cells):
    goals = []
    for cell in cells:
        judged, name = cell.policies[-1], f"{cell.scenario} at {cell.rate:g}/s"
        for figure in ("p99", "p99_9"):
            if len(cell.policies) == 1:
                continue
            values = {policy: cell.median(policy, figure) for policy in cell.policies}
            best = min(values, key=values.get)
            goals.append(goal(f"{name}: {figure.replace('_', '.')} {values[judged]:.1f} ms, the "
                              f"lowest of all within 5 % (the lowest: {values[best]:.1f} ms, "
                              f"{best})", values[judged] <= values[best] * WITHIN))
        limit = P99_MAX.get((cell.scenario, cell.rate))
        if limit:
            p99 = cell.median(judged, "p99")
            goals.append(goal(f"{name}: p99 {p99:.1f} ms, at most {limit} ms", p99 <= limit))
        executions = cell.median(judged, "executions")
        goals.append(goal(f"{name}: {executions:.3f} executions a call, at most {EXECUTIONS_MAX}",
                          executions <= EXECUTIONS_MAX))
        failed, p99 = cell.total(judged, "failed"), cell.median(judged, "p99")
        goals.append(goal(f"{name}: no collapse (p99 {p99:.1f} ms, {failed} calls failed)",
                          failed == 0 and p99 < COLLAPSED_P99))
    return goals
