"""The tables that people bring: items, labels and scores, every row accounted for."""
