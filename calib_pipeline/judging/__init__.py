"""Running a judge: it sees an item and the rubric, answers on the scale, and is never shown a label."""
