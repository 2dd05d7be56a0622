"""Studies: what a project declares, read with the line of every fault."""
