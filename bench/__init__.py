"""Speed and memory, measured: a corpus with a known truth, the peers, and a runner.

Nothing here imports clew. The corpus and its truth come from `generate`, the programs clew is compared with
from `peers`, and `run` measures them all as child processes and prints the ratios.
"""
