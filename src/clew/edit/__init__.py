"""Edits: a session in, a plan of what becomes of each of its lines out. Nothing here touches files."""
