"""Published records: built from evidence, content-addressed, written once, recomputed by anyone."""
