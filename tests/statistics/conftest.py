"""Hypothesis draws the same examples in every run: a failure seen once is seen again."""

from hypothesis import settings

settings.register_profile("statistics", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("statistics")
