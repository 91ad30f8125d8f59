"""Random graphs and parameters by the generator of the paper, and how many rows a graph needs."""

from cyclearn.evaluation import recovery
from cyclearn.graphs import random_graph
from cyclearn.models import random_model

__all__ = ["random_graph", "random_model", "recovery"]
