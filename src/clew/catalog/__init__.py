"""The embedded index of a store: rows and words of every session file, brought up to date on use.

A cache and nothing else: delete it, and the next command builds it again from the files. `catalog` is the
door; `update` reads what is new, `indexing` puts one file into its shard, `settling` works out what depends
on several files. Nothing here is imported before somebody asks for it: SQLite takes its time to load.
"""
