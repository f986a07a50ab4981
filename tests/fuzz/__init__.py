"""Damaged sessions by the million: a mutator, and a generator of damage whose truth is known."""
