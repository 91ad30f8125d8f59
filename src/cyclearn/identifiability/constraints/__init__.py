"""Constraints on all distributions of a graph: vanishing minors, normal directions, statements."""
