"""A session as rows and as texts to search, by one schema for every engine. Nothing here does I/O."""
