"""Packages that take long to load, each loaded when something of it is first used.

``from cyclearn.foundation.late_imports import pd`` stands for ``import pandas as pd``; type
checkers see the packages themselves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Axes", "nx", "pd"]

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes
else:

    class _Late:
        """A package that is loaded with the first of its names."""

        def __init__(self, package):
            self._package = package

        def __getattr__(self, name):
            return getattr(import_module(self._package), name)

    # Named in annotations only.
    Axes = Any
    nx, pd = _Late("networkx"), _Late("pandas")
