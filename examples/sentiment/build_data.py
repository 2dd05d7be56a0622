"""Rebuild every data file of this example, byte for byte, from the source distribution of vaderSentiment 3.3.2.

    pip download --no-deps --no-binary :all: vaderSentiment==3.3.2
    python build_data.py vaderSentiment-3.3.2.tar.gz            # writes data/
    python build_data.py vaderSentiment-3.3.2.tar.gz --check    # writes nothing, compares with data/

Texts are read, measured and scored here and written nowhere. Nothing but pyarrow is needed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import importlib.util
import io
import json
import re
import struct
import sys
import tarfile
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).resolve().parent / "data"
SDIST_SHA256 = "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9"
ROOT = "vaderSentiment-3.3.2"
ARCHIVE = f"{ROOT}/additional_resources/hutto_ICWSM_2014.tar.gz"
SAME_BYTES_WITH = "pyarrow 23 to 26"

CITATION = """\
The ratings, the texts they were given for (not distributed here) and the VADER scorer come from

  Hutto, C.J. & Gilbert, E.E. (2014). VADER: A Parsimonious Rule-based Model for Sentiment Analysis of
  Social Media Text. Eighth International Conference on Weblogs and Social Media (ICWSM-14).
  Ann Arbor, MI, June 2014.

as distributed in the source distribution of vaderSentiment 3.3.2 (vaderSentiment-3.3.2.tar.gz, SHA-256
5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9), file
additional_resources/hutto_ICWSM_2014.tar.gz. Its licence is in LICENSE-vaderSentiment.txt.

The product-review snippets are from Hu, M. & Liu, B. (2004). Mining and summarizing customer reviews.
SIGKDD KDM-04. The film-review snippets are ascribed by the authors to Pang, B. & Lee, L. (2004). A sentimental
education: sentiment analysis using subjectivity summarization based on minimum cuts. ACL-04. The editorial snippets
are from 500 opinion articles of the New York Times.
"""

LAST_REVIEW_OF = {98: "dvd-player", 144: "camera-g3", 175: "camera-4300", 215: "phone", 309: "music-player"}
"""The reviews are numbered product by product: the last review number of each (the texts name the products)."""

EXPERIMENT_BASELINES = (
    *(2, 7, 9, 11, 15, 20, 30, 35, 58, 60, 73, 89, 100, 101, 114, 119, 124, 136, 169, 175),
    *(203, 215, 220, 239, 242, 252, 253, 273, 288, 298),
)
"""The 30 tweets of which the authors wrote variations (section 3.3 of the paper)."""

EXPERIMENT_VARIATIONS = (
    (1424, 1486),
    (1818, 1876),
    (2215, 2226),
    (2849, 2855),
    (3201, 3212),
    (3550, 3554),
    (3855, 3866),
)
"""Runs of ids that hold their 170 variations. Those 200 texts, and no others, have a mean in the text file that is
not the mean of their ratings; which ids they are is told nowhere else in the source."""


@dataclass(frozen=True)
class Snippet:
    """One rated text; ``number`` is its id in the source."""

    number: str
    text: str
    stated_mean: float
    ratings: tuple[int, ...]

    @property
    def words(self) -> list[str]:
        """The words by white space."""
        return self.text.split()

    @property
    def source(self) -> str:
        """The number of the review or editorial that the snippet was cut from."""
        return self.number.partition("_")[0]


Placement = tuple[dict[str, str], dict[str, str] | None]
"""Stratum by snippet number, and group by snippet number where there are groups."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the files; 0 when they were written, or when ``--check`` found the same bytes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sdist", type=Path, help="vaderSentiment-3.3.2.tar.gz")
    parser.add_argument("--check", action="store_true", help="compare with the files that are there; write nothing")
    options = parser.parse_args(arguments)
    content = options.sdist.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SDIST_SHA256:
        sys.stderr.write(
            f"{options.sdist}: SHA-256 is {digest}, expected {SDIST_SHA256}. Download it as shown above.\n"
        )
        return 2
    files = build(content)
    return compare(files) if options.check else write(files)


def build(sdist: bytes) -> dict[str, bytes]:
    """Every file of ``data/`` by its path there."""
    outer = {name: body for name, body in members(sdist) if name.startswith(f"{ROOT}/")}
    inner = dict(members(outer[ARCHIVE]))
    compound = vader_compound(outer)
    files = {"LICENSE-vaderSentiment.txt": outer[f"{ROOT}/LICENSE.txt"], "CITATION": CITATION.encode()}
    for population, (prefix, stem, place) in POPULATIONS.items():
        snippets = read_snippets(inner, stem)
        strata, groups = place(snippets)
        tables = {
            "items": items_table(prefix, snippets, strata, groups),
            "annotations": annotations_table(prefix, snippets),
            "scores": scores_table(prefix, snippets, compound),
        }
        if population == ONE_RATER_POPULATION:
            one_rating = [replace(snippet, ratings=snippet.ratings[:1]) for snippet in snippets]
            tables["annotations-one-rater"] = annotations_table(prefix, one_rating)
        for name, table in tables.items():
            files[f"{population}/{name}.parquet"] = parquet_bytes(table)
        report(population, snippets, strata, groups)
    return files


# --- reading the source -----------------------------------------------------------------------------------------------


def members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a gzipped tar archive."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            if (file := tar.extractfile(member)) is not None:
                yield member.name, file.read()


def read_snippets(inner: dict[str, bytes], stem: str) -> list[Snippet]:
    """The snippets of one set in the order of its text file; its rating file may order them otherwise."""
    texts = rows(inner[f"hutto_ICWSM_2014/{stem}_GroundTruth.txt"], fields=3)
    rated = rows(inner[f"hutto_ICWSM_2014/{stem}_anonDataRatings.txt"], fields=4)
    ratings = {number: tuple(json.loads(listed)) for number, _, _, listed in rated}
    snippets = [Snippet(number, text, float(mean), ratings[number]) for number, mean, text in texts]
    if len({snippet.number for snippet in snippets}) != len(texts) or len(ratings) != len(rated) != len(texts):
        raise ValueError(f"{stem}: ids are missing from a file or stand twice")
    if not all(snippet.ratings and set(snippet.ratings) <= set(range(-4, 5)) for snippet in snippets):
        raise ValueError(f"{stem}: a rating is missing or outside -4 to 4")
    return snippets


def rows(content: bytes, fields: int) -> list[list[str]]:
    """Tab-separated rows; a byte order mark (one file has one) belongs to no id."""
    text = content.decode("utf-8-sig")
    read = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
    if any(len(row) != fields for row in read):
        raise ValueError(f"a row has not {fields} fields")
    return read


def vader_compound(outer: dict[str, bytes]) -> Callable[[str], float]:
    """The scorer inside the source distribution, whatever version is installed."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("vaderSentiment.py", "vader_lexicon.txt", "emoji_utf8_lexicon.txt"):
            (Path(folder) / name).write_bytes(outer[f"{ROOT}/vaderSentiment/{name}"])
        spec = importlib.util.spec_from_file_location("vader_of_the_sdist", Path(folder) / "vaderSentiment.py")
        if spec is None or spec.loader is None:
            raise ImportError("the scorer of the source distribution cannot be loaded")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        analyser = module.SentimentIntensityAnalyzer()  # reads its two lexicons from the folder, once
    return lambda text: float(analyser.polarity_scores(text)["compound"])


# --- strata and groups ------------------------------------------------------------------------------------------------


def place_tweets(snippets: Sequence[Snippet]) -> Placement:
    """Strata by the part each text had in making the rules; the variations of one tweet are one group."""
    variations = [number for first, last in EXPERIMENT_VARIATIONS for number in range(first, last + 1)]
    contrived = {str(number) for number in (*EXPERIMENT_BASELINES, *variations)}
    spelled = {s.number: re.findall(r"[a-z0-9']+", s.text.casefold()) for s in snippets if s.number in contrived}

    def family(number: str) -> str:
        if number not in contrived:
            return number
        alike = {str(b): SequenceMatcher(None, spelled[str(b)], spelled[number]).ratio() for b in EXPERIMENT_BASELINES}
        return max(alike, key=lambda baseline: alike[baseline])

    def stratum(snippet: Snippet) -> str:
        if snippet.number in contrived:
            return "experiment-contrived"
        return "experiment-tweet" if len(snippet.ratings) > 20 else "tweet"

    return {s.number: stratum(s) for s in snippets}, {s.number: family(s.number) for s in snippets}


def place_product_reviews(snippets: Sequence[Snippet]) -> Placement:
    """Strata by product, groups by review."""

    def product(snippet: Snippet) -> str:
        return LAST_REVIEW_OF[min(last for last in LAST_REVIEW_OF if int(snippet.source) <= last)]

    return {s.number: product(s) for s in snippets}, {s.number: s.source for s in snippets}


def place_film_reviews(snippets: Sequence[Snippet]) -> Placement:
    """Strata by length of the snippet; its review is not recorded, so there are no groups."""
    return {s.number: band(len(s.words), short=13, long=23) for s in snippets}, None


def place_editorials(snippets: Sequence[Snippet]) -> Placement:
    """Strata by length of the whole editorial, groups by editorial."""
    words: Counter[str] = Counter()
    for snippet in snippets:
        words[snippet.source] += len(snippet.words)
    strata = {s.number: band(words[s.source], short=160, long=200) for s in snippets}
    return strata, {s.number: s.source for s in snippets}


def band(words: int, *, short: int, long: int) -> str:
    """Under ``short`` words, from ``long`` words upward, or between."""
    return "short" if words < short else "long" if words >= long else "medium"


POPULATIONS = {
    "tweets-2014": ("tweet", "tweets", place_tweets),
    "product-reviews-2014": ("product", "amazonReviewSnippets", place_product_reviews),
    "film-reviews-2014": ("film", "movieReviewSnippets", place_film_reviews),
    "editorials-2014": ("editorial", "nytEditorialSnippets", place_editorials),
}
ONE_RATER_POPULATION = "film-reviews-2014"


# --- the tables -------------------------------------------------------------------------------------------------------


def items_table(
    prefix: str, snippets: Sequence[Snippet], strata: dict[str, str], groups: dict[str, str] | None
) -> pa.Table:
    """One row a snippet: ids, digest of the text, and what can be counted in it without reading it."""
    texts = [snippet.text for snippet in snippets]
    columns = {
        "item_id": [f"{prefix}-{snippet.number}" for snippet in snippets],
        "stratum": [strata[snippet.number] for snippet in snippets],
        "group": None if groups is None else [f"{prefix}-{groups[snippet.number]}" for snippet in snippets],
        "content_digest": [hashlib.sha256(normalised(text).encode()).hexdigest() for text in texts],
        "words": [len(snippet.words) for snippet in snippets],
        "chars": [len(text) for text in texts],
        "exclamation_marks": [text.count("!") for text in texts],
        "question_marks": [text.count("?") for text in texts],
        "commas": [text.count(",") for text in texts],
        "digits": [sum(char.isdigit() for char in text) for text in texts],
        "capitals_share": [capitals_share(text) for text in texts],
    }
    return pa.table({name: column for name, column in columns.items() if column is not None})


def normalised(text: str) -> str:
    """NFC, with every run of white space as one space and none at the ends; case is kept, since VADER reads it."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def capitals_share(text: str) -> float:
    """Capital letters over letters; 0 in a text without letters."""
    letters = [char for char in text if char.isalpha()]
    return round(sum(char.isupper() for char in letters) / len(letters), 4) if letters else 0.0


def annotations_table(prefix: str, snippets: Sequence[Snippet]) -> pa.Table:
    """One row a rating. The k-th rating of each list is slot k: a column, not a person."""
    rated = [(f"{prefix}-{s.number}", slot, rating) for s in snippets for slot, rating in enumerate(s.ratings, 1)]
    return pa.table(
        {
            "item_id": [item for item, _, _ in rated],
            "annotator_id": [f"slot-{slot:02d}" for _, slot, _ in rated],
            "value": [str(rating) for _, _, rating in rated],
        }
    )


def scores_table(prefix: str, snippets: Sequence[Snippet], compound: Callable[[str], float]) -> pa.Table:
    """VADER's compound score in [-1, 1], and a scorer that counts exclamation marks and reads nothing."""
    scorers = {"vader-compound": compound, "exclamation-count": lambda text: float(text.count("!"))}
    scored = [(f"{prefix}-{s.number}", scorer, score(s.text)) for scorer, score in scorers.items() for s in snippets]
    return pa.table(
        {
            "item_id": [item for item, _, _ in scored],
            "scorer_id": [scorer for _, scorer, _ in scored],
            "value": [value for _, _, value in scored],
        }
    )


# --- deterministic Parquet --------------------------------------------------------------------------------------------


def parquet_bytes(table: pa.Table) -> bytes:
    """The table as Parquet without pandas or Arrow metadata and without the version of the writer."""
    required = pa.schema([field.with_nullable(False) for field in table.schema])
    buffer = io.BytesIO()
    pq.write_table(
        table.cast(required),
        buffer,
        version="2.6",
        data_page_version="1.0",
        row_group_size=1 << 20,
        data_page_size=1 << 20,
        dictionary_pagesize_limit=1 << 22,
        use_dictionary=[name for name in table.column_names if name != "content_digest"],
        compression="zstd",
        compression_level=19,
        write_statistics=False,
        store_schema=False,
    )
    return without_writer_version(buffer.getvalue())


def without_writer_version(content: bytes) -> bytes:
    """The file with ``created_by`` in its footer cut to the writer's name.

    The footer is Thrift's compact protocol: a text is its length, here one byte, and its bytes.
    """
    length = struct.unpack("<I", content[-8:-4])[0]
    body, footer = content[: -8 - length], content[-8 - length : -8]
    stated = f"parquet-cpp-arrow version {pa.__version__}".encode()
    kept = b"parquet-cpp-arrow"
    before, after = bytes([len(stated)]) + stated, bytes([len(kept)]) + kept
    if footer.count(before) != 1:
        raise ValueError(f"the footer that pyarrow {pa.__version__} wrote does not state its version as expected")
    footer = footer.replace(before, after)
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


# --- writing and comparing --------------------------------------------------------------------------------------------


def write(files: dict[str, bytes]) -> int:
    """Write each file whole or not at all."""
    for name, content in files.items():
        path = DATA / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.unfinished")
        unfinished.write_bytes(content)
        unfinished.replace(path)
        say(f"wrote data/{name}  {len(content):,} bytes  sha256 {hashlib.sha256(content).hexdigest()[:16]}")
    say(f"{len(files)} files, {sum(map(len, files.values())):,} bytes")
    return 0


def compare(files: dict[str, bytes]) -> int:
    """Say for each file whether what is there has the same bytes; 1 if any has not."""
    verdicts = {name: verdict(DATA / name, content) for name, content in files.items()}
    for path in sorted(DATA.rglob("*")):
        if path.is_file() and (name := path.relative_to(DATA).as_posix()) not in files:
            verdicts[name] = "not a file of this example"
    for name, found in verdicts.items():
        say(f"data/{name}: {found}")
    return 0 if set(verdicts.values()) == {"same"} else 1


def verdict(path: Path, content: bytes) -> str:
    """How the file at ``path`` compares with what it should hold."""
    if not path.is_file():
        return "missing"
    there = path.read_bytes()
    if there == content:
        return "same"
    if path.suffix == ".parquet" and pq.read_table(io.BytesIO(there)).equals(pq.read_table(io.BytesIO(content))):
        return f"same rows in other bytes (pyarrow is {pa.__version__}; the bytes are those of {SAME_BYTES_WITH})"
    return "differs"


def report(population: str, snippets: Sequence[Snippet], strata: dict[str, str], groups: dict[str, str] | None) -> None:
    """Say what was read, oddities included."""
    raters = [len(snippet.ratings) for snippet in snippets]
    twice = Counter(normalised(snippet.text) for snippet in snippets)
    off = sum(abs(s.stated_mean - sum(s.ratings) / len(s.ratings)) > 0.001 for s in snippets)
    sizes = Counter(strata[snippet.number] for snippet in snippets)
    say(
        f"{population}: {len(snippets)} items in {len(set(groups.values())) if groups else 'no'} groups, "
        f"{sum(raters)} ratings, {min(raters)} to {max(raters)} an item\n"
        f"  strata: {', '.join(f'{name} {size}' for name, size in sorted(sizes.items()))}\n"
        f"  texts that stand more than once: {sum(count > 1 for count in twice.values())}, "
        f"on {sum(count for count in twice.values() if count > 1)} rows; "
        f"stated mean is not the mean of the ratings: {off}"
    )


def say(line: str) -> None:
    """One line for the person who runs this."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
