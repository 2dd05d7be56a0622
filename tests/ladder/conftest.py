"""The fixtures of the ladder's cases."""

from ladder_fixtures import climbed, climbed_once, instance, world

__all__ = ["climbed", "climbed_once", "instance", "world"]
