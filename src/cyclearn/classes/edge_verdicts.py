"""What all graphs that fit equally well say about an edge: three words, and one place for them.

An edge that every such graph has is the *same in all* of them. That says how far the graphs agree
with each other, not how probable the edge is: all of them may be wrong.
"""

from __future__ import annotations

from typing import Literal

EdgeVerdict = Literal["same in all", "turns", "comes and goes"]

SAME: EdgeVerdict = "same in all"
TURNS: EdgeVerdict = "turns"
OPTIONAL: EdgeVerdict = "comes and goes"


def edge_verdict(*, compelled: bool, back_compelled: bool, always_adjacent: bool) -> EdgeVerdict:
    """The verdict on an edge a → b that some graph has.

    Parameters
    ----------
    compelled, back_compelled : bool
        Whether every graph has a → b, and whether every graph has b → a.
    always_adjacent : bool
        Whether every graph joins the two.

    Examples
    --------
    >>> edge_verdict(compelled=False, back_compelled=False, always_adjacent=True)
    'turns'
    >>> edge_verdict(compelled=False, back_compelled=True, always_adjacent=True)
    'comes and goes'
    """
    if compelled:
        return SAME
    return TURNS if always_adjacent and not back_compelled else OPTIONAL


def pair_verdict(
    possible: tuple[bool, bool], compelled: tuple[bool, bool], *, always_adjacent: bool
) -> EdgeVerdict:
    """The verdict on a pair that some graph joins: that of its least settled edge.

    ``possible`` and ``compelled``: whether some, whether every graph has a → b and b → a.

    Examples
    --------
    >>> pair_verdict((True, True), (True, False), always_adjacent=True)
    'comes and goes'
    """
    if possible == compelled:
        return SAME
    open_edge = compelled.index(False)
    return edge_verdict(
        compelled=False, back_compelled=compelled[1 - open_edge], always_adjacent=always_adjacent
    )
