"""What the client itself starts: hooks and the status line. Standard library only, to start at once."""
