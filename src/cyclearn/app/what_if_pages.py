"""Effects of changing one variable on all others, over the graphs that fit equally well.

The slider of the page needs no new request: means are linear in the size d of the change, and
variances are a + b·d + c·d², so a model needs five numbers for each variable.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.app.learning_tasks import learned
from cyclearn.app.limits import Limits
from cyclearn.app.workspace import write_json
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.models.predictions import EstimatedModel
from cyclearn.results.class_effects import ClassEffects, effects_over
from cyclearn.results.result import LearnResult
from cyclearn.results.what_if import estimated
from cyclearn.search.members import MemberList

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
_WHICH = {
    "all": "all graphs that fit equally well",
    "sampled": "graphs drawn at random from those that fit equally well",
    "first": (
        "the first listed graphs of those that fit equally well, which are not a random sample"
    ),
}
# For each option of the page, the argument of ``result.do`` and the effect of one unit.
_HOW = {"hold": ("values", "do_effect"), "push": ("shift", "total_effect")}
# Lines that agree to this many digits are equal.
_DIGITS = 9


def effects(*, folder: str, of: str, request: dict[str, Any], **_: Any) -> None:
    """Effects of holding or pushing one variable on every other."""
    from scipy.special import ndtri

    result = learned(of)
    source, group, how = asked(result, request)
    names = result.graph.names
    listed = _listed(of, group)
    i = names.index(source)
    place = _place(result, group, i)
    found = {t: effects_over(listed, source, t) for t in names if t != source}
    own, others = _lines(result, group, listed, i, how)
    unsettled = others.count(None)
    n_stable = next(iter(found.values())).n_stable
    view = {
        "source": source,
        "group": group,
        "how": how,
        **place,
        "targets": [
            _target(result, group, how, effect)
            | {
                "own": None if own is None else own[names.index(target)],
                "lines": _distinct([line[names.index(target)] for line in others if line]),
            }
            for target, effect in found.items()
        ],
        "z": float(ndtri(0.5 + LEVEL / 2)),
        "level": LEVEL,
        "words": f"Over {_WHICH[listed.selection]}: {listed.n_looked_at:,} were examined, and "
        f"{n_stable:,} of them {'is' if n_stable == 1 else 'are'} stable with these data."
        + f" In {unsettled} of {len(others)} the system is not stable under this intervention."
        * bool(unsettled),
        "is_rank": result.options.margins == "rank",
    }
    write_json(Path(folder) / "view.json", view)


def asked(result: LearnResult, request: dict[str, Any]) -> tuple[str, str, str]:
    """The variable to change, the group, and how: hold or push."""
    source, how = request.get("source"), request.get("how", "hold")
    if source not in result.graph.names:
        raise InputError(f"there is no variable {short(source)}; choose one of the graph")
    if how not in tuple(_HOW):
        raise InputError(f"a variable cannot be changed by {short(how)}; use hold or push")
    return source, _group(result, request.get("group")), how


def example(of: str, request: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``result.do`` for one standard deviation, where the slider starts."""
    result = learned(of)
    source, group, how = asked(result, request)
    place = _place(result, group, result.graph.names.index(source))
    value = place["sd"] + (place["mean"] if how == "hold" else 0.0)
    arguments: dict[str, Any] = {_HOW[how][0]: {source: float(f"{value:.6g}")}}
    return arguments | ({"group": group} if result.groups else {})


def predictions_table(of: str, request: dict[str, Any]) -> pd.DataFrame:
    """The prediction of ``result.do`` for one standard deviation."""
    found = learned(of).do(**example(of, request), level=LEVEL, max_members=Limits().max_members)
    return found.reset_index()


def effects_table(of: str, request: dict[str, Any]) -> pd.DataFrame:
    """The different effects on every other variable, as a table."""
    import pandas as pd

    result, source = learned(of), request["source"]
    listed, parts = _listed(of, _group(result, request.get("group"))), []
    for target in result.graph.names:
        if target != source:
            found = effects_over(listed, source, target).distinct
            parts.append(found.assign(source=source, target=target))
    columns = ["source", "target", "total_effect", "do_effect", "share"]
    return pd.concat(parts, ignore_index=True)[columns]


def _group(result: LearnResult, group: str | None) -> str:
    """The group whose weights are used: the requested one, or the first."""
    names = list(result.models)
    if group is not None and group not in names:
        raise InputError(f"there is no group {short(group)}; choose one of {', '.join(names)}")
    return names[0] if group is None else group


@lru_cache(maxsize=4)
def _listed(of: str, group: str) -> MemberList:
    return learned(of).listed(group, max_members=Limits().max_members)


def _place(result: LearnResult, group: str, i: int) -> dict[str, float]:
    model = result.models[group]
    return {"mean": float(model.model.mean[i]), "sd": float(model.moments.scale[i])}


Line = list[float | None]


def _lines(
    result: LearnResult, group: str, listed: MemberList, i: int, how: str
) -> tuple[list[Line] | None, list[list[Line] | None]]:
    """For the learned graph, and for all: level, effect, a, b and c of every variable."""
    model = result.models[group]
    every = [each for member in listed.members for each in member.models]
    place = _place(result, group, i)
    mean, sd = place["mean"], place["sd"]

    def lines(estimate: EstimatedModel) -> list[Line] | None:
        before, now, then = (
            estimate.predict({i: mean + d}, {}) if how == "hold" else estimate.predict({}, {i: d})
            for d in (-sd, 0.0, sd)
        )
        if not then.settles:
            return None
        a, up, down = now.errors**2, then.errors**2, before.errors**2
        b, c = (up - down) / (2 * sd), np.maximum(up + down - 2 * a, 0.0) / (2 * sd**2)
        numbers = zip(now.means, (then.means - now.means) / sd, a, b, c, strict=True)
        return [list(map(float, each)) for each in numbers]

    (shown,) = estimated(model, [model.model])
    own = lines(shown) if model.is_stable else None
    return own, [lines(each) for each in estimated(model, every)]


def _distinct(lines: list[Line]) -> list[Line]:
    kept = {tuple(f"{value:.{_DIGITS}g}" for value in line): line for line in lines}
    return list(kept.values())


def _target(result: LearnResult, group: str, how: str, found: ClassEffects) -> dict[str, Any]:
    """One variable: its present mean, and its response to the change."""
    j = result.graph.names.index(found.target)
    distinct = found.distinct
    column = _HOW[how][1]
    settled = distinct[column].dropna()
    return {
        "name": found.target,
        **_place(result, group, j),
        "effects": [
            [float(effect), float(share)]
            for effect, share in zip(distinct[column], distinct["share"], strict=True)
        ],
        "low": float(settled.min()) if len(settled) else None,
        "high": float(settled.max()) if len(settled) else None,
    }
