"""What each configuration of a study says, kept when it is registered: the ledger has digests alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.digests import digest_json
from calib_pipeline.evidence_store import write_atomically

if TYPE_CHECKING:
    from upath import UPath

    from calib_pipeline.chain import Declared
    from calib_pipeline.evidence_store import EvidenceStore

OUTPUTS = "scores"
"""The part of a configuration that its outputs are; a version is a configuration without them."""


@dataclass(frozen=True)
class KeptConfiguration:
    """A configuration that was registered: its ``digest``, every material part, and the rubric's text."""

    digest: str
    parts: dict[str, Any]
    rubric_text: str

    @property
    def version(self) -> str:
        """The digest of what is material whatever was answered: configurations apart in outputs are one version."""
        return version_of(self.parts)


def version_of(parts: dict[str, Any]) -> str:
    """The digest of a version's parts, outputs left out."""
    return digest_json({name: part for name, part in parts.items() if name != OUTPUTS})


class VersionArchive:
    """Configurations under ``<store>/versions/<study>/<configuration digest>.json``."""

    def __init__(self, store: EvidenceStore) -> None:
        self._folder: UPath = store.base / "versions"

    def keep(self, declared: Declared) -> None:
        """Keep what is declared of a study's scorer; what is kept already stays."""
        path = self._folder / declared.study.name / f"{declared.configuration}.json"
        if not path.exists():
            content = {"parts": declared.configuration_parts, "rubric_text": declared.rubric_text}
            write_atomically(path, json.dumps(content, ensure_ascii=False, indent=1).encode())

    def of(self, study: str) -> dict[str, KeptConfiguration]:
        """The kept configurations of a study, by digest; a file that does not hold what its name says is left out."""
        folder = self._folder / study
        kept = {}
        for path in sorted(folder.glob("*.json")) if folder.exists() else ():
            try:
                content = json.loads(path.read_bytes())
                one = KeptConfiguration(path.stem, content["parts"], content["rubric_text"])
            except (ValueError, KeyError, TypeError):
                continue
            if digest_json(one.parts) == one.digest:
                kept[one.digest] = one
        return kept
