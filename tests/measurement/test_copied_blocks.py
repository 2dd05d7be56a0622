"""Annotators who copied from each other are found in the order of their labels; honest ones are left alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calib_pipeline.measurement.copied_blocks import copied_blocks

N = 150


def labels(seed: int, *, annotators: int = 3, copied: slice | None = None, dated: bool = True) -> pd.DataFrame:
    """People who agree with the truth four times in five; the second may copy a block from the first."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, N)
    answers = [np.where(rng.random(N) < 0.8, truth, 1 - truth) for _ in range(annotators)]
    if copied is not None:
        answers[1][copied] = answers[0][copied]
    rows = [
        (
            f"i{(item * 37) % N:03}",
            f"a{person}",
            str(given[item]),
            f"2026-01-01T{item // 60:02}:{item % 60:02}:00+00:00",
        )
        for person, given in enumerate(answers)
        for item in range(N)
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "annotator_id", "value", "labeled_at"])
    return frame if dated else frame.assign(labeled_at=None)


def test_a_copied_block_is_found_with_its_pair_and_its_ends() -> None:
    found = copied_blocks(labels(1, copied=slice(40, 90)).sample(frac=1, random_state=2))
    [block] = found.blocks
    assert block.annotators == ("a0", "a1")
    assert block.run.length >= 50
    assert block.probability < 0.001
    assert found.pairs == 3


@pytest.mark.slow
def test_honest_annotators_are_seldom_suspected() -> None:
    suspected = sum(bool(copied_blocks(labels(seed)).blocks) for seed in range(200))
    assert suspected <= 2


def test_the_order_of_rows_is_no_matter() -> None:
    frame = labels(1, copied=slice(40, 90))
    assert copied_blocks(frame) == copied_blocks(frame.sample(frac=1, random_state=5))


def test_without_times_or_shared_items_nothing_is_said() -> None:
    undated = copied_blocks(labels(1, copied=slice(40, 90), dated=False))
    assert (undated.blocks, undated.pairs) == ((), 0)
    assert "the order of answers is not known" in str(undated.why_none)
    alone = copied_blocks(labels(1, annotators=1))
    assert (alone.blocks, alone.pairs) == ((), 0)
    assert alone.why_none is not None
