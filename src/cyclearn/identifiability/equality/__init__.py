"""Proofs that graphs generate the same distributions, or share an open set of them."""
