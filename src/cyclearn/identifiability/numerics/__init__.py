"""Numerical comparison by drawing and projecting distributions, if no proof was found."""
