"""Random graphs and random parameters, by the generator of the paper's experiments."""

from cyclearn.graphs import random_graph
from cyclearn.models import random_model

__all__ = ["random_graph", "random_model"]
