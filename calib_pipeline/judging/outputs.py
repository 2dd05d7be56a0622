"""The answers of a judge, each kept once under its configuration and what it was shown."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from calib_pipeline.errors import InputError
from calib_pipeline.evidence_store import write_atomically
from calib_pipeline.judging.answers import Answer

if TYPE_CHECKING:
    from upath import UPath


class Outputs:
    """What one configuration has answered so far, on a local folder or any fsspec URL.

    Parameters
    ----------
    store
        Folder or URL of the project's store.
    config_digest
        The configuration; another one finds nothing of it.
    """

    def __init__(self, store: str, config_digest: str) -> None:
        from upath import UPath

        self._folder: UPath = UPath(store) / "outputs" / config_digest

    def get(self, digest: str) -> Answer | None:
        """The answer to what has a digest, None where there is none.

        Raises
        ------
        InputError
            When the file holds no answer.
        """
        path = self._folder / f"{digest}.json"
        try:
            return Answer(**json.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as fault:
            raise InputError(
                "the stored answer is damaged",
                where=str(path),
                expected="the answer of a judge as it was written",
                todo="restore the file from a copy, or remove it: the judge is asked again",
            ) from fault

    def put(self, digest: str, answer: Answer) -> Answer:
        """Keep an answer, which is on disk when this returns, and give back the one that counts: the first, where
        another run has kept one meanwhile that no further call would change."""
        standing = self.get(digest)
        if standing is not None and not standing.may_pass:
            return standing
        write_atomically(self._folder / f"{digest}.json", json.dumps(asdict(answer), ensure_ascii=False).encode())
        return answer
