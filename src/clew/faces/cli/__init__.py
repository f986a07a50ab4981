"""The command line. Importing this package stays cheap; the commands load what they need."""
