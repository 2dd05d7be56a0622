"""A population of which some items were drawn elsewhere: each part is sampled for itself."""

from __future__ import annotations

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_pipeline.cohorts import strata_by_cohort
from calib_pipeline.ledger import SpentItems
from calib_pipeline.sampling import allocation

SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 60), min_size=1)


def manifest(**columns: list[str | None]) -> pd.DataFrame:
    frame = pd.DataFrame(columns, dtype=object)
    return frame.reindex(columns=["item_id", "stratum", "group", "content_digest"]).astype(object)


def earlier(*ids: str, content: tuple[str, ...] = ()) -> SpentItems:
    return SpentItems(frozenset(ids), frozenset(content))


def test_items_are_told_apart_by_the_earlier_populations_that_held_them() -> None:
    items = manifest(item_id=["1", "2", "3", "4"], stratum=["s", "s", "t", "t"], content_digest=[None, None, "c", None])
    found = strata_by_cohort(items, {"june": earlier("1", "2"), "may": earlier("2", content=("c",))})
    assert found == ["s, in june", "s, in june, may", "t, in may", "t, new"]


def test_a_group_is_where_one_of_its_items_is() -> None:
    items = manifest(item_id=["1", "2", "3"], stratum=["s", "s", "s"], group=["talk", "talk", None])
    assert strata_by_cohort(items, {"june": earlier("1")}) == ["s, in june", "s, in june", "s, new"]


def test_where_all_items_are_alike_nothing_is_split() -> None:
    items = manifest(item_id=["1", "2"], stratum=["s", "t"])
    for populations in ({}, {"june": earlier("1", "2")}, {"june": earlier("9")}):
        assert strata_by_cohort(items, populations) == ["s", "t"]


@given(sizes=SIZES, size=st.integers(1, 250), least=st.integers(0, 10), data=st.data())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_what_one_stratum_cannot_give_the_others_give(
    sizes: dict[str, int], size: int, least: int, data: st.DataObject
) -> None:
    available = {name: data.draw(st.integers(0, most)) for name, most in sizes.items()}
    given_by = allocation(sizes, size, least, available)
    assert all(count <= available[name] for name, count in given_by.items())
    assert sum(given_by.values()) >= min(size, sum(available.values()))
    plain = allocation(sizes, size, least)
    assert allocation(sizes, size, least, sizes) == plain
    if all(plain[name] <= available[name] for name in sizes):
        assert given_by == plain
