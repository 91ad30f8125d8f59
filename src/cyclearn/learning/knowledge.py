"""What is known before looking at the data: edges that must or must not be there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import InputError


@dataclass(frozen=True)
class Knowledge:
    """Background knowledge, by name.

    Parameters
    ----------
    required : pairs of str
        Edges (from, to) that every graph must have.
    forbidden : pairs of str
        Edges (from, to) that no graph may have.
    tiers : lists of str
        Groups in causal order: nothing in a later tier causes anything in an earlier one. Edges
        inside a tier, and nodes in no tier, are free.
    exogenous : names
        Variables that nothing in the data causes.

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
        if isinstance(self.tiers, str) or any(isinstance(tier, str) for tier in self.tiers):
            raise InputError("tiers is a list of lists of names, such as [['age'], ['dose']]")
        if isinstance(self.exogenous, str):
            raise InputError(f"exogenous is a list of names, such as [{self.exogenous!r}]")
        object.__setattr__(self, "tiers", tuple(tuple(map(str, tier)) for tier in self.tiers))
        object.__setattr__(self, "exogenous", tuple(map(str, self.exogenous)))
        self._tier_of()
        self._check_required()

    def _tier_of(self) -> dict[str, int]:
        tier_of: dict[str, int] = {}
        for number, tier in enumerate(self.tiers):
            for name in tier:
                if tier_of.setdefault(name, number) != number:
                    raise InputError(f"{name!r} stands in two tiers; keep it in one")
        return tier_of

    def _check_required(self) -> None:
        """Refuse knowledge that contradicts itself, naming the contradiction."""
        tier_of = self._tier_of()
        for source, target in self.required:
            edge = f"{source} -> {target} is required"
            if source == target:
                raise InputError(f"{edge}, but a graph has no self-loops")
            if (source, target) in self.forbidden:
                raise InputError(f"{edge} and forbidden; drop one of the two")
            if target in self.exogenous:
                raise InputError(f"{edge}, but {target} is exogenous: nothing causes it")
            if source in tier_of and target in tier_of and tier_of[source] > tier_of[target]:
                raise InputError(
                    f"{edge}, but {source} is in a later tier than {target}: move one of them"
                )

    def masks(self, names: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
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

    def to_dict(self) -> dict[str, Any]:
        """The knowledge as lists, for JSON."""
        return {
            "required": [list(edge) for edge in self.required],
            "forbidden": [list(edge) for edge in self.forbidden],
            "tiers": [list(tier) for tier in self.tiers],
            "exogenous": list(self.exogenous),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Knowledge:
        """Knowledge from the form that :meth:`to_dict` gives; parts may be missing."""
        parts = {"required", "forbidden", "tiers", "exogenous"}
        if not isinstance(record, Mapping) or not set(record) <= parts:
            raise InputError(f"knowledge has the parts {', '.join(sorted(parts))} and no others")
        return cls(**record)

    def to_json(self) -> str:
        """The knowledge as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Knowledge:
        """Knowledge from JSON."""
        try:
            return cls.from_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise InputError(f"the knowledge is not valid JSON: {error}") from None

    @classmethod
    def read(cls, path: str | Path) -> Knowledge:
        """Knowledge from a JSON file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"cannot read the knowledge file {path}: {error.strerror}") from None


def _edges(edges: Iterable[Sequence[str]], role: str) -> tuple[tuple[str, str], ...]:
    checked = []
    for edge in edges:
        if isinstance(edge, str) or len(edge) != 2:
            raise InputError(f"{edge!r} in {role} is not an edge; give a pair (from, to)")
        checked.append((str(edge[0]), str(edge[1])))
    return tuple(checked)
