"""Random graphs and random parameters, by the generator of the paper's experiments."""

from cyclearn.graphs import random_graph as random_graph
from cyclearn.models import random_model as random_model
