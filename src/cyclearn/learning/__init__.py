"""From data to graph: score, moves, search, knowledge, `learn`."""
