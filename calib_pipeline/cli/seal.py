"""``calib holdout seal``: what was stored open before there was a key."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import TYPE_CHECKING

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import REACHED
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    from calib_pipeline.evidence_store import EvidenceStore

UNFINISHED_SECONDS = 60
"""A temporary file that is older was left by a write that was killed."""


def run_seal(arguments: argparse.Namespace, console: Console) -> int:
    """Seal every stored file that may hold labels, then enter it in the ledger; a second call finds nothing to do."""
    from calib_pipeline.cli.project_folder import open_project
    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.label_custody import LabelCustody
    from calib_pipeline.ledger import Ledger
    from calib_pipeline.sealing import KEY_FILE_VARIABLE, KEY_VARIABLE, MAKE_ONE, key_of_environment
    from calib_pipeline.status.standing import open_ledger

    project = open_project(arguments.project)
    key = key_of_environment(project.root)
    if key is None:
        raise InputError(
            f"there is no key: neither {KEY_VARIABLE} nor {KEY_FILE_VARIABLE} is set",
            expected="32 bytes in base64",
            todo=MAKE_ONE,
        )
    reader = open_ledger(project)
    if reader is None:
        raise InputError("there is no ledger yet, so no labels are stored", todo="`calib run` stores them sealed")
    reader.close()
    with closing(Ledger.open(project.ledger)) as ledger:
        LabelCustody(ledger, None, key).refuse_another_key()
        store = EvidenceStore(project.store, key)
        _refuse_unfinished(store)
        files = _seal(store, console)
        events = ledger.record_sealing(key.key_id)
    sets = sorted({str(event.holdout_id) for event in events})
    console.json({"key_id": key.key_id, "files": files, "sets": sets})
    if not files and not sets:
        console.result(f"nothing is stored open: all labels are sealed with the key {key.key_id}")
        return REACHED
    console.result(f"{files} files are sealed with the key {key.key_id}; keep the key, and no other copy of the files")
    for name in sets:
        console.result(f"the labels of {name} are sealed from now on; a record says that they once were not")
    return REACHED


def _refuse_unfinished(store: EvidenceStore) -> None:
    young = store.remove_leftovers(UNFINISHED_SECONDS)
    if young:
        raise InputError(
            f"{len(young)} files are being written, or were until a run was killed just now",
            where=str(young[0]),
            expected="no run while labels are sealed",
            todo=f"wait until no run is under way, or {UNFINISHED_SECONDS} seconds, and do this again",
        )


def _seal(store: EvidenceStore, console: Console) -> int:
    files = list(store.files_with_labels())
    with console.progress(len(files), "sealing") as progress:
        for file in files:
            progress.starts(file.name)
            store.write(file, file.read_bytes(), labels=True)
            progress.finished(file.name)
    return len(files)
