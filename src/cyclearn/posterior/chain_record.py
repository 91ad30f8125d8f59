"""The record of a chain; its memory does not grow with the number of steps.

Steps are counted in equal batches. When there are twice as many batches as wanted, neighbouring
pairs are merged, and every second graph is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cyclearn.foundation.arrays import FloatArray

# A full record has this many batches and is reduced to half as many, each twice as long.
MOST_BATCHES = 96


@dataclass
class Batch:
    """A batch of steps: the share with each edge, shape (2, p, p), and some of its graphs.

    ``drift`` is the increase of these shares from the first half to the second.
    """

    shares: FloatArray
    graphs: list[bytes]
    drift: FloatArray | None = None

    @classmethod
    def of_halves(cls, first: Batch, second: Batch) -> Batch:
        """Two batches merged into one with its drift."""
        shares = (first.shares + second.shares) / 2
        return cls(shares, first.graphs + second.graphs, second.shares[0] - first.shares[0])


@dataclass
class ChainRecord:
    r"""Batches of one chain, in order.

    Examples
    --------
    >>> import numpy as np
    >>> record = ChainRecord()
    >>> record.extend([Batch(np.full((2, 1, 1), n % 2), [bytes([n])]) for n in range(96)])
    >>> len(record.batches), record.batches[0].shares[0, 0, 0], record.batches[1].graphs
    (48, np.float64(0.5), [b'\x02'])
    """

    batches: list[Batch] = field(default_factory=list)

    def extend(self, batches: list[Batch]) -> None:
        """Add batches; a full record is halved."""
        self.batches = self.batches + batches
        if len(self.batches) >= MOST_BATCHES:
            pairs = zip(self.batches[::2], self.batches[1::2], strict=True)
            self.batches = [
                Batch(
                    (a.shares + b.shares) / 2,
                    (a.graphs + b.graphs)[::2],
                    None if a.drift is None or b.drift is None else (a.drift + b.drift) / 2,
                )
                for a, b in pairs
            ]

    @property
    def even(self) -> list[Batch]:
        """The batches, without the first if their number is odd, so that halves can be compared."""
        return self.batches[len(self.batches) % 2 :]
