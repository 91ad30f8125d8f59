"""Compiled code: arrays in, arrays out; no classes, no randomness, no input or output."""
