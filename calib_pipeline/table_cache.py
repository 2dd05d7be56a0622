"""The tables that people bring, each read once for as long as its file stays the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from calib_pipeline.digests import digest_json

if TYPE_CHECKING:
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.sections import Scorer
    from calib_pipeline.studies.study import Study
    from calib_pipeline.tables.annotations import Labels
    from calib_pipeline.tables.items import Manifest
    from calib_pipeline.tables.reading import RawTable
    from calib_pipeline.tables.scores import Scores
    from calib_pipeline.tables.tuning import TuningItems

T = TypeVar("T")
TABLES_OF_ITEMS = ("manifest", "tuned_on")


class TableCache:
    """Reads a project's tables; what was read is kept within the process until the file changes."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def manifest(self, population: str) -> Manifest:
        """The items of a population."""
        from calib_pipeline.tables.items import read_manifest

        url = self._project.populations[population]
        return self._once(("manifest", url, population), url, lambda: read_manifest(url, population))

    def labels(self, study: Study, population: str, reserved: set[str]) -> Labels:
        """The label sheet of a study on a population, for the reserved items."""
        from calib_pipeline.tables.annotations import normalise_labels

        url = self._project.path(study.data.annotations, population)
        manifest = self.manifest(population)
        read_by = digest_json([study.dimension, study.rubric.version, _scale(study), manifest.digest])
        key = ("labels", url, read_by, digest_json(sorted(reserved)))
        contents = manifest.contents
        return self._once(
            key, url, lambda: normalise_labels(self._sheet(study, url), study, reserved, contents, contents)
        )

    def scores(self, study: Study, population: str, reserved: set[str], scorer: Scorer | None = None) -> Scores:
        """A scorer's outputs of a study on a population, for the reserved items; by default the study's own scorer."""
        from calib_pipeline.errors import JudgeAwaited, Unreadable
        from calib_pipeline.tables.scores import normalise_scores

        url = self._project.scores(study, population)
        manifest = self.manifest(population)
        of_scorer = (scorer or study.scorer).model_dump(mode="json", by_alias=True)
        read_by = digest_json([of_scorer, bool(study.panel), _scale(study), manifest.digest])
        key = ("scores", url, read_by, digest_json(sorted(reserved)))
        try:
            outputs = self._outputs(url)
            if study.judged and not reserved <= set(outputs.frame["item_id"]):
                raise Unreadable("it has no row of some reserved items", where=url)
        except Unreadable as absent:
            if not study.judged:
                raise
            raise JudgeAwaited(
                f"the judge of {study.name!r} has not answered for every reserved item of {population!r} yet",
                where=self.relative(url),
                todo=f"run `calib judge run --study {study.name} --population {population}`",
            ) from absent
        contents = manifest.contents
        return self._once(key, url, lambda: normalise_scores(outputs, study, reserved, contents, scorer, contents))

    def tuned_on(self, study: Study, population: str) -> TuningItems:
        """What a study's scorer is said to be shaped by."""
        from calib_pipeline.tables.tuning import NOTHING, read_tuning

        items = NOTHING
        if study.scorer.tuned_on is not None:
            url = self._project.path(study.scorer.tuned_on, population)
            items = self._once(("tuning", url), url, lambda: read_tuning(url))
        return items.with_examples(study.scorer.config)

    def refuse_unusable(self, study: Study, population: str) -> None:
        """Raise ``InputError`` for a table that is there and no table of its kind; one that is not there may come."""
        from calib_pipeline.errors import ReviewUnavailable, Unreadable

        with suppress(ReviewUnavailable):
            self._sheet(study, self._project.path(study.data.annotations, population))
        with suppress(Unreadable):
            self._outputs(self._project.scores(study, population))

    def _sheet(self, study: Study, url: str) -> RawTable:
        from calib_pipeline.tables.annotations import label_table

        return self._once(("sheet", url, study.dimension), url, lambda: label_table(url, study))

    def _outputs(self, url: str) -> RawTable:
        from calib_pipeline.tables.scores import score_table

        return self._once(("outputs", url), url, lambda: score_table(url))

    def digest(self, url: str) -> str:
        """The SHA-256 of a table's bytes."""
        from calib_pipeline.tables.source import read_source

        return self._once(("digest", url), url, lambda: read_source(url).digest)

    def kept(self, name: str, url: str) -> bytes:
        """What is kept of a table: its bytes, and of the items without their texts."""
        from calib_pipeline.tables.item_texts import kept_copy
        from calib_pipeline.tables.source import read_source

        return kept_copy(url) if name in TABLES_OF_ITEMS else read_source(url).content

    def relative(self, url: str) -> str:
        """A path as the project names it, so that a record carries no machine's folders."""
        root = self._project.root
        path = Path(url)
        return path.relative_to(root).as_posix() if path.is_absolute() and path.is_relative_to(root) else url

    def _once(self, key: tuple[Any, ...], url: str, read: Callable[[], T]) -> T:
        whole = (*key, _fingerprint(url))
        if whole not in _READ:
            _READ[whole] = read()
            while len(_READ) > MOST_KEPT:
                _READ.popitem(last=False)
        _READ.move_to_end(whole)
        kept: T = _READ[whole]
        return kept


MOST_KEPT = 32
_READ: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def _scale(study: Study) -> Any:
    return study.scale.model_dump(mode="json", by_alias=True)


def _fingerprint(url: str) -> tuple[int, int] | None:
    try:
        status = Path(url).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
