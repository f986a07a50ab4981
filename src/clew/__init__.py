"""clew reads, searches, understands, edits, traces and continues Claude Code sessions."""

__version__ = "0.1.0"
