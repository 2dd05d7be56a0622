"""A project folder: which cells can be climbed, what is wrong, and what an invalid study blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from calib_pipeline.errors import InputError
from calib_pipeline.studies.project import Project, load_project

Folder = Callable[..., Path]


def messages(project: Project) -> list[str]:
    return [str(fault) for fault in project.faults]


def test_a_valid_project(project_folder: Folder, study_yaml: str) -> None:
    root = project_folder(a=study_yaml)
    project = load_project(root)
    assert project.faults == () and project.blocked == {}
    assert project.cells() == [("rte.word-overlap", "news-2026-10")]
    assert project.store == str(root / ".calib/store")
    assert project.ledger == f"sqlite:///{root / '.calib' / 'ledger.db'}"
    assert project.populations == {"news-2026-10": str(root / "data/news-2026-10/items.csv")}
    study = project.studies["rte.word-overlap"]
    assert project.rubric_text(study) == "Does the text entail the hypothesis?\n"
    assert project.path(study.data.annotations, "news-2026-10") == str(root / "data/news-2026-10/annotations.csv")


def test_addresses_are_left_as_they_are(project_folder: Folder, study_yaml: str) -> None:
    calib = "store: memory://bucket/store\npopulations:\n  news-2026-10: {items: gs://bucket/items.parquet}\n"
    project = load_project(project_folder(calib, a=study_yaml))
    assert project.store == "memory://bucket/store"
    assert project.populations == {"news-2026-10": "gs://bucket/items.parquet"}
    assert project.path("s3://b/{population}.csv", "p") == "s3://b/p.csv"


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("store: a-file", "calib.yaml:1: 'store' names the file a-file"),
        ("store: nope://bucket", "'store' is 'nope://bucket', and nothing knows 'nope'"),
        ("ledger: audit.db", "'ledger' is 'audit.db'; expected sqlite:/// and the path of a file"),
        ("ledger: 'sqlite:///:memory:'", "'ledger' is 'sqlite:///:memory:'"),
        ("ledger: mysql://host/db", "'ledger' is 'mysql://host/db'"),
        ("ledger: sqlite:///studies", "'ledger' names the folder studies"),
    ],
)
def test_an_address_where_nothing_can_be_is_refused(project_folder: Folder, declared: str, said: str) -> None:
    root = project_folder(f"{declared}\n")
    (root / "a-file").touch()
    (root / "studies").mkdir(exist_ok=True)
    with pytest.raises(InputError) as fault:
        load_project(root)
    assert said in str(fault.value)


def test_a_relative_ledger_lies_in_the_project(project_folder: Folder) -> None:
    root = project_folder("ledger: sqlite:///audit.db\n")
    assert load_project(root).ledger == f"sqlite:///{root / 'audit.db'}"
    root = project_folder("ledger: sqlite:////var/audit.db\n")
    assert load_project(root).ledger == "sqlite:////var/audit.db"


def test_the_recheck_cadence_is_text(project_folder: Folder) -> None:
    assert load_project(project_folder("recheck: 0 6 * * 1\n")).recheck == "0 6 * * 1"
    assert load_project(project_folder("store: x\n")).recheck is None


def test_a_project_without_studies_is_empty_and_not_wrong(project_folder: Folder) -> None:
    project = load_project(project_folder())
    assert project.cells() == [] and project.faults == ()


@pytest.mark.parametrize(
    ("calib", "expected"),
    [
        ("stroe: x\n", ":1: unknown key 'stroe'; expected one of store, ledger, populations, recheck, defaults. "
         "Did you mean 'store'? For example: store: \".calib/store\""),
        ("populations:\n  p: {itms: x}\n", ":2: unknown key 'populations.p.itms'; expected one of items. "
         "Did you mean 'items'?"),
        ("populations:\n  p: data/items.csv\n", ":2: 'populations.p' is \"data/items.csv\"; expected a mapping"),
        ("populations:\n  a|b: {items: x}\n", ":2: 'populations.a|b': the name 'a|b' cannot be used"),
        ("populations:\n  ...: {items: x}\n", ":2"),
        ("store: no\n", ":1: 'store' is false; expected text"),
        ("store: x\nstore: y\n", ":2: the key 'store' stands twice, first on line 1"),
        ("", ": the file is empty"),
    ],
)  # fmt: skip
def test_a_wrong_calib_yaml_is_refused(project_folder: Folder, calib: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load_project(project_folder(calib))
    assert str(caught.value).startswith(f"calib.yaml{expected}")


def test_a_folder_without_calib_yaml_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no calib\.yaml.*calib init"):
        load_project(tmp_path)


def test_defaults_fill_what_a_study_leaves_out(project_folder: Folder, study_yaml: str) -> None:
    calib = "populations: {news-2026-10: {items: i.csv}}\ndefaults:\n  bootstrap: {seed: 9, level: 0.99}\n"
    short = study_yaml.replace("bootstrap: {resamples: 2000, seed: 0, level: 0.95}\n", "bootstrap: {level: 0.95}\n")
    study = load_project(project_folder(calib, a=short)).studies["rte.word-overlap"]
    assert (study.bootstrap.seed, study.bootstrap.level) == (9, 0.95)


def test_a_fault_in_the_defaults_is_named_where_it_stands(project_folder: Folder, study_yaml: str) -> None:
    calib = "populations: {news-2026-10: {items: i.csv}}\ndefaults:\n  bootstrap: {sead: 9}\n"
    other = study_yaml.replace("study: rte.word-overlap", "study: rte.other")
    (fault,) = messages(load_project(project_folder(calib, a=study_yaml, b=other)))
    assert fault.startswith("calib.yaml:3: unknown key 'bootstrap.sead'")


def test_an_invalid_study_blocks_its_dimension_and_nothing_else(project_folder: Folder, study_yaml: str) -> None:
    same = study_yaml.replace("study: rte.word-overlap", "study: rte.other").replace("size: 300", "size: many")
    other = study_yaml.replace("study: rte.word-overlap", "study: tone").replace(
        "dimension: entailment", "dimension: tone"
    )
    project = load_project(project_folder(a=study_yaml, b=same, c=other))
    assert project.cells() == [("tone", "news-2026-10")]
    assert project.blocked == {
        "rte.word-overlap": "studies/b.yaml declares the same dimension 'entailment' and is invalid"
    }
    assert set(project.studies) == {"rte.word-overlap", "tone"}


def test_a_study_that_cannot_be_read_blocks_everything(project_folder: Folder, study_yaml: str) -> None:
    project = load_project(project_folder(a=study_yaml, b="study: [\n"))
    assert project.cells() == []
    assert "cannot be read" in project.blocked["rte.word-overlap"]


def test_two_studies_of_one_name_are_refused(project_folder: Folder, study_yaml: str) -> None:
    project = load_project(project_folder(a=study_yaml, b=study_yaml))
    assert messages(project) == [
        "studies/b.yaml:1: the study 'rte.word-overlap' is already declared in studies/a.yaml; expected a name of its "
        "own for each study"
    ]
    assert project.cells() == []


@pytest.mark.parametrize(("key", "old", "new"), [("size", "size: 300", "size: 200"), ("seed", "seed: 7", "seed: 8")])
def test_studies_on_one_set_declare_one_set(
    project_folder: Folder, study_yaml: str, key: str, old: str, new: str
) -> None:
    other = study_yaml.replace("study: rte.word-overlap", "study: rte.other").replace(old, new)
    project = load_project(project_folder(a=study_yaml, b=other))
    assert f"'holdout.{key}' is" in messages(project)[0] and "studies/a.yaml declares" in messages(project)[0]
    assert project.cells() == []


def test_studies_of_one_dimension_on_different_populations_may_differ(project_folder: Folder, study_yaml: str) -> None:
    calib = "populations: {news-2026-10: {items: a.csv}, tweets: {items: b.csv}}\n"
    other = study_yaml.replace("study: rte.word-overlap", "study: rte.tweets").replace("size: 300", "size: 200")
    other = other.replace("populations: [news-2026-10]", "populations: [tweets]")
    project = load_project(project_folder(calib, a=study_yaml, b=other))
    assert project.faults == () and len(project.cells()) == 2


def test_an_undeclared_population_is_named_with_the_nearest(project_folder: Folder, study_yaml: str) -> None:
    wrong = study_yaml.replace("populations: [news-2026-10]", "populations: [news-2026-1]")
    assert messages(load_project(project_folder(a=wrong))) == [
        "studies/a.yaml:27: the population 'news-2026-1' is not declared; expected one of news-2026-10. "
        "Did you mean 'news-2026-10'?"
    ]


def test_a_missing_rubric_is_a_fault(project_folder: Folder, study_yaml: str) -> None:
    wrong = study_yaml.replace("rubrics/entailment.md", "rubrics/absent.md")
    assert messages(load_project(project_folder(a=wrong)))[0].startswith(
        "studies/a.yaml:4: the rubric's text 'rubrics/absent.md' is no file of the project"
    )


def test_an_unknown_placeholder_is_a_fault(project_folder: Folder, study_yaml: str) -> None:
    wrong = study_yaml.replace("{population}/scores.csv", "{populaton}/scores.csv")
    assert messages(load_project(project_folder(a=wrong)))[0].startswith(
        "studies/a.yaml:29: 'data.scores' has the placeholder {populaton}; expected {population} and no other"
    )


def test_a_number_like_population_is_a_name(project_folder: Folder, study_yaml: str) -> None:
    calib = "populations: {2026: {items: a.csv}}\n"
    study = study_yaml.replace("populations: [news-2026-10]", "populations: [2026]")
    assert load_project(project_folder(calib, a=study)).cells() == [("rte.word-overlap", "2026")]


def test_a_rubric_that_is_no_text_is_refused_when_it_is_read(project_folder: Folder, study_yaml: str) -> None:
    root = project_folder(a=study_yaml)
    project = load_project(root)
    (root / "rubrics" / "entailment.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        project.rubric_text(project.studies["rte.word-overlap"])


@pytest.mark.parametrize("text", ["{outside}", "../elsewhere.md", "rubrics/../../elsewhere.md"])
def test_a_rubric_outside_of_the_project_is_not_read(project_folder: Folder, study_yaml: str, text: str) -> None:
    root = project_folder(a=study_yaml)
    elsewhere = root.parent / "elsewhere.md"
    elsewhere.write_text("not for a record", encoding="utf-8")
    study = load_project(root).studies["rte.word-overlap"]
    rubric = study.rubric.model_copy(update={"text": text.format(outside=elsewhere)})
    with pytest.raises(InputError, match="outside of the project"):
        load_project(root).rubric_text(study.model_copy(update={"rubric": rubric}))
