"""Stored labels that nobody reads without the key."""

from calib_pipeline.sealing.envelope import CannotOpen, key_id_of, opened, sealed
from calib_pipeline.sealing.keys import KEY_FILE_VARIABLE, KEY_VARIABLE, MAKE_ONE, SealingKey, key_of_environment

__all__ = [
    "KEY_FILE_VARIABLE",
    "KEY_VARIABLE",
    "MAKE_ONE",
    "CannotOpen",
    "SealingKey",
    "key_id_of",
    "key_of_environment",
    "opened",
    "sealed",
]
