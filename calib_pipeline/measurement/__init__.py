"""From labels and outputs to figures: the reference, the pairs, the directional errors, the paired differences."""
