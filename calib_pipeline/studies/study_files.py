"""Reading study files: from YAML with line numbers to a study, or to all faults that the file has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from calib_pipeline.errors import Faults, InputError
from calib_pipeline.studies.documents import Document, Key, read_document
from calib_pipeline.studies.faults import faults_of
from calib_pipeline.studies.study import Study

TEXT_KEYS: tuple[Key, ...] = (
    ("study",),
    ("dimension",),
    *(("scale", key) for key in ("kind", "positive", "negative", "candidate", "baseline", "tie")),
    *(("scale", key, "*") for key in ("categories", "levels", "aliases")),
    ("rubric", "version"),
    ("scorer", "id"),
    ("panel", "*", "id"),
    ("baselines", "heuristics", "*", "column"),
    ("decision", "accept", "*"),
    ("data", "populations", "*"),
)
"""Keys whose values are text as written, so that ``No``, ``1`` and ``007`` stay what they are."""


def read_study(path: Path, shown: str, defaults: Document | None = None) -> tuple[Study, Document]:
    """Read one study file; ``defaults`` fills keys that the file leaves out.

    Raises
    ------
    Faults
        With one fault for each thing that is wrong, each with its line.
    InputError
        When the file is no YAML mapping at all.
    """
    document = read_document(path, shown, TEXT_KEYS)
    if defaults is not None:
        document = document.over(defaults)
    return study_of(document), document


def study_of(document: Document) -> Study:
    """The study that a document declares; raises :class:`Faults` when it declares none."""
    try:
        return Study.model_validate(document.data)
    except ValidationError as error:
        raise Faults(faults_of(error, document, Study)) from None


def declared_text(document: Document, key: str) -> str | None:
    """A top-level text of a document that may be invalid elsewhere."""
    value: Any = document.data.get(key)
    return value if isinstance(value, str) and value.strip() else None


def as_faults(error: InputError) -> tuple[InputError, ...]:
    """The single faults of an error."""
    return error.faults if isinstance(error, Faults) else (error,)
