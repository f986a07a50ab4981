"""A session as traces: what was asked, answered and done, as spans that every backend takes."""
