"""Background knowledge: required and forbidden edges, tiers, exogenous variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cyclearn.foundation import InputError, SavedAnswer, read_text, short
from cyclearn.foundation.arguments import items, names_in, one_name
from cyclearn.foundation.arrays import BoolArray


@dataclass(frozen=True)
class Knowledge(SavedAnswer):
    """Background knowledge, by name.

    Parameters
    ----------
    required : pairs of str
        Edges (from, to) that every graph must have.
    forbidden : pairs of str
        Edges (from, to) that no graph may have.
    tiers : lists of str
        Sets of variables in causal order: nothing in a later tier causes anything in an earlier
        one. Edges inside a tier, and nodes in no tier, are unrestricted.
    exogenous : names
        Exogenous variables: nothing in the data causes them, and their covariance is unrestricted.
        The same as ``exogenous`` of :class:`cyclearn.Reading`.

    Examples
    --------
    >>> Knowledge(tiers=[["age"], ["dose", "pain"]], forbidden=[("pain", "dose")])
    Knowledge(required=(), forbidden=(('pain', 'dose'),), tiers=(('age',), ('dose', 'pain')), exogenous=())
    """  # noqa: E501

    required: Sequence[tuple[str, str]] = field(default=())
    forbidden: Sequence[tuple[str, str]] = field(default=())
    tiers: Sequence[Sequence[str]] = field(default=())
    exogenous: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, _edges(getattr(self, name), name))
        tiers = items("tiers", self.tiers, "a list of lists of names: [['age'], ['dose']]")
        object.__setattr__(self, "tiers", tuple(names_in("a tier", tier) for tier in tiers))
        object.__setattr__(self, "exogenous", names_in("exogenous", self.exogenous))
        self._tier_of()
        self._check_required()

    def _tier_of(self) -> dict[str, int]:
        tier_of: dict[str, int] = {}
        for number, tier in enumerate(self.tiers):
            for name in tier:
                if tier_of.setdefault(name, number) != number:
                    raise InputError(f"{name!r} appears in two tiers; keep it in one")
        return tier_of

    def _check_required(self) -> None:
        """Raise if the knowledge contradicts itself, and name the contradiction."""
        tier_of = self._tier_of()
        forbidden, exogenous = set(self.forbidden), set(self.exogenous)
        for source, target in self.required:
            edge = f"{source} -> {target} is required"
            if source == target:
                raise InputError(f"{edge}, but a graph has no self-loops")
            if (source, target) in forbidden:
                raise InputError(f"{edge} and forbidden; remove one of the two")
            if target in exogenous:
                raise InputError(f"{edge}, but {target} is exogenous: nothing causes it")
            if source in tier_of and target in tier_of and tier_of[source] > tier_of[target]:
                raise InputError(
                    f"{edge}, but {source} is in a later tier than {target}: move one of them"
                )

    def masks(self, names: Sequence[str]) -> tuple[BoolArray, BoolArray]:
        """Which edges are allowed and which are required, as arrays over ``names``."""
        index = {name: i for i, name in enumerate(names)}
        mentioned = [*self.exogenous]
        mentioned += [name for group in (*self.required, *self.forbidden) for name in group]
        mentioned += [name for tier in self.tiers for name in tier]
        for name in mentioned:
            if name not in index:
                raise InputError(
                    f"the knowledge names {name!r}, which is not a variable of the data"
                )
        allowed = ~np.eye(len(names), dtype=bool)
        required = np.zeros_like(allowed)
        for source, target in self.forbidden:
            allowed[index[source], index[target]] = False
        for target in self.exogenous:
            allowed[:, index[target]] = False
        tier_of = self._tier_of()
        for source, later in tier_of.items():
            for target, earlier in tier_of.items():
                if later > earlier:
                    allowed[index[source], index[target]] = False
        for source, target in self.required:
            required[index[source], index[target]] = True
        return allowed, required

    @staticmethod
    def given(knowledge: Knowledge | None, exogenous: Sequence[str]) -> Knowledge | None:
        """The knowledge, if there is any, with these variables added as exogenous."""
        if not exogenous:
            return knowledge
        known = knowledge or Knowledge()
        return replace(known, exogenous=tuple(dict.fromkeys((*known.exogenous, *exogenous))))

    def to_dict(self) -> dict[str, Any]:
        """The knowledge as lists, for JSON."""
        return super().to_dict()

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Knowledge:
        """Knowledge from the values of :meth:`to_dict`; parts may be missing."""
        parts = {"required", "forbidden", "tiers", "exogenous"}
        if not isinstance(record, Mapping) or not set(record) <= parts:
            other = sorted(map(short, set(record) - parts)) if isinstance(record, Mapping) else []
            raise InputError(
                f"knowledge accepts only the parts {', '.join(sorted(parts))}; this one "
                + (f"has {', '.join(other[:3])}" if other else f"is {short(record)}")
            )
        return cls(**record)

    @classmethod
    def read(cls, path: str | Path) -> Knowledge:
        """Knowledge from a JSON file."""
        text = read_text(path, "knowledge file")
        try:
            return cls.from_json(text)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def _edges(edges: Any, role: str) -> tuple[tuple[str, str], ...]:
    checked = []
    for edge in items(role, edges, "a list of pairs (from, to): [['age', 'dose']]"):
        if not isinstance(edge, (Sequence, np.ndarray)) or isinstance(edge, str) or len(edge) != 2:
            raise InputError(f"{short(edge)} in {role} is not an edge; give a pair (from, to)")
        checked.append((one_name(role, edge[0]), one_name(role, edge[1])))
    return tuple(checked)
