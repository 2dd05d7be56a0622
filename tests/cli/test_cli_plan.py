"""``calib plan``: its numbers, what it takes from a study, and what it refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binom
from small_project import GOOD, NOISE, POPULATION, SIZE, study_named, write_study
from statsmodels.stats.proportion import proportion_confint

from calib_pipeline.ledger import Ledger

ROOT = Path(__file__).parents[2]


@pytest.fixture
def plan(calib):
    """The JSON document of a plan."""

    def planned(*arguments):
        said = calib("plan", *arguments, "--json")
        assert said.code == 0, said.err
        return json.loads(said.out)

    return planned


def test_a_half_width_is_that_of_another_package(plan):
    document = plan("--half-width", 0.04, "--rate", 0.85)
    assert [one["rate"] for one in document["answers"]] == [0.85, 0.5]
    for one in document["answers"]:
        widths = [
            (high - low) / 2
            for n in (one["needed"] - 1, one["needed"])
            for low, high in [proportion_confint(one["rate"] * n, n, method="wilson")]
        ]
        assert widths[1] <= 0.04 < widths[0]
        assert one["labels"] == one["items"] + 34


def test_two_kappas_are_told_apart_each_way_and_both_numbers_are_shown(calib, plan):
    call = ("--tell", 0.55, 0.65, "--samples", 1000, "--seed", 4)
    down, up = plan(*call)["answers"]
    # κ of two equal shares has the variance 1 - κ²: (1.95996 + 0.84162)² · (1 - κ²) / 0.01
    assert (down["computed"], up["computed"]) == (548, 454)
    for one in (down, up):
        assert (
            one["simulated"]["power"] >= 0.8 and one["simulated"]["samples"] == 1000 and one["simulated"]["seed"] == 4
        )
        assert one["needed"] == max(one["computed"], one["simulated"]["n"])
    said = calib("plan", *call).out
    assert "B = 1000 samples" in said and "seed 4" in said and "κ 0.55 below 0.65" in said
    assert said == calib("plan", *call).out


def test_a_floor_of_a_proportion_is_counted_over_the_binomial_distribution(plan):
    [one] = plan("--floor", 0.8, "--rate", 0.9, "--target-power", 0.9)["answers"]

    def power(n):
        clears = [k for k in range(n + 1) if proportion_confint(k, n, method="wilson")[0] > 0.8]
        return binom.pmf(clears, n, 0.9).sum()

    assert power(one["needed"]) >= 0.9 > power(one["needed"] - 1)


def test_an_error_rate_of_a_slice_needs_the_items_around_it(calib, plan):
    call = ("--at-most", 0.1, "--rate", 0.05, "--slice", "rejected", "--shares", 0.75, 0.25)
    [one] = plan(*call)["answers"]
    assert one["items"] == one["needed"] * 4
    assert f"{one['needed']:,} of the items that people reject" in calib("plan", *call).out


def test_the_curve_is_drawn_and_rises_through_the_power(calib, plan):
    call = ("--floor", 0.6, "--kappa", 0.75, "--power", "--samples", 1000)
    [one] = plan(*call)["answers"]
    powers = [at["simulated"]["power"] for at in one["curve"]]
    assert powers[0] < 0.8 < powers[-1] and one["needed"] in [at["n"] for at in one["curve"]]
    lines = [line for line in calib("plan", *call).out.splitlines() if line.rstrip().endswith("##")]
    assert len(lines) == len(powers)
    assert lines[-1].count("#") == round(40 * powers[-1])


def test_strata_overall_and_each_by_itself(calib, plan):
    call = ("--half-width", 0.05, "--strata", "short=6000", "long=3000", "odd=100")
    [overall], [each] = plan(*call)["answers"], plan(*call, "--per-stratum")["answers"]
    assert sum(overall["sample"]["strata"].values()) == overall["items"] == 381
    assert each["sample"]["strata"] == {"short": 381, "long": 381, "odd": 100}
    assert each["sample"]["short"] == {"odd": 281}
    assert "the stratum 'odd' has 281 items too few" in calib("plan", *call, "--per-stratum").out


def test_a_study_brings_its_level_its_floor_its_strata_and_its_people(plan, declared):
    study = study_named(GOOD)
    study["decision"]["floor"] = {
        "statistic": "cohen_kappa", "at_least": 0.4, "convention": True, "stands_for": "what readers put up with",
    }  # fmt: skip
    study["bootstrap"] = {"level": 0.99}
    study["ceiling"]["min_annotators"] = 3
    write_study(declared, study)
    items = pd.read_csv(declared / "data" / POPULATION / "items.csv")
    items["stratum"] = ["long" if words > 40 else "short" for words in items["words"]]
    items.to_csv(declared / "data" / POPULATION / "items.csv", index=False)
    document = plan("--study", GOOD, "--kappa", 0.7, "--samples", 500, "--project", declared)
    assumed, [one] = document["assumed"], document["answers"]
    assert (assumed["level"], assumed["headline"], assumed["annotators"], assumed["doubly"]) == (
        0.99, "cohen_kappa", 3, 50,
    )  # fmt: skip
    # good, noise, alone and few can earn a status, fitted cannot
    assert assumed["attempts"] == 4 and one["level"] == pytest.approx(1 - 0.01 / 4)
    assert assumed["strata"] == items["stratum"].value_counts().to_dict()
    assert (one["kappa"], one["against"]) == (0.7, 0.4)
    assert one["sample"]["short"] == ({"population": one["items"] - SIZE} if one["items"] > SIZE else {})
    assert not (declared / ".calib").exists()


def test_earlier_measurements_make_the_next_level_stricter(plan, own_copy):
    with Ledger.open(f"sqlite:///{own_copy}/.calib/ledger.db", read_only=True) as ledger:
        opened = [event for event in ledger.events() if event.event == "opened"]
    measured = sum(event.details.get("purpose") == "measurement" for event in opened)
    assert measured
    document = plan("--study", NOISE, "--half-width", 0.1, "--project", own_copy)
    assert document["assumed"]["attempts"] == 4 + measured


def test_a_group_that_is_labeled_together_is_told(calib, declared):
    items = pd.read_csv(declared / "data" / POPULATION / "items.csv")
    items.assign(group=[f"g{row // 4}" for row in range(SIZE)]).to_csv(
        declared / "data" / POPULATION / "items.csv", index=False
    )
    assert "items share groups" in calib("plan", "--study", GOOD, "--half-width", 0.1, "--project", declared).out


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ([], "what the items are to show is not said"),
        (["--half-width", "0.6"], "--half-width: 0.6 cannot be; expected a number between 0 and 0.5"),
        (["--half-width", "nan"], "--half-width: nan cannot be"),
        (["--half-width", "0.1", "--rate", "1.2"], "--rate: 1.2 cannot be"),
        (["--half-width", "0.1", "--power"], "has no power"),
        (["--half-width", "0.1", "--per-stratum"], "no stratum is known"),
        (["--half-width", "0.1", "--strata", "short"], "'short' is no stratum"),
        (["--half-width", "0.1", "--slice", "accepted"], "a slice is one of a rate"),
        (["--tell", "0.6", "0.6"], "from itself"),
        (["--tell", "0.6", "1"], "--tell: 1 cannot be"),
        (["--floor", "0.6"], "a floor is cleared by a true value"),
        (["--floor", "0.6", "--kappa", "0.5"], "does not lie above 0.6, so no number of items shows"),
        (["--at-most", "0.1", "--rate", "0.2"], "does not lie below 0.1"),
        (["--tell", "-0.9", "0.6", "--shares", "0.9", "0.1"], "cannot have a κ of -0.9"),
        (["--tell", "0.5", "0.6", "--shares", "1"], "1 shares are given"),
        (["--tell", "0.5", "0.6", "--samples", "3"], "--samples: 3 cannot be"),
        (["--population", "p", "--half-width", "0.1"], "a population is planned on for a study"),
    ],
)
def test_what_means_nothing_is_refused_with_what_would(calib, call, told):
    said = calib("plan", *call)
    assert (said.code, said.out) == (2, "")
    assert told in said.err


def test_an_unknown_study_is_refused_with_the_nearest(calib, declared):
    said = calib("plan", "--study", "god", "--half-width", 0.1, "--project", declared)
    assert said.code == 2 and "did you mean 'good'" in said.err.casefold()


def test_a_continuous_scale_has_no_kappa(calib, declared):
    study = study_named(GOOD)
    study["scale"] = {"kind": "continuous", "range": [0, 10]}
    study["reference"]["consensus"] = "mean"
    study["decision"]["accept"] = {"at_least": 5}
    study["study"] = "numbers"
    study["dimension"] = "numbers"
    write_study(declared, study)
    refused = calib("plan", "--study", "numbers", "--tell", 0.5, 0.6, "--project", declared)
    assert refused.code == 2 and "a continuous scale has no κ" in refused.err
    assert calib("plan", "--study", "numbers", "--half-width", 0.05, "--project", declared).code == 0


def test_an_ordinal_study_is_planned_by_its_weighted_kappa(calib, plan, declared):
    study = study_named("levels")
    study["scale"] = {"kind": "ordinal", "levels": ["1", "2", "3", "4"]}
    study["dimension"] = "levels"
    study["decision"]["accept"] = {"at_least": "3"}
    write_study(declared, study)
    call = ("--study", "levels", "--tell", 0.6, 0.75, "--samples", 200, "--project", declared)
    document = plan(*call)
    assert [one["weights"] for one in document["answers"]] == ["quadratic", "quadratic"]
    assert document["assumed"]["shares"] == [0.25] * 4
    assert "quadratic κ 0.6 below 0.75" in calib("plan", *call).out
    accepted = ("--half-width", 0.1, "--rate", 0.5, "--slice", "rejected", "--shares", 4, 3, 2, 1)
    [one] = plan("--study", "levels", *accepted, "--project", declared)["answers"]
    assert one["items"] == math.ceil(one["needed"] / 0.7)


def test_what_cannot_be_shown_is_no_number(calib, plan):
    [one] = plan("--floor", 0.9, "--rate", 0.9001)["answers"]
    assert one["computed"] is None and one["needed"] is None and one["labels"] is None
    said = calib("plan", "--floor", 0.9, "--rate", 0.9001).out
    assert "> 1,000,000" in said and "no number of items that people could label" in said
    assert not math.isnan(one["power"])


def test_the_numbers_of_the_page_are_those_of_the_command(plan):
    page = " ".join((ROOT / "docs" / "planning.md").read_text(encoding="utf-8").split())
    _, up = plan("--tell", 0.55, 0.65)["answers"]
    _, rare = plan("--tell", 0.55, 0.65, "--shares", 0.9, 0.1)["answers"]
    checked, found = up["simulated_at_computed"], up["simulated"]
    said = f"{up['computed']} items by formula, with which the simulated interval succeeds {checked['power']:.3f} of"
    assert f"{said} the time; {found['n']} by simulation" in page
    assert f"{rare['simulated']['n']:,} in place of {found['n']}" in page
