"""Compiled code: arrays in, arrays out; no classes, no input or output.

Random numbers are drawn only from a state that the caller passes.
"""
