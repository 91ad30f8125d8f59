"""What setting one variable does to all others, over the graphs that fit equally well."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from cyclearn.app.learning_tasks import learned
from cyclearn.app.limits import Limits
from cyclearn.app.workspace import write_json
from cyclearn.errors import InputError
from cyclearn.learning.class_effects import ClassEffects, effects_over
from cyclearn.learning.members import MemberList, list_members
from cyclearn.learning.result import LearnResult

_WHICH = {
    "all": "all graphs that fit equally well",
    "sampled": "graphs drawn at random from those that fit equally well",
    "first": "the first graphs listed of those that fit equally well, which are no fair sample",
}


def effects(*, folder: str, table: str, of: str, request: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - as all jobs
    """Effects of holding one variable on every other."""
    result, source = learned(of), request.get("source")
    names = result.graph.names
    if source not in names:
        raise InputError(f"there is no variable {source!r}; choose one of the graph")
    group = _group(result, request.get("group"))
    listed = _listed(of, group)
    found = [effects_over(listed, source, target) for target in names if target != source]
    i = names.index(source)
    view = {
        "source": source,
        "group": group,
        **_place(result, group, i),
        "targets": [_target(result, group, each) for each in found],
        "words": f"Over {_WHICH[listed.selection]}: {listed.n_looked_at:,} were looked at, "
        f"{found[0].n_stable:,} of them are stable with these data.",
        "is_rank": result.options.margins == "rank",
    }
    write_json(Path(folder) / "view.json", view)
    return {}


def effects_table(of: str, source: str, group: str | None) -> Any:
    """The different effects on every other variable, as a table."""
    import pandas as pd

    result = learned(of)
    listed, parts = _listed(of, _group(result, group)), []
    for target in result.graph.names:
        if target != source:
            found = effects_over(listed, source, target).distinct
            parts.append(found.assign(source=source, target=target))
    columns = ["source", "target", "total_effect", "do_effect", "share"]
    return pd.concat(parts, ignore_index=True)[columns]


def _group(result: LearnResult, group: str | None) -> str:
    """The group whose weights count: the one asked for, or the first."""
    names = list(result.models)
    if group is not None and group not in names:
        raise InputError(f"there is no group {group!r}; choose one of {', '.join(names)}")
    return names[0] if group is None else group


@lru_cache(maxsize=4)
def _listed(of: str, group: str) -> MemberList:
    result = learned(of)
    return list_members(
        (result.graph, *result.alternatives),
        result.models[group].moments,
        result.knowledge,
        max_members=Limits().max_members,
    )


def _place(result: LearnResult, group: str, i: int) -> dict[str, float]:
    moments = result.models[group].moments
    return {
        "mean": 0.0 if moments.mean is None else float(moments.mean[i]),
        "sd": float(moments.scale[i]),
    }


def _target(result: LearnResult, group: str, found: ClassEffects) -> dict[str, Any]:
    """One variable: where it is without any change, and what the change does to it."""
    j = result.graph.names.index(found.target)
    distinct = found.distinct
    settled = distinct["do_effect"].dropna()
    return {
        "name": found.target,
        **_place(result, group, j),
        "effects": [
            [float(effect), float(share)]
            for effect, share in zip(distinct["do_effect"], distinct["share"], strict=True)
        ],
        "low": float(settled.min()) if len(settled) else None,
        "high": float(settled.max()) if len(settled) else None,
    }
