"""What the ledger is told of labels before a run stores, opens or reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calib_pipeline.errors import InputError
from calib_pipeline.ledger import SEALED, Ledger
from calib_pipeline.sealing import KEY_FILE_VARIABLE, KEY_VARIABLE, SealingKey

if TYPE_CHECKING:
    from calib_pipeline.chain import Declared

NAME_THE_KEY = f"set {KEY_VARIABLE} or {KEY_FILE_VARIABLE} to it, and run again"


class LabelCustody:
    """The labels of a run, in the words of the ledger.

    Parameters
    ----------
    ledger
        Where each call is written before it returns.
    run_id
        The run that the events name.
    key
        What labels are stored under; None where they are stored open.
    """

    def __init__(self, ledger: Ledger, run_id: str | None, key: SealingKey | None) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._key = key

    def ingest(self, holdout_id: str, study: str, digest: str, details: Mapping[str, Any]) -> None:
        """Labels are about to be stored; errors as in :meth:`refuse_another_key`."""
        self.refuse_another_key()
        key_id = None if self._key is None else self._key.key_id
        self._ledger.ingest_labels(holdout_id, study, digest, details, sealed=key_id, run_id=self._run_id)

    def refuse_another_key(self) -> None:
        """A project that has sealed labels seals all, with one key.

        Raises
        ------
        InputError
            When labels of this ledger were stored sealed before, and this run has another key or none.
        """
        key_id, earlier = None if self._key is None else self._key.key_id, self._ledger.newest_sealing()
        if earlier is not None and key_id != earlier.details[SEALED]:
            other = "no key is at hand" if key_id is None else f"the key at hand is {key_id}"
            raise InputError(
                f"the stored labels are sealed with the key {earlier.details[SEALED]} ({earlier.cited}), and {other}",
                expected="that key",
                todo=NAME_THE_KEY,
            )

    def refuse_open_labels(self) -> None:
        """With a key, nothing rests on labels that were stored open and were not sealed since.

        Raises
        ------
        InputError
            When the newest labels of a set were stored open, and this run has a key.
        """
        left_open = None if self._key is None else self._ledger.left_open()
        if left_open is not None:
            raise InputError(
                f"labels of {left_open.holdout_id} were stored open ({left_open.cited}), and this run has a key",
                expected="a store in which every label is sealed",
                todo="run `calib holdout seal`, and then this again",
            )

    def read(self, declared: Declared, purpose: str, details: Mapping[str, Any]) -> None:
        """Stored labels are about to be read."""
        self._ledger.record_read(
            declared.holdout_id, declared.study.name, declared.configuration, purpose, details, run_id=self._run_id
        )

    def unseal(self, declared: Declared, purpose: str) -> None:
        """Sealed labels are about to be opened by a rung that needs no event of its own where they are stored open."""
        if self._key is not None:
            self.read(declared, purpose, {})

    def unseal_beside(self, declared: Declared, holdout_id: str) -> None:
        """Sealed labels of another set are about to be compared with those of this one."""
        if self._key is not None:
            self._ledger.record_read(
                holdout_id, declared.study.name, declared.configuration, "construct", run_id=self._run_id
            )
