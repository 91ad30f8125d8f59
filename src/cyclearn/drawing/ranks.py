"""The layers of blocks: below their causes, near their neighbours, of similar width."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import sqrt

import networkx as nx

# A layer wider than this many times the side of a square with the total area is split.
_WIDEST = 2.2


def layers(
    links: list[tuple[int, int]], widths: Mapping[int, float], heights: Mapping[int, float]
) -> dict[int, int]:
    """Layer of every block, numbered from zero without gaps; ``links`` point downwards.

    Longest path from the causes, then as close to the neighbours as the order allows.

    Examples
    --------
    >>> size = dict.fromkeys(range(4), 1.0)
    >>> layers([(0, 1), (1, 2), (3, 2)], size, size)
    {0: 0, 1: 1, 2: 2, 3: 1}
    """
    graph = nx.DiGraph(links)
    graph.add_nodes_from(widths)
    generations = nx.topological_generations(graph)
    layer = {b: n for n, blocks in enumerate(generations) for b in sorted(blocks)}
    order = list(layer)
    above, below = graph.pred, graph.succ
    # One move can allow another; a few rounds are enough in practice.
    for _ in range(4):
        for b in reversed(order):
            pull = len(below[b]) - len(above[b])
            if pull > 0:
                layer[b] = min(layer[c] for c in below[b]) - 1
            elif pull < 0:
                layer[b] = max(layer[a] for a in above[b]) + 1
    area = sum(widths[b] * heights[b] for b in widths)
    limit = max(_WIDEST * sqrt(area), *(2 * width for width in widths.values()))
    layer = _narrowed(layer, above, widths, limit)
    used = {old: new for new, old in enumerate(sorted(set(layer.values())))}
    return {b: used[layer[b]] for b in widths}


def _narrowed(
    layer: dict[int, int],
    above: Mapping[int, Iterable[int]],
    widths: Mapping[int, float],
    limit: float,
) -> dict[int, int]:
    """The same layers, or more if one would be much wider than a page."""
    total: dict[int, float] = defaultdict(float)
    for b, value in layer.items():
        total[value] += widths[b]
    if max(total.values()) <= limit:
        return layer
    narrow: dict[int, int] = {}
    filled: dict[int, float] = defaultdict(float)
    # Causes come before effects.
    for b in sorted(layer, key=lambda b: layer[b]):
        place = max([layer[b], *(narrow[a] + 1 for a in above[b])])
        while filled[place] and filled[place] + widths[b] > limit:
            place += 1
        narrow[b] = place
        filled[place] += widths[b]
    return narrow
