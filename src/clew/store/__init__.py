"""Where sessions live: the only room that opens session files.

`roots` and `slugs` know the folders, `files` and `sides` find what is there, `heads` looks into it, `names`
turns what a person types into a file, `source` opens one safely, `reader` and `follow` read it, `live` tells
who may be writing it. Paths are strings here: a store may hold tens of thousands of files.

All writing goes through `disk`: `writer` and `drafts` make whole files, `commit` does an edit of several
files by `steps` that can be done again, `journal` and `unfinished` know what was interrupted and how to take
it back, `carrying` hears who went on writing, `locks` keeps others out, `archive` holds copies.
"""
