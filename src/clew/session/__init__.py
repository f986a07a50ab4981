"""What the entries mean: graph, messages, turns, calls, usage, and what the model will see."""
