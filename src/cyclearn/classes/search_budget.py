"""How much a search may still do, and whether that was too little."""

from __future__ import annotations


class SearchBudget:
    """A number of steps that a search may take; it remembers whether more were asked for.

    Examples
    --------
    >>> budget = SearchBudget(2)
    >>> budget.spend(), budget.spend(), budget.is_exhausted, budget.spend(), budget.is_exhausted
    (True, True, False, False, True)
    """

    def __init__(self, n_steps: int) -> None:
        self.n_left = n_steps
        self.is_exhausted = False

    def spend(self, n_steps: int = 1) -> bool:
        """Take steps off the budget; false, and nothing taken, where it does not have as many."""
        if n_steps > self.n_left:
            self.is_exhausted = True
            return False
        self.n_left -= n_steps
        return True
