"""All equalities that follow from few by context, lift and substitution, for all multisets at once.

Nothing is shared with the library: no territories, no search outward from a graph. A multiset is
the sorted tuple of its columns, each an integer whose bits are nodes; columns may be empty, and
there may be fewer columns than nodes. Known to be equal at first: what an exchange or a reduction
makes of two columns, what the scaling rule adds to three or four, and what may stand beside the
four facets of four nodes. Then, until nothing changes:

- *context*: equal multisets with the same column added are equal;
- *lift*: equal multisets with a node added to all columns are equal;
- *substitution*: let all columns that have z have i, but for one. Equal multisets of that kind,
  with i added to the one, are equal.
"""

from array import array
from itertools import combinations, combinations_with_replacement

import naive_rules


class Closure:
    """The multisets of up to p columns on p nodes, and which are equal."""

    def __init__(self, p):
        self.p = p
        self.multisets = [
            columns
            for n in range(p + 1)
            for columns in combinations_with_replacement(range(1 << p), n)
        ]
        self.number = {columns: n for n, columns in enumerate(self.multisets)}
        self._parent = list(range(len(self.multisets)))
        self._start()
        self._close()

    def find(self, n):
        while self._parent[n] != n:
            self._parent[n] = n = self._parent[self._parent[n]]
        return n

    def label(self, columns):
        """Equal for two multisets exactly if they are found to be equal."""
        return self.find(self.number[tuple(sorted(columns))])

    def _merge(self, m, n):
        m, n = sorted((self.find(m), self.find(n)))
        self._parent[n] = m
        return m != n

    def _equate(self, *multisets):
        first, *others = (self.number[tuple(sorted(columns))] for columns in multisets)
        for other in others:
            self._merge(first, other)

    def _start(self):
        p = self.p
        for S in range(1, 1 << p):
            self._equate((S, S), *((S, S ^ (1 << v)) for v in naive_rules.nodes_of(S)))
        larger = [S for S in range(1 << p) if S.bit_count() >= 2]
        for k in range(3, p):
            for columns in combinations_with_replacement(larger, k):
                if naive_rules.union(columns).bit_count() == k:
                    absorbed = naive_rules.nodes_of(naive_rules.scaling(list(columns)))
                    self._equate((*columns, 0), *((*columns, 1 << v) for v in absorbed))
        for V in combinations(range(p), 4) if p > 4 else ():
            whole = sum(1 << v for v in V)
            facets = tuple(whole ^ (1 << v) for v in V)
            inside = (S for S in range(whole) if S & ~whole == 0)
            self._equate(*((*facets, S) for S in inside))

    def _close(self):
        codes, origins, ends = {}, array("l"), array("l")
        operations = array("l")
        for columns in self.multisets:
            for operation, smaller in self._operations(columns):
                operations.append(codes.setdefault(operation, len(codes)))
                origins.append(self.number[tuple(sorted(smaller))])
            ends.append(len(origins))
        is_changed = True
        while is_changed:
            is_changed = False
            reached = {}
            position = 0
            for n, end in enumerate(ends):
                for at in range(position, end):
                    key = operations[at] * len(ends) + self.find(origins[at])
                    other = reached.setdefault(key, n)
                    if other != n:
                        is_changed |= self._merge(other, n)
                position = end

    def _operations(self, columns):
        """Every operation that makes these columns of others, and the others."""
        for n in range(len(columns)):
            if n == 0 or columns[n] != columns[n - 1]:
                yield ("context", columns[n]), columns[:n] + columns[n + 1 :]
        shared = (1 << self.p) - 1
        for column in columns:
            shared &= column
        for v in naive_rules.nodes_of(shared) if columns else ():
            yield ("lift", v), [column ^ (1 << v) for column in columns]
        for z in range(self.p):
            having = [n for n, column in enumerate(columns) if column >> z & 1]
            for i in range(self.p):
                if i != z and having and all(columns[n] >> i & 1 for n in having):
                    for n in having:
                        smaller = columns[n] ^ (1 << i)
                        yield ("substitution", z, i), (*columns[:n], smaller, *columns[n + 1 :])
