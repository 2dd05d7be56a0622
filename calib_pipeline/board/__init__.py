"""The board: one HTML page on which the state of every ladder can be read, without a network and without scripts."""
