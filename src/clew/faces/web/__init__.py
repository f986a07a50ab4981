"""The web app: a server on this machine alone, and its JSON API over the actions."""
