"""What the client itself starts: hooks and the status line. Standard library only, so that it starts at once."""
