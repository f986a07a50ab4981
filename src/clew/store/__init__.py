"""Where sessions live: the only room that opens session files.

`roots` and `slugs` know the folders, `files` and `sides` find what is there, `heads` looks into it, `names`
turns what a person types into a file, `source` opens one safely, `reader` and `follow` read it, `live` tells
who may be writing it. Paths are strings here: a store may hold tens of thousands of files.
"""
