"""How Dagster climbs the ladder: gates as types, evidence as files, cells as partitions. Nothing below imports it."""
