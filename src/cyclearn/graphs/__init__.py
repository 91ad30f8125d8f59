"""The directed graph as a value: input, file formats, separation, random graphs."""

from cyclearn.graphs.directed_graph import DirectedGraph as DirectedGraph
from cyclearn.graphs.directed_graph import (
    structural_hamming_distance as structural_hamming_distance,
)
from cyclearn.graphs.formats import read_graph as read_graph
from cyclearn.graphs.formats import write_graph as write_graph
from cyclearn.graphs.markov import markov_equivalent as markov_equivalent
from cyclearn.graphs.random_graphs import random_graph as random_graph
from cyclearn.graphs.separation import d_separated as d_separated
from cyclearn.graphs.separation import virtual_edges as virtual_edges
