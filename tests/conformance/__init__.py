"""The conformance lab: random session files, the real client, and what it sends when it resumes them."""
