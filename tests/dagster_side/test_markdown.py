"""What people bring stands on Dagster's pages as text: it opens no column, no tag and no link."""

from __future__ import annotations

import pytest

from calib_pipeline.dagster_side.figures import markdown_table


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("a | b", "a \\| b"),
        ("a \\| b", "a \\\\\\| b"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>"),
        ("[here](javascript:alert(1))", "[here]\\(javascript:alert(1))"),
        ("one\r\ntwo\u2028three\n\n# four", "one two three  # four"),
        ("cohen_kappa 0.4 [0.3, 0.5]", "cohen_kappa 0.4 [0.3, 0.5]"),
    ],
)
def test_a_cell_is_text(cell: str, shown: str) -> None:
    header, rule, row = markdown_table(("what", "why"), [(cell, 1)]).splitlines()
    assert (header, rule, row) == ("| what | why |", "| --- | --- |", f"| {shown} | 1 |")
