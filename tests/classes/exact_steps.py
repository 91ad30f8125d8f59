"""Steps of a proof carried out on numbers, without rounding, and nothing shared with the library.

A point of a graph is a list of pairs (weight, vector), one for each column, with a positive weight
and the vector on the column; its matrix is the sum of weight · vector · vectorᵀ. With weights no
square roots are needed. :func:`carried` takes the point of a graph over one step of a proof: a
point of the graph after the step with the same matrix. Its entries are fractions, but for the
scaling and facet rules, where they are polynomials in one real root (``real_roots``).
"""

from fractions import Fraction
from itertools import permutations

import naive_rules
from naive_rules import nodes_of, pairs_inside, union
from real_roots import Root, value


class DegenerateError(Exception):
    """A number is zero by accident; another point has to be drawn."""


def matrix_of(point):
    n = len(point[0][1])
    return [[sum(d * q[i] * q[j] for d, q in point) for j in range(n)] for i in range(n)]


def is_point(point, columns):
    """Whether vectors are on the columns, and weights positive."""
    return len(point) == len(columns) and all(
        d > 0 and all(x == 0 for v, x in enumerate(q) if not column >> v & 1)
        for (d, q), column in zip(point, columns, strict=True)
    )


def solved(matrix, right):
    """X with matrix · X = right, both lists of rows."""
    n = len(matrix)
    rows = [[*matrix[i], *right[i]] for i in range(n)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k] != 0), None)
        if pivot is None:
            raise DegenerateError
        rows[k], rows[pivot] = rows[pivot], rows[k]
        head = 1 / rows[k][k]
        rows[k] = [x * head for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def inverse(matrix):
    n = len(matrix)
    return solved(matrix, [[Fraction(i == j) for j in range(n)] for i in range(n)])


def less(matrix, weight, vector):
    n = range(len(matrix))
    return [[matrix[i][j] - weight * vector[i] * vector[j] for j in n] for i in n]


def carried(point, columns, after, rule=None, core=0, witness=()):
    """A point of the columns ``after`` with the matrix of a point of ``columns``.

    The two are multisets that differ in one column, in any order. ``witness`` are the columns that
    allow the step, with the core D, where it is not a rotation.
    """
    old, new = _difference(columns, after), _difference(after, columns)
    held = list(zip(columns, point, strict=True))
    if old:
        ((c,), (target,)) = old, new
        place = columns.index(c)
        if c & ~target == 0:
            held[place] = (target, point[place])
        elif rule is None:
            _rotate(held, place, target)
        else:
            seats = _places(columns, witness, place)
            _use_rule(held, [*seats, place], target, rule, core)
    found = []
    for column in after:
        place = next(n for n, (c, _) in enumerate(held) if c == column)
        found.append(held.pop(place)[1])
    return found


def _difference(some, others):
    left = list(some)
    for column in others:
        if column in left:
            left.remove(column)
    return left


def _places(columns, witness, but):
    found = []
    for column in witness:
        found.append(
            next(n for n, c in enumerate(columns) if c == column and n not in (*found, but))
        )
    return found


def _rotate(held, place, target):
    """Make the vector of one column zero at a node, by a turn in the plane of two vectors."""
    c = held[place][0]
    for n, (S, (d1, q1)) in enumerate(held):
        gone = S & ~target
        if n == place or c & ~S or target & ~S or gone.bit_count() != 1:
            continue
        if (S & ~c).bit_count() > 1:
            continue
        i = gone.bit_length() - 1
        d2, q2 = held[place][1]
        x, y = q2[i], -q1[i]
        if x == 0:
            held[place] = (target, (d2, q2))
            return
        if y == 0:
            held[n], held[place] = (S, (d2, q2)), (target, (d1, q1))
            return
        # v = x q1 + y q2 is zero at i; what v leaves of the plane has rank one.
        v = [x * a + y * b for a, b in zip(q1, q2, strict=True)]
        weight = 1 / (x * x / d1 + y * y / d2)
        w = [d1 * y * a - d2 * x * b for a, b in zip(q1, q2, strict=True)]
        other = (d1 - weight * x * x) / (d1 * d1 * y * y)
        held[n], held[place] = (S, (other, w)), (target, (weight, v))
        return
    raise AssertionError("no rotation leads from one multiset to the other")


def _use_rule(held, seats, target, rule, core):
    """Change the vectors of the witness and of the mover, the last of the seats."""
    part = [held[n][1] for n in seats]
    columns = [held[n][0] & ~core for n in seats]
    size = len(part[0][1])
    V = nodes_of(union(columns))
    small = [(d, [q[v] for v in V]) for d, q in part]
    inner = [sum(1 << n for n, v in enumerate(V) if c >> v & 1) for c in columns]
    goal = sum(1 << n for n, v in enumerate(V) if target >> v & 1)
    if rule in ("block", "substitution"):
        new = _substituted(small, inner, goal)
    elif rule == "scaling":
        new = _scaled(small, inner)
    else:
        new = _on_facets(matrix_of(small), inner[:-1])
    wide = [(d, _widened(q, V, size)) for d, q in new]
    for n, found, column in zip(
        seats, _lifted(part, wide, V), [*(held[n][0] for n in seats[:-1]), target], strict=True
    ):
        held[n] = (column, found)


def _widened(vector, V, size):
    found = [Fraction(0)] * size
    for v, x in zip(V, vector, strict=True):
        found[v] = x
    return found


def _lifted(part, new, V):
    """Entries outside V for vectors that are known on V, one of which may be missing.

    The new vectors on V have the matrix of the old ones on V. Those that are regular there fix
    their entries elsewhere; what is left there has rank at most one, and the missing one takes it.
    """
    whole = matrix_of(part)
    size = len(whole)
    others = [i for i in range(size) if i not in V]
    # Σ weight · q[outside] · q[V]ᵀ = whole[outside, V].
    rows = [[d * q[v] for d, q in new] for v in V]
    entries = solved(rows, [[whole[i][v] for i in others] for v in V])
    found = []
    for (d, q), outside in zip(new, entries, strict=True):
        vector = list(q)
        for i, x in zip(others, outside, strict=True):
            vector[i] = x
        found.append((d, vector))
    if len(found) == len(part):
        return found
    rest = whole
    for d, q in found:
        rest = less(rest, d, q)
    for i in others:
        if rest[i][i] != 0:
            return [*found, (1 / rest[i][i], [row[i] for row in rest])]
    return [*found, (Fraction(1), [Fraction(0)] * size)]


def _chordal_order(columns):
    """Places and nodes in which a chordal orientation is taken apart, from the end."""
    if len(columns) == 1:
        return [(0, nodes_of(columns[0])[0])]
    for n, column in enumerate(columns):
        rest = columns[:n] + columns[n + 1 :]
        for u in nodes_of(column & ~union(rest)):
            if naive_rules.is_chordal_orientation(rest):
                inner = pairs_inside(rest)
                clique = nodes_of(column ^ (1 << u))
                if all((a, b) in inner for a in clique for b in clique if a < b):
                    later = _chordal_order(rest)
                    return [(n, u), *((m + (m >= n), v) for m, v in later)]
    raise AssertionError("not the columns of a chordal graph")


def peeled(matrix, columns):
    """A singular matrix with the zeros of a chordal graph as a point of its columns."""
    found = [None] * len(columns)
    for n, u in _chordal_order(list(columns)):
        if not matrix[u][u] > 0:
            raise DegenerateError
        found[n] = (1 / matrix[u][u], [row[u] for row in matrix])
        matrix = less(matrix, *found[n])
    assert all(x == 0 for row in matrix for x in row)
    return found


def _substituted(point, columns, goal):
    """The block and substitution rules: take entries out, move the single node, put them back."""
    *witness, mover = columns
    kept = mover | goal
    changes, point = [], list(point)
    sequence = _dissolution(tuple(witness), kept)
    assert sequence is not None
    for z, i, n in sequence:
        if point[n][1][z] == 0:
            raise DegenerateError
        r = point[n][1][i] / point[n][1][z]
        point = [(d, [x - r * q[z] if v == i else x for v, x in enumerate(q)]) for d, q in point]
        witness[n] ^= 1 << i
        changes.append((i, z, r))
    M = matrix_of(point)
    w = goal.bit_length() - 1
    weight = 1 / inverse(M)[w][w]
    single = [Fraction(v == w) for v in range(len(M))]
    found = [*peeled(less(M, weight, single), witness), (weight, single)]
    for i, z, r in reversed(changes):
        found = [(d, [x + r * q[z] if v == i else x for v, x in enumerate(q)]) for d, q in found]
    return found


def _dissolution(columns, kept):
    """Substitutions (z, i, place) that lead to a chordal orientation, none by a node kept."""
    if naive_rules.is_chordal_orientation(list(columns)):
        return []
    for z in nodes_of(union(columns) & ~kept):
        having = [n for n, column in enumerate(columns) if column >> z & 1]
        for i in nodes_of(union(columns) & ~(1 << z)):
            if not all(columns[n] >> i & 1 for n in having):
                continue
            for n in having:
                smaller = (*columns[:n], columns[n] ^ (1 << i), *columns[n + 1 :])
                if columns[n].bit_count() > 2 and naive_rules.dissolves(smaller, kept):
                    return [(z, i, n), *_dissolution(smaller, kept)]
    return None


def _scaled(point, columns):
    """The scaling rule: two parts of one vector are scaled until the rest is singular."""
    *witness, _ = columns
    M = matrix_of(point)
    P = inverse(M)
    for n, W in enumerate(witness):
        rest = witness[:n] + witness[n + 1 :]
        if W & ~union(rest) or not naive_rules.is_chordal_orientation(rest):
            continue
        for X, Y in _sides(W, pairs_inside(rest)):
            weight, q = point[n]
            vector = _scaled_vector(q, X, Y, _scaled_root(point[n], P, X, Y))
            found = peeled(less(M, weight, vector), rest)
            return [*found[:n], (weight, vector), *found[n:]]
    raise DegenerateError


def _sides(W, known):
    """The two sides of every bipartite component of the pairs of W that are no edges."""
    left = set(nodes_of(W))
    while left:
        side = {min(left): 0}
        waiting, is_bipartite = list(side), True
        for v in waiting:
            for u in nodes_of(W):
                if u != v and (min(u, v), max(u, v)) not in known:
                    if u not in side:
                        side[u] = 1 - side[v]
                        waiting.append(u)
                    is_bipartite &= side[u] != side[v]
        left -= set(side)
        if is_bipartite:
            X, Y = ([v for v in side if side[v] == s] for s in (0, 1))
            yield X, Y
            if Y:
                yield Y, X


def _scaled_vector(q, X, Y, t):
    return [x * t if v in X else x / t if v in Y else x for v, x in enumerate(q)]


def _scaled_root(weighted, P, X, Y):
    """t > 1 with weight · q(t)ᵀPq(t) = 1, where it is at most 1 for t = 1."""
    d, q = weighted
    power = [1 if v in X else -1 if v in Y else 0 for v in range(len(q))]
    f = [Fraction(0)] * 5
    for i, row in enumerate(P):
        for j, x in enumerate(row):
            f[2 + power[i] + power[j]] += d * q[i] * q[j] * x
    f[2] -= 1
    low = high = Fraction(1)
    if value(f, low) == 0:
        return low
    assert value(f, low) < 0
    while value(f, high) <= 0:
        high *= 2
    return Root(f, low, high).number


def _on_facets(M, facets):
    """A matrix that the facets of all nodes generate with another column, on the facets alone."""
    if len(M) == 3:
        return _on_pairs(M, facets)
    assert len(M) == 4
    P = inverse(M)
    for q in _directions():
        weight = 1 / sum(a * b * P[i + 1][j + 1] for i, a in enumerate(q) for j, b in enumerate(q))
        rest = less(M, weight, [Fraction(0), *q])
        inner = [[rest[i][j] for j in (1, 2, 3)] for i in (1, 2, 3)]
        try:
            pairs = _on_pairs(inner, [0b011, 0b101, 0b110])
        except DegenerateError:
            continue
        # The pairs, lifted by the first node: their entries there are fixed by the rest.
        wide = [(d, [Fraction(0), *vector]) for d, vector in pairs]
        rows = [[d * vector[v] for d, vector in wide] for v in (1, 2, 3)]
        heads = solved(rows, [[rest[0][v]] for v in (1, 2, 3)])
        lifted = [(d, [h[0], *v[1:]]) for (d, v), h in zip(wide, heads, strict=True)]
        by_facet = dict(zip((0b0111, 0b1011, 0b1101), lifted, strict=True))
        by_facet[0b1110] = (weight, [Fraction(0), *q])
        return [by_facet[facet] for facet in facets]
    raise DegenerateError


def _directions():
    numbers = [Fraction(n, 4) for n in range(-16, 17) if n]
    for n, b in enumerate(numbers):
        for c in numbers[n % 3 :: 2]:
            yield [Fraction(1), b, c]


def _on_pairs(M, pairs):
    """A matrix on three nodes as a point of the three pairs."""
    for x, y, z in permutations(range(3)):
        if M[x][z] == 0:
            continue
        P = inverse(M)
        n = M[x][z]
        # The pair x, z takes all of the entry n: weight · (1, n / weight).
        f = [P[z][z] * n * n, 2 * P[x][z] * n - 1, P[x][x]]
        lowest = -f[1] / (2 * f[2])
        if not (P[x][x] > 0 and lowest > 0) or value(f, lowest) > 0:
            raise DegenerateError
        weight = lowest if value(f, lowest) == 0 else Root(f, 0, lowest).number
        vector = [Fraction(0)] * 3
        vector[x], vector[z] = Fraction(1), n / weight
        others = [1 << x | 1 << y, 1 << y | 1 << z]
        made = dict(zip(others, peeled(less(M, weight, vector), others), strict=True))
        made[1 << x | 1 << z] = (weight, vector)
        return [made[pair] for pair in pairs]
    raise DegenerateError
