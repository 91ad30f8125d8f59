"""Proofs that graphs generate different distributions."""
