"""A session as bytes in other formats, by registry. Nothing here opens, fetches or looks at the clock."""
