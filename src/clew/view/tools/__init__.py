"""How the tools of the client are shown: one module each, found by name, and one for all the others."""
