"""Directed graphs and which of them are the same."""

from cyclearn.graphs.directed_graph import DirectedGraph as DirectedGraph

__all__ = ["DirectedGraph"]
