"""Numbers of the form a₀ + a₁t + a₂t² + …, with fractions a and t a real root of a polynomial.

Sums, products, quotients, equality and signs are exact. The root is known by a polynomial and two
fractions between which the polynomial changes its sign.
"""

from fractions import Fraction


def trimmed(a):
    while a and a[-1] == 0:
        a = a[:-1]
    return a


def divided(a, b):
    """Quotient and remainder of polynomials, lists of coefficients from the constant up."""
    a, quotient = list(a), [Fraction(0)] * max(0, len(a) - len(b) + 1)
    while len(a) >= len(b):
        factor = a[-1] / b[-1]
        shift = len(a) - len(b)
        quotient[shift] = factor
        a = trimmed([x - factor * b[n - shift] if n >= shift else x for n, x in enumerate(a[:-1])])
    return quotient, a


def gcd(a, b):
    while b:
        a, b = b, divided(a, b)[1]
    return [x / a[-1] for x in a]


def value(a, t):
    total = Fraction(0)
    for x in reversed(a):
        total = total * t + x
    return total


class Root:
    """A real root of a polynomial; the bracket is narrowed as far as answers need it."""

    def __init__(self, polynomial, low, high):
        self.polynomial = trimmed([Fraction(x) for x in polynomial])
        self.low, self.high = Fraction(low), Fraction(high)
        assert value(self.polynomial, self.low) * value(self.polynomial, self.high) < 0

    def narrow(self):
        middle = (self.low + self.high) / 2
        at = value(self.polynomial, middle)
        if at == 0:
            self.polynomial = [-middle, Fraction(1)]
            self.low, self.high = middle - 1, middle + 1
        elif (at > 0) == (value(self.polynomial, self.low) > 0):
            self.low = middle
        else:
            self.high = middle

    def is_root_of(self, a):
        """Whether a polynomial vanishes at the root; the polynomial of the root may get smaller."""
        shared = gcd(self.polynomial, a)
        if len(shared) == 1:
            return False
        rest = divided(self.polynomial, shared)[0]
        # One of the two factors changes its sign in a bracket that is narrow enough.
        while value(shared, self.low) * value(shared, self.high) >= 0:
            if value(rest, self.low) * value(rest, self.high) < 0:
                self.polynomial = rest
                return False
            self.narrow()
        self.polynomial = shared
        return True

    @property
    def number(self):
        return Number(self, [Fraction(0), Fraction(1)])


class Number:
    """A polynomial in a root."""

    def __init__(self, root, coefficients):
        self.root = root
        self.coefficients = divided(trimmed(coefficients), root.polynomial)[1]

    def _other(self, other):
        if isinstance(other, Number):
            assert other.root is self.root
            return other.coefficients
        return trimmed([Fraction(other)])

    def _made(self, coefficients):
        return Number(self.root, list(coefficients))

    def __add__(self, other):
        a, b = self.coefficients, self._other(other)
        n = max(len(a), len(b))
        a, b = (c + [Fraction(0)] * (n - len(c)) for c in (a, b))
        return self._made(x + y for x, y in zip(a, b, strict=True))

    __radd__ = __add__

    def __neg__(self):
        return self._made(-x for x in self.coefficients)

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        a, b = self.coefficients, self._other(other)
        product = [Fraction(0)] * max(0, len(a) + len(b) - 1)
        for n, x in enumerate(a):
            for m, y in enumerate(b):
                product[n + m] += x * y
        return self._made(product)

    __rmul__ = __mul__

    def inverse(self):
        assert self != 0
        # Bézout: s · a = 1 modulo the polynomial of the root.
        a, b = self.root.polynomial, divided(self.coefficients, self.root.polynomial)[1]
        s, t = Number(self.root, []), self._made([Fraction(1)])
        while len(b) > 1:
            quotient, rest = divided(a, b)
            a, b = b, rest
            s, t = t, s - self._made(quotient) * t
        return t * (1 / b[0])

    def __truediv__(self, other):
        return self * (other.inverse() if isinstance(other, Number) else 1 / Fraction(other))

    def __rtruediv__(self, other):
        return self.inverse() * other

    def __eq__(self, other):
        left = (self - other).coefficients
        return not left or self.root.is_root_of(left)

    __hash__ = None

    def __gt__(self, other):
        left = self - other
        if left == 0:
            return False
        a = divided(left.coefficients, self.root.polynomial)[1]
        # Away from its own roots a polynomial has one sign on a narrow bracket.
        while True:
            bound = sum(
                abs(x) * n * max(abs(self.root.low), abs(self.root.high)) ** (n - 1)
                for n, x in enumerate(a)
                if n
            )
            at = value(a, self.root.low)
            if abs(at) > bound * (self.root.high - self.root.low):
                return at > 0
            self.root.narrow()

    def __bool__(self):
        return self != 0
