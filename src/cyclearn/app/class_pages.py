"""Classes that are too large for one list: filtered and shown page by page."""

from __future__ import annotations

from itertools import islice
from typing import Any

from cyclearn.app.learning_tasks import learned
from cyclearn.app.limits import Limits
from cyclearn.app.views import members_view
from cyclearn.foundation.deadlines import deadline_after, has_passed
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.graphs.bitsets import reached
from cyclearn.report.class_listing import Listing, listed_by_distance
from cyclearn.results.result import LearnResult
from cyclearn.search.members import (
    Member,
    MemberList,
    fitted_member,
    shared_variation,
    stream_members,
)

# If few members match, a page ends after examining this many.
_SECONDS = 8.0
# The last position that a page can begin at.
_FURTHEST = 10**15


def members_page(*, folder: str, request: dict[str, Any]) -> dict[str, Any]:
    """Members of the class from position ``at`` on that match the request.

    ``source``, ``target`` and ``how`` select members in which one variable drives another,
    ``directly`` or ``somehow``; ``stable`` selects members with a stable fit. ``next`` in the
    answer is the position at which the next page begins.
    """
    result = learned(folder)
    if result.experiments is not None:
        raise InputError("all graphs of tables with interventions are listed already")
    asked = _Asked(result, request)
    found, following = asked.page()
    listing = Listing(
        listed_by_distance(result, found),
        MemberList(
            tuple(found),
            "all",
            asked.size,
            None,
            shared_variation(result.tables.tables[0].moments, result.graph.names),
        ),
    )
    return members_view(result, listing) | {
        # As text, because a page would round a large number.
        "size": None if asked.size is None else f"{asked.size:,}",
        "found": len(found),
        "at": asked.at,
        "next": following,
        "has_learned": any(member.graph == result.graph for member in found),
    }


class _Asked:
    """The request for a page."""

    def __init__(self, result: LearnResult, request: dict[str, Any]) -> None:
        names = result.graph.names
        self._result = result
        self.at = request.get("at", 0)
        if type(self.at) is not int or not 0 <= self.at <= _FURTHEST:
            raise InputError(f"a page cannot begin there; give a number from 0 to {_FURTHEST:,}")
        self._ends = request.get("source") or "", request.get("target") or ""
        for name in self._ends:
            if name and name not in names:
                raise InputError(f"there is no variable {short(name)}; choose one of the graph")
        self._has_pair = all(self._ends) and self._ends[0] != self._ends[1]
        self._directly = request.get("how", "directly") != "somehow"
        self._stable = bool(request.get("stable"))
        required = [self._ends] if self._has_pair and self._directly else []
        self._graphs, self.size = stream_members(
            (result.graph, *result.alternatives), result.knowledge, required=required
        )

    def page(self) -> tuple[list[Member], int | None]:
        """The members of the page, and the position at which the next one begins."""
        names = self._result.graph.names
        tables = [model.moments for model in self._result.models.values()]
        ends = tuple(map(names.index, self._ends)) if self._has_pair else (0, 0)
        is_path_asked = self._has_pair and not self._directly
        deadline = deadline_after(_SECONDS)
        found: list[Member] = []
        place = self.at
        for graph in islice(self._graphs, self.at, None):
            if len(found) == Limits().max_members or has_passed(deadline):
                return found, place
            place += 1
            if is_path_asked and not reached(graph.columns, 1 << ends[1]) >> ends[0] & 1:
                continue
            member = fitted_member(graph, tables)
            if member.is_stable or not self._stable:
                found.append(member)
        return found, None
