"""``calib holdout``: the held-out sets, their history, and the two ways by which a person spends one."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.exit_codes import FAULT, REACHED
from calib_pipeline.cli.seal import run_seal
from calib_pipeline.errors import InputError
from calib_pipeline.sealing import KEY_FILE_VARIABLE, KEY_VARIABLE

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.ledger import Ledger
    from calib_pipeline.ledger.anchors import Anchor
    from calib_pipeline.ledger.events import Event
    from calib_pipeline.ledger.sets import SetHeader
    from calib_pipeline.studies.project import Project

SHORT = 12
PLAIN_COLUMNS = ("item_id", "annotator_id", "repeat", "value", "confidence", "labeled_at", "role")


def add(commands: Any, everywhere: argparse.ArgumentParser) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "holdout",
        parents=[everywhere],
        help="the held-out sets and their ledger",
        description="The held-out sets, and the append-only ledger of what happened to them.",
    )
    parser.set_defaults(command=run_list)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    def action(name: str, said: str, command: Any) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = actions.add_parser(name, parents=[everywhere], help=said, description=said)
        added.set_defaults(command=command)
        return added

    action("list", "every set that was reserved", run_list)
    log = action("log", "the events, oldest first, each in a sentence, with the day of its set's life", run_log)
    log.add_argument("set", metavar="SET", nargs="?", help="this set only")
    log.add_argument("--study", metavar="S", help="this study only")
    state = action("state", "what each set is for each study, and why", run_state)
    state.add_argument("set", metavar="SET", nargs="?", help="this set only")
    verify = action("verify", "check the hash chain, the triggers and the items of every set", run_verify)
    verify.add_argument(
        "--anchor",
        metavar="FILE",
        action="append",
        default=[],
        help="a file with lines that `calib holdout anchor` printed: check the ledger against each; repeatable",
    )
    action("anchor", "print the ledger's head as a line to keep in a commit, a ticket or an e-mail", run_anchor)
    fitted = action("mark-fitted", "declare that a set shaped a scorer; nothing takes it back", run_mark_fitted)
    fitted.add_argument("set", metavar="SET")
    fitted.add_argument(
        "--study", metavar="S", action="append", default=[], help="the study that it shaped; repeatable"
    )
    fitted.add_argument(
        "--config",
        metavar="DIGEST",
        action="append",
        default=[],
        help="a configuration that is registered on the set, by its digest or the beginning of it; repeatable",
    )
    fitted.add_argument("--everyone", action="store_true", help="every scorer there is or will be")
    fitted.add_argument("--reason", metavar="TEXT", required=True, help="how it shaped the scorer")
    action(
        "seal",
        f"encrypt the stored labels with the key of {KEY_VARIABLE} or {KEY_FILE_VARIABLE}, for every set",
        run_seal,
    )
    export = action("export", "write the labels of a set to a file for a person, which spends the set", run_export)
    export.add_argument("set", metavar="SET")
    export.add_argument("--to", metavar="NAME", required=True, help="who will see the labels")
    export.add_argument("--output", metavar="FILE", help="the CSV file to write; by default SET.labels.csv")
    export.add_argument("--yes", action="store_true", help="do not ask")


def run_list(arguments: argparse.Namespace, console: Console) -> int:
    """Print every set."""
    project = _project(arguments)
    sets: list[SetHeader] = []
    seen: Counter[tuple[str, str]] = Counter()
    ledger = _reader(project)
    if ledger is not None:
        with closing(ledger):
            sets = ledger.sets()
            seen = Counter((str(event.holdout_id), event.event) for event in ledger.events())
    console.json([asdict(header) for header in sets])
    if not sets:
        console.result("no set is reserved yet: `calib run` reserves one")
        return REACHED
    told = ("opened", "exported", "fitted", "retired")
    console.table(
        ("set", "dimension", "population", "generation", "items", "reserved", *told),
        [
            (
                header.holdout_id,
                header.dimension,
                header.population,
                str(header.generation),
                str(header.size),
                header.reserved_at[:10],
                *(str(seen[header.holdout_id, event]) for event in told),
            )
            for header in sets
        ],
    )
    return REACHED


def run_log(arguments: argparse.Namespace, console: Console) -> int:
    """Print the events."""
    project = _project(arguments)
    ledger = _reader(project)
    events = []
    reserved: dict[str, str] = {}
    if ledger is not None:
        with closing(ledger):
            _known(ledger, arguments.set)
            _known_in_log(arguments.study, project, ledger)
            reserved = {header.holdout_id: header.reserved_at for header in ledger.sets()}
            events = ledger.events(arguments.set, arguments.study)
    elif arguments.set is not None:
        raise _unknown_set(arguments.set, [])
    else:
        _known_in_log(arguments.study, project, None)
    console.json([asdict(event) for event in events])
    if not events:
        console.result("no event yet")
        return REACHED
    header = ("seq", "at", "day", "event", "set", "study", "configuration", "actor", "details")
    console.table(header, list(log_lines(events, reserved)))
    return REACHED


def log_lines(events: Sequence[Event], reserved: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """A line an event, with the day of its set's life; ``reserved`` is when each set was reserved, by its id."""
    from calib_pipeline.ledger.sentences import sentence_of

    for event in events:
        since = reserved.get(event.holdout_id or "")
        day = "" if since is None else str((datetime.fromisoformat(event.at) - datetime.fromisoformat(since)).days)
        at, config = event.at[:19].replace("T", " "), (event.config_digest or "")[:SHORT]
        said = sentence_of(event)
        yield (
            str(event.seq), at, day, event.event, event.holdout_id or "", event.study or "", config, event.actor, said,
        )  # fmt: skip


def run_state(arguments: argparse.Namespace, console: Console) -> int:
    """Print what each set is for each study that is declared on its dimension and population."""
    project = _project(arguments)
    ledger = _reader(project)
    states = []
    if ledger is not None:
        with closing(ledger):
            _known(ledger, arguments.set)
            headers = [header for header in ledger.sets() if arguments.set in (None, header.holdout_id)]
            states = [state for header in headers for state in _states(project, ledger, header)]
    elif arguments.set is not None:
        raise _unknown_set(arguments.set, [])
    console.json(states)
    if not states:
        console.result("no declared study has a set yet")
        return REACHED
    console.table(
        ("set", "study", "state", "why"),
        [(str(one["holdout_id"]), str(one["study"]), str(one["state"]), str(one["why"])) for one in states],
    )
    return REACHED


def run_verify(arguments: argparse.Namespace, console: Console) -> int:
    """Check the ledger."""
    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.ledger.anchors import anchor_problems
    from calib_pipeline.records.archive import RecordArchive, damaged_records, lost_openings
    from calib_pipeline.studies.addresses import shown_address

    project = _project(arguments)
    anchors = [anchor for name in arguments.anchor for anchor in _anchors(name)]
    ledger = _reader(project)
    problems: list[str] = []
    hashes: dict[int, str] = {}
    head = None
    if ledger is not None:
        with closing(ledger):
            problems, head = ledger.verify(), ledger.head()
            hashes = ledger.hashes()
    archive = RecordArchive(EvidenceStore(project.store))
    lost = lost_openings(archive, set(hashes.values()))
    if ledger is None and lost:
        shown = shown_address(project.ledger)
        problems.append(f"{shown} is missing or empty, and records rest on the ledger in it: restore it from a copy")
    problems += lost + damaged_records(archive) + anchor_problems(anchors, hashes)
    console.json({"verified": not problems, "head": head, "anchors": len(anchors), "problems": problems})
    for problem in problems:
        console.say(f"problem: {problem}")
    if problems:
        console.say("the ledger does not verify")
        return FAULT
    console.result("there is no ledger yet" if head is None else f"the ledger verifies; its head is {head}")
    if anchors:
        console.result(f"it holds what {len(anchors)} {'anchor says' if len(anchors) == 1 else 'anchors say'}")
    return REACHED


def run_anchor(arguments: argparse.Namespace, console: Console) -> int:
    """Print the ledger's head as a line to keep elsewhere."""
    from calib_pipeline.status.standing import refuse_broken_ledger

    project = _project(arguments)
    ledger = _reader(project)
    if ledger is None:
        raise InputError("there is no ledger yet, so nothing to anchor", todo="`calib run` makes it")
    refuse_broken_ledger(project)
    with closing(ledger):
        anchor = ledger.anchor()
    console.json(asdict(anchor) | {"line": anchor.line})
    console.result(anchor.line)
    return REACHED


def _anchors(name: str) -> list[Anchor]:
    from calib_pipeline.ledger.anchors import read_anchors

    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as fault:
        said = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
        raise InputError(f"the anchors cannot be read: {said}", where=name, expected="a text file") from fault
    return read_anchors(text, name)


def run_mark_fitted(arguments: argparse.Namespace, console: Console) -> int:
    """Declare that a set shaped a scorer."""
    from calib_pipeline.cli.ledger_words import refuse_unkeepable
    from calib_pipeline.cli.project_folder import known_study

    project = _project(arguments)
    if not (arguments.study or arguments.config or arguments.everyone):
        raise InputError("a set shapes someone: whom is not said", expected="--study S, --config DIGEST or --everyone")
    refuse_unkeepable(arguments.reason, "--reason", "how the set shaped the scorer, in a sentence")
    for study in arguments.study:
        known_study(project, study)
    with closing(_writer(project, arguments.set)) as ledger:
        before = {event.seq for event in ledger.events(arguments.set)}
        events = ledger.mark_fitted(
            arguments.set,
            reason=arguments.reason,
            studies=arguments.study,
            config_digests=[_registered(ledger, arguments.set, given) for given in arguments.config],
            everyone=arguments.everyone,
        )
    console.json([asdict(event) for event in events])
    for event in events:
        whom = event.study or event.config_digest or "every scorer"
        already = f" already, for this reason, since {event.at[:10]}" if event.seq in before else ", for good"
        console.result(f"{arguments.set} is fitted for {whom}{already} (event {event.seq})")
    return REACHED


def run_export(arguments: argparse.Namespace, console: Console) -> int:
    """Write the labels of a set to a file, after the ledger has it that they left."""
    from calib_pipeline.cli.ledger_words import refuse_unkeepable

    project = _project(arguments)
    refuse_unkeepable(arguments.to, "--to", "the name of the person who will see the labels")
    target = Path(arguments.output or f"{arguments.set}.labels.csv").absolute()
    if os.path.lexists(target):
        raise InputError(f"{target} is there already, and nothing is written over", todo="name another with --output")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent}", todo="make it, or name another with --output")
    with closing(_writer(project, arguments.set)) as ledger:
        labels = plain_labels(project, ledger, arguments.set)
        question = (
            f"This spends {arguments.set} for good: once {arguments.to} has seen its labels, no configuration that has "
            "not measured on it can."
        )
        if not arguments.yes:
            console.say(question)
            if not console.confirm("Export?"):
                raise InputError("nothing was exported", expected="a yes on a terminal, or --yes")
        with _waiting_file(target) as waiting:
            waiting.write_bytes(labels.to_csv(index=False).encode())
            event = ledger.record_export(arguments.set, arguments.to)
            waiting.replace(target)
    console.json({"file": str(target), "rows": len(labels), "event": asdict(event)})
    console.result(f"{len(labels)} labels of {arguments.set} written to {target} for {arguments.to}")
    console.result(f"the set is spent (event {event.seq}): the next run of a study on it reserves the next generation")
    return REACHED


@contextmanager
def _waiting_file(target: Path) -> Iterator[Path]:
    """A file beside the target that can be written and renamed: known before the ledger says that labels left."""
    waiting = target.with_name(f".{uuid4().hex}")
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        target.unlink()
        yield waiting
    except OSError as fault:
        raise InputError(
            f"{target} cannot be written: {fault.strerror or fault}", todo="name another file with --output"
        ) from fault
    finally:
        waiting.unlink(missing_ok=True)


def plain_labels(project: Project, ledger: Ledger, holdout_id: str) -> pd.DataFrame:
    """The usable labels of a set's items, of every study that is declared on it, a row a label and study.

    Raises
    ------
    InputError
        When no study of the project is declared on the set.
    ReviewUnavailable
        When a label source cannot be read.
    """
    import pandas as pd

    from calib_pipeline.table_cache import TableCache

    header = next(header for header in ledger.sets() if header.holdout_id == holdout_id)
    reserved, tables = {item.item_id for item in ledger.items(holdout_id)}, TableCache(project)
    parts = []
    for study in project.studies.values():
        if study.dimension == header.dimension and header.population in study.data.populations:
            labels = tables.labels(study, header.population, reserved).frame[list(PLAIN_COLUMNS)]
            parts.append(labels.assign(study=study.name)[["study", *PLAIN_COLUMNS]])
    if not parts:
        raise InputError(
            f"no study of this project is declared on {header.dimension!r} and {header.population!r}, so where the "
            "labels are is not known"
        )
    return pd.concat(parts, ignore_index=True)


def _states(project: Project, ledger: Ledger, header: SetHeader) -> list[dict[str, str]]:
    from calib_pipeline.holdout_sets import HoldoutSets
    from calib_pipeline.table_cache import TableCache

    sets = HoldoutSets(project, ledger, TableCache(project))
    held = sets.of_id(header.holdout_id)
    states = []
    for study in project.studies.values():
        if study.dimension == header.dimension and header.population in study.data.populations:
            state, past = sets.state(study, held), sets.why_past(study, held)
            why = state.why if past is None else f"{state.why}; past its limits: {past}"
            states.append({"holdout_id": header.holdout_id, "study": study.name, "state": state.state, "why": why})
    return states


def _project(arguments: argparse.Namespace) -> Project:
    from calib_pipeline.cli.project_folder import open_project

    return open_project(arguments.project)


def _reader(project: Project) -> Ledger | None:
    from calib_pipeline.status.standing import open_ledger

    return open_ledger(project)


def _writer(project: Project, holdout_id: str) -> Ledger:
    """The ledger, open for writing, once it is known to hold the set."""
    from calib_pipeline.ledger import Ledger

    reader = _reader(project)
    if reader is None:
        raise _unknown_set(holdout_id, [])
    with closing(reader):
        _known(reader, holdout_id)
    return Ledger.open(project.ledger)


def _known(ledger: Ledger, holdout_id: str | None) -> None:
    names = [header.holdout_id for header in ledger.sets()]
    if holdout_id is not None and holdout_id not in names:
        raise _unknown_set(holdout_id, names)


def _known_in_log(study: str | None, project: Project, ledger: Ledger | None) -> None:
    """Refuse a study that is neither declared nor in any event: one that was declared once still has its history."""
    from calib_pipeline.cli.project_folder import unknown

    told = {event.study for event in ledger.events() if event.study is not None} if ledger is not None else set()
    known = [*project.studies, *sorted(told - set(project.studies))]
    if study is not None and study not in known:
        raise unknown("study", study, known)


def _registered(ledger: Ledger, holdout_id: str, given: str) -> str:
    """The digest of the one configuration registered on a set that begins as given."""
    registrations = (event for event in ledger.events(holdout_id) if event.event == "registered")
    known = sorted({event.config_digest for event in registrations if event.config_digest is not None})
    found = [digest for digest in known if given and digest.startswith(given)]
    if len(found) == 1:
        return found[0]
    several = "is the beginning of several configurations" if found else "is no configuration"
    raise InputError(
        f"{given!r} {several} registered on {holdout_id}",
        expected=f"one of {', '.join(found or known)}" if known else "a registered configuration; none is",
        todo=f"`calib holdout log {holdout_id}` lists them with their studies",
    )


def _unknown_set(holdout_id: str, names: Sequence[str]) -> InputError:
    from calib_pipeline.cli.project_folder import unknown

    return unknown("held-out set", holdout_id, names)
