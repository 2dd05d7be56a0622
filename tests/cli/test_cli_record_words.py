"""What a record says of its scorer, to people."""

from calib_pipeline.cli.record import configuration_words


def test_a_scorer_is_told_by_what_it_declares():
    configuration = {
        "model": "m-2",
        "prompt": "Is it kind? " * 20,
        "temperature": 0.0,
        "output_fields": None,
        "transform": {"cut": [0.5], "linear": None},
        "config": {"vendor": "some"},
        "scores": "digest",
    }
    assert configuration_words(configuration) == (
        f"model m-2; prompt {'Is it kind? ' * 10}… (240 characters); temperature 0.0; vendor some; "
        'transform {"cut": [0.5]}'
    )


def test_one_that_declares_nothing_says_so():
    assert configuration_words({"model": None, "config": {}, "transform": None}) == "nothing of itself"
