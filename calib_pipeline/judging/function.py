"""A judge that is a Python function of a batch of items."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calib_pipeline.errors import InputError
from calib_pipeline.judging.answers import Answer, answer_of_fields, failed
from calib_pipeline.judging.requests import Request
from calib_pipeline.studies.sections import Scorer
from calib_pipeline.studies.study import Study

BATCH = 32


class FunctionJudge:
    """Calls ``scorer.config["function"]``, an import path ``package.module:name``, with a list of items.

    The function gets a list of dictionaries, the fields of each item and ``rubric``, and returns a list of the same
    length: a value, None where it cannot determine one, or a dictionary with ``verdict``, ``confidence`` and
    ``explanation``. What it raises makes its batch errors.

    Parameters
    ----------
    root
        The project's folder, from which modules are imported too.

    Raises
    ------
    InputError
        When the path leads to no function.
    """

    def __init__(self, study: Study, scorer: Scorer, root: Path) -> None:
        self._study, self._scorer = study, scorer
        self._function = _imported(str(scorer.config["function"]), root)

    def ask(self, batch: Sequence[Request]) -> list[Answer]:
        """The answers to a batch, in its order."""
        try:
            said = self._function([dict(request.shown) for request in batch])
        except Exception as fault:
            return [failed("raised", f"{type(fault).__name__}: {fault}")] * len(batch)
        if not isinstance(said, Sequence) or isinstance(said, str) or len(said) != len(batch):
            got = f"{len(said)} answers" if isinstance(said, Sequence) else f"a {type(said).__name__}"
            return [failed("raised", f"the function returned {got} for {len(batch)} items")] * len(batch)
        return [self._answer(one) for one in said]

    def _answer(self, said: Any) -> Answer:
        if said is None:
            return Answer("abstained")
        fields = said if isinstance(said, Mapping) else {"verdict": said}
        if "verdict" in fields and fields["verdict"] is None:
            fields = {**fields, "verdict": "cannot determine"}
        return answer_of_fields(fields, self._study, self._scorer)


def _imported(path: str, root: Path) -> Callable[[list[dict[str, Any]]], Any]:
    module_name, _, name = path.partition(":")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    try:
        known = sys.modules.get(module_name)
        # What runs is what is on disk now, also in a process that stays up.
        module = importlib.import_module(module_name) if known is None else importlib.reload(known)
        function = getattr(module, name)
    except Exception as fault:
        raise InputError(
            f"scorer.config.function {path!r} cannot be imported: {type(fault).__name__}: {fault}",
            expected="package.module:name, installed or in the project's folder",
        ) from fault
    if not callable(function):
        raise InputError(f"scorer.config.function {path!r} is no function", expected="a function of a list of items")
    checked: Callable[[list[dict[str, Any]]], Any] = function
    return checked
