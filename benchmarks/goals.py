"""Whether the goals are reached, and whether results are as accurate as they must be."""

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.plan import RATE, Ceiling, Goal, Group, Problem
from benchmarks.report import FLOOR, Row, label, values

__all__ = ["judge", "over_limits", "verdicts"]


def judge(goal: Goal | Ceiling, group: str, summary: Sequence[Row]) -> tuple[str, bool | None]:
    """A line about the goal, and whether it is reached (None: not measured)."""
    ours = _measured(goal, goal.ours, group, summary)
    if isinstance(goal, Ceiling):
        return _judge_ceiling(goal, group, ours)
    rival = _measured(goal, goal.rival, group, summary)
    what = f"{group} ({label(goal.where)}): {_fraction(goal)}{', median' if goal.median else ''}"
    ratios = {
        problem: _advantage(goal, ours[problem], rival[problem])
        for problem in ours
        if problem in rival
    }
    if not ratios:
        return f"{what}: not measured", None
    worst = min(ratios, key=ratios.__getitem__)
    ratio = statistics.median(ratios.values()) if goal.median else ratios[worst]
    if goal.median:
        what += f" of {len(ratios)}"
    elif len(ratios) > 1:
        what += f", worst of {len(ratios)} ({worst})"
    reached = ratio >= goal.at_least
    return f"{what}: {ratio:.3g} (goal {goal.at_least:g}): {_verdict(reached)}", reached


def _measured(
    goal: Goal | Ceiling, method: str, group: str, summary: Sequence[Row]
) -> dict[str, float]:
    """The goal's quantity of a method on each problem of the goal."""
    return {
        row["problem"]: float(row[goal.quantity])
        for row in summary
        if (row["group"], row["method"]) == (group, method) and _matches(row, goal.where)
    }


def _judge_ceiling(goal: Ceiling, group: str, ours: Mapping[str, float]) -> tuple[str, bool | None]:
    what = f"{group} ({label(goal.where)}): {goal.ours}, {goal.quantity}"
    if not ours:
        return f"{what}: not measured", None
    largest = max(ours.values())
    reached = largest <= goal.at_most
    return f"{what}: {largest:.3g} (at most {goal.at_most:g}): {_verdict(reached)}", reached


def _fraction(goal: Goal) -> str:
    ours_first = goal.quantity.endswith(RATE)
    first, second = (goal.ours, goal.rival) if ours_first else (goal.rival, goal.ours)
    return f"{first} / {second}, {goal.quantity}"


def _advantage(goal: Goal, ours: float, rival: float) -> float:
    above, below = (ours, rival) if goal.quantity.endswith(RATE) else (rival, ours)
    return above / below if below > 0 else float("inf")


def _verdict(reached: bool) -> str:
    return "reached" if reached else "NOT REACHED"


def verdicts(summary: Sequence[Row], groups: Mapping[str, Group]) -> str:
    """All goals, a list item each."""
    return "".join(
        f"* {judge(goal, name, summary)[0]}\n"
        for name, group in groups.items()
        for goal in group.goals
    )


def _matches(row: Row, wanted: Problem) -> bool:
    numbers = set(row["problem"].split(", "))
    return all(
        any(label({name: value}) in numbers for value in values(given))
        for name, given in wanted.items()
    )


def over_limits(group: Group, summary: Sequence[Row]) -> list[str]:
    """What methods of ours computed less accurately than they must."""
    return [
        f"{row['group']} ({row['problem']}), {row['method']}: "
        f"{name} {float(row[name]):.2g}, at most {limit:g}"
        for row in summary
        if group.method(row["method"]).ours
        for name, limit in group.limits.items()
        if not float(row[name]) <= max(limit, float(row.get(name + FLOOR) or 0.0))
    ]
