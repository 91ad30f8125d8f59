"""Directed graphs and which of them are the same."""

from cyclearn.graphs.class_statements import ClassStatements as ClassStatements
from cyclearn.graphs.class_statements import class_statements as class_statements
from cyclearn.graphs.directed_graph import DirectedGraph as DirectedGraph
from cyclearn.graphs.equivalence import Equivalence as Equivalence
from cyclearn.graphs.equivalence import equivalent as equivalent
from cyclearn.graphs.equivalence_class import EquivalenceClass as EquivalenceClass
from cyclearn.graphs.equivalence_class import equivalence_class as equivalence_class
from cyclearn.graphs.formats import read_graph as read_graph
from cyclearn.graphs.formats import write_graph as write_graph
from cyclearn.graphs.hamming import structural_hamming_distance as structural_hamming_distance
from cyclearn.graphs.markov import markov_equivalent as markov_equivalent
from cyclearn.graphs.random_graphs import random_graph as random_graph
from cyclearn.graphs.rotations import RotationKind as RotationKind
from cyclearn.graphs.rotations import SupportRotation as SupportRotation
from cyclearn.graphs.rotations import givens_rotation as givens_rotation
from cyclearn.graphs.rotations import zero_by_rotation as zero_by_rotation
from cyclearn.graphs.separation import d_separated as d_separated
from cyclearn.graphs.separation import virtual_edges as virtual_edges
from cyclearn.graphs.steps import CycleReversion as CycleReversion
from cyclearn.graphs.steps import GraphStep as GraphStep
from cyclearn.graphs.steps import ParentExchange as ParentExchange
from cyclearn.graphs.steps import ParentReduction as ParentReduction
from cyclearn.graphs.steps import replay as replay

__all__ = [
    "ClassStatements",
    "CycleReversion",
    "DirectedGraph",
    "Equivalence",
    "EquivalenceClass",
    "GraphStep",
    "ParentExchange",
    "ParentReduction",
    "RotationKind",
    "SupportRotation",
    "class_statements",
    "d_separated",
    "equivalence_class",
    "equivalent",
    "givens_rotation",
    "markov_equivalent",
    "random_graph",
    "read_graph",
    "replay",
    "structural_hamming_distance",
    "virtual_edges",
    "write_graph",
    "zero_by_rotation",
]
