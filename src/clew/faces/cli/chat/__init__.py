"""A session in the terminal: what is typed, what is drawn, and what goes on between them."""
