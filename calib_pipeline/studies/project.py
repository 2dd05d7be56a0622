"""The project folder: calib.yaml, the studies, and which of them can be climbed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, ValidationError

from calib_pipeline.digests import digest_bytes, digest_json
from calib_pipeline.errors import Faults, InputError
from calib_pipeline.studies.addresses import absolute, ledger_address, store_address
from calib_pipeline.studies.declared import Address, Name, Reason, Section, Settings
from calib_pipeline.studies.digests import configuration_digest
from calib_pipeline.studies.documents import Document, read_document
from calib_pipeline.studies.faults import faults_of, nearest
from calib_pipeline.studies.function_source import function_file
from calib_pipeline.studies.study import Study
from calib_pipeline.studies.study_files import TEXT_KEYS, as_faults, declared_text, study_of

PROJECT_FILE = "calib.yaml"
_SHARED_BY_SET = ("size", "seed", "min_per_stratum", "max_measurements", "max_age_days", "other_constructs")


class Population(Section):
    """A named set of items that the scorer sees in production."""

    items: Address = Field(description="Path or URL of the item manifest.", examples=["data/news-2026-10/items.csv"])


class ProjectFile(Section):
    """What calib.yaml declares."""

    store: Address = Field(
        default=".calib/store", description="Folder or URL of the evidence.", examples=[".calib/store"]
    )
    ledger: Address | None = Field(
        default=None,
        description=(
            "Database URL of the holdout ledger, an SQLite file or a PostgreSQL database; by default a file in .calib. "
            "${NAME} stands for a variable of the environment."
        ),
        examples=[
            "sqlite:///.calib/ledger.db",
            "postgresql+psycopg://calib:${CALIB_LEDGER_PASSWORD}@db.internal/calib",
        ],
    )
    populations: dict[Name, Population] = Field(
        default_factory=dict,
        description="The populations, each with its item manifest.",
        examples=[{"news-2026-10": {"items": "data/news-2026-10/items.csv"}}],
    )
    recheck: Reason | None = Field(
        default=None, description="Cron expression of the regular re-check.", examples=["0 6 1 * *"]
    )
    defaults: Settings = Field(
        default_factory=dict,
        description="Keys that studies need not repeat; a study's own keys stand over these.",
        examples=[{"bootstrap": {"resamples": 2000}}],
    )


@dataclass(frozen=True)
class Project:
    """A project folder as declared.

    ``studies`` are the valid ones, ``faults`` everything that is wrong, and ``blocked`` says for each valid study that
    an invalid one of the same dimension blocks, why. ``store`` and ``ledger`` are ready to use; ``populations`` maps
    names to the address of the item manifest. ``ledger`` may hold a password, and is shown nowhere.
    """

    root: Path
    store: str
    ledger: str = field(repr=False)
    populations: dict[str, str]
    studies: dict[str, Study]
    faults: tuple[InputError, ...] = ()
    blocked: dict[str, str] = field(default_factory=dict)
    recheck: str | None = None

    def cells(self) -> list[tuple[str, str]]:
        """Every (study, population) that can be climbed, in the order of declaration."""
        return [
            (name, population)
            for name, study in self.studies.items()
            if name not in self.blocked
            for population in study.data.populations
        ]

    def rubric_text(self, study: Study) -> str:
        """The text of the study's rubric.

        Raises
        ------
        InputError
            When the file cannot be read as UTF-8 text, or is outside of the project: its text goes into records.
        """
        path = self.root / study.rubric.text
        if not Path(os.path.normpath(path)).is_relative_to(self.root):
            raise InputError(
                f"the rubric of study {study.name!r} is outside of the project",
                where=study.rubric.text,
                expected="a path in the project's folder, such as rubrics/faithful.md",
                todo="copy the text into the project",
            )
        try:
            return path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"the rubric of study {study.name!r} cannot be read: {error}", where=study.rubric.text
            ) from error

    def path(self, template: str, population: str) -> str:
        """The absolute path or URL of a table, ``{population}`` filled in."""
        return absolute(self.root, template.replace("{population}", population))

    def scores(self, study: Study, population: str) -> str:
        """The address of a study's table of outputs: the one that it names, else the one that its judges fill.

        The latter bears the digest of their configurations: another configuration finds no output of an earlier one.

        Raises
        ------
        InputError
            When the rubric, which is part of a configuration, cannot be read.
        """
        if study.data.scores is not None:
            return self.path(study.data.scores, population)
        judges = digest_json([self.judge_digest(one) for one in study.by_scorer().values()])
        return f"{self.store}/outputs/{population}/{study.name}.{judges}.jsonl"

    def function_file(self, study: Study) -> Path | None:
        """The source of a scorer that is a Python function and is run here; None for any other."""
        if not study.judged or study.scorer.kind != "python":
            return None
        return function_file(str(study.scorer.config["function"]), self.root)

    def judge_digest(self, study: Study) -> str:
        """The digest under which the answers of a study's own scorer are kept, and no answer of another one.

        Raises
        ------
        InputError
            When the rubric, which is part of a configuration, cannot be read.
        """
        source = self.function_file(study)
        function = None if source is None else digest_bytes(source.read_bytes())
        return configuration_digest(study, self.rubric_text(study), function_digest=function)


def load_project(root: Path) -> Project:
    """Read a project folder.

    Raises
    ------
    InputError
        When calib.yaml is missing or wrong. Faults of studies do not raise; they stand in ``Project.faults``.
    """
    root = root.absolute()
    awkward = sorted(set(str(root)) & set("?#%"))
    if awkward:
        raise InputError(
            f"the path of the project folder holds {' and '.join(map(repr, awkward))}, which database addresses "
            "give another meaning",
            where=str(root),
            expected="a path without '?', '#' and '%'",
            todo="move or rename the folder",
        )
    if not (root / PROJECT_FILE).is_file():
        raise InputError(
            f"{root} is no project folder: it holds no {PROJECT_FILE}",
            expected=f"a folder with {PROJECT_FILE}",
            todo="make one with `calib init DIR`, or name one with --project",
        )
    document = read_document(
        root / PROJECT_FILE, PROJECT_FILE, [("recheck",), *(("defaults", *key) for key in TEXT_KEYS)]
    )
    try:
        declared = ProjectFile.model_validate(document.data)
    except ValidationError as error:
        raise Faults(faults_of(error, document, ProjectFile)) from None
    return _with_studies(root, declared, document)


@dataclass(frozen=True)
class _Read:
    """One study file: what it declares, or why it declares nothing."""

    shown: str
    dimension: str | None
    document: Document | None = None
    study: Study | None = None
    faults: tuple[InputError, ...] = ()

    def refused(self, *faults: InputError) -> _Read:
        return _Read(self.shown, self.dimension, self.document, None, (*self.faults, *faults))


def _with_studies(root: Path, declared: ProjectFile, document: Document) -> Project:
    defaults = document.section("defaults")
    files = [path for pattern in ("*.yaml", "*.yml") for path in (root / "studies").glob(pattern)]
    read = [_read(path, f"studies/{path.name}", defaults) for path in sorted(files)]
    read = [_checked(one, root, declared) for one in read]
    read = _one_name_each(read)
    read = _one_set_each(read)
    studies = {one.study.name: one.study for one in read if one.study is not None}
    return Project(
        root=root,
        store=store_address(root, declared.store, str(document.place(("store",)))),
        ledger=ledger_address(root, declared.ledger, str(document.place(("ledger",)))),
        populations={name: absolute(root, population.items) for name, population in declared.populations.items()},
        studies=studies,
        faults=_each_once(read),
        blocked=_blocked(studies, read),
        recheck=declared.recheck,
    )


def _each_once(read: list[_Read]) -> tuple[InputError, ...]:
    """All faults, a fault of the shared defaults only once."""
    return tuple({str(fault): fault for one in read for fault in one.faults}.values())


def _read(path: Path, shown: str, defaults: Document) -> _Read:
    try:
        document = read_document(path, shown, TEXT_KEYS)
    except InputError as error:
        return _Read(shown, None, None, None, as_faults(error))
    document = document.over(defaults)
    dimension = declared_text(document, "dimension")
    try:
        return _Read(shown, dimension, document, study_of(document))
    except InputError as error:
        return _Read(shown, dimension, document, None, as_faults(error))


def _checked(one: _Read, root: Path, declared: ProjectFile) -> _Read:
    """What the study's file alone cannot tell: its populations, its rubric's file and its paths."""
    study, document = one.study, one.document
    if study is None or document is None:
        return one
    faults = []
    for index, population in enumerate(study.data.populations):
        if population not in declared.populations:
            close = nearest(population, declared.populations)
            faults.append(
                InputError(
                    f"the population {population!r} is not declared",
                    where=str(document.place(("data", "populations", index))),
                    expected=f"one of {', '.join(declared.populations) or 'none yet'}",
                    todo=f"did you mean {close!r}?" if close else f"declare it in {PROJECT_FILE}",
                )
            )
    if not (root / study.rubric.text).is_file():
        faults.append(
            InputError(
                f"the rubric's text {study.rubric.text!r} is no file of the project",
                where=str(document.place(("rubric", "text"))),
                expected="the path of a text file, from the project folder",
            )
        )
    for section, key in (("data", "annotations"), ("data", "scores"), ("scorer", "tuned_on")):
        template = getattr(getattr(study, section), key)
        unknown = re.findall(r"\{[^}]*\}", (template or "").replace("{population}", ""))
        if unknown:
            faults.append(
                InputError(
                    f"'{section}.{key}' has the placeholder {unknown[0]}",
                    where=str(document.place((section, key))),
                    expected="{population} and no other",
                )
            )
    return one.refused(*faults) if faults else one


def _one_name_each(read: list[_Read]) -> list[_Read]:
    first: dict[str, str] = {}
    result = []
    for one in read:
        if one.study is None or one.document is None or one.study.name not in first:
            if one.study is not None:
                first[one.study.name] = one.shown
            result.append(one)
            continue
        fault = InputError(
            f"the study {one.study.name!r} is already declared in {first[one.study.name]}",
            where=str(one.document.place(("study",))),
            expected="a name of its own for each study",
        )
        result.append(one.refused(fault))
    return result


def _one_set_each(read: list[_Read]) -> list[_Read]:
    """Studies that share a dimension and a population share the reserved set, so they must declare the same one."""
    first: dict[tuple[str, str], _Read] = {}
    result = []
    for one in read:
        study, document = one.study, one.document
        if study is None or document is None:
            result.append(one)
            continue
        faults = []
        for population in study.data.populations:
            other = first.setdefault((study.dimension, population), one)
            if other.study is None or other is one:
                continue
            for key in _SHARED_BY_SET:
                theirs, own = getattr(other.study.holdout, key), getattr(study.holdout, key)
                if theirs != own:
                    faults.append(
                        InputError(
                            f"'holdout.{key}' is {own}, but {other.shown} declares {theirs} for the same dimension "
                            f"{study.dimension!r} on the population {population!r}",
                            where=str(document.place(("holdout", key))),
                            expected="one reserved set for both",
                            todo="make the two sections equal",
                        )
                    )
        result.append(one.refused(*faults) if faults else one)
    return result


def _blocked(studies: dict[str, Study], read: list[_Read]) -> dict[str, str]:
    invalid = [one for one in read if one.study is None]
    blocked: dict[str, str] = {}
    for name, study in studies.items():
        for one in invalid:
            if one.dimension is None:
                blocked[name] = f"{one.shown} cannot be read, so the dimension that it names is unknown"
            elif one.dimension == study.dimension:
                blocked[name] = f"{one.shown} declares the same dimension {study.dimension!r} and is invalid"
            else:
                continue
            break
    return blocked
