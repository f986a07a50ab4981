"""One module per command, each with a click command named `command`. Imported when asked for."""
