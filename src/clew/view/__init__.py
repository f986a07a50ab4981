"""A session as a person reads it: a few kinds of parts, the same for every face and format."""
