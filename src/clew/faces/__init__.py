"""The faces: each parses a request, calls one action and shows its result."""
