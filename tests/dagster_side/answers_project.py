"""A small real project: two populations of made-up answers, two people, a scorer that is mostly right."""

from __future__ import annotations

import random
from pathlib import Path

CALIB_YAML = """\
populations:
  spring: {items: data/spring/items.csv}
  autumn: {items: data/autumn/items.csv}
defaults:
  dimension: helpfulness
  rubric: {version: "1", text: rubric.md}
  reference: {kind: anchor, consensus: majority}
  annotation: {blind: {to: [output, confidence, difficulty], by: "people see the answer only"}}
  ceiling: {min_annotators: 2, min_items: 60, floor: 0.1, because: "below this two people read two rubrics"}
  baselines: {heuristics: [{column: words}]}
  agreement: {min_pairs: 60, min_scored: 0.9}
  decision:
    gates: {what: "answers are shown", blocking: false, reversible: true}
    accept: ["yes"]
    cost_false_accept: {value: 1, because: "one bad answer is shown: the unit"}
    cost_false_reject: {value: 1, because: "one good answer is hidden: as bad"}
    budget: 0.3
  bootstrap: {resamples: 2000, seed: 0, level: 0.95}
"""
STUDY = """\
study: STUDY
scale: {kind: binary, positive: "yes", negative: "no"}
scorer: {id: rule, kind: table, config: {version: VERSION}}
holdout: {role: ROLE, size: 120, seed: 7, min_per_stratum: 5, prior_access: "made up; nothing was fitted on them"}
data: {populations: [POPULATIONS], annotations: "data/{population}/labels.csv", scores: "data/{population}/scores.csv"}
"""
DEFINITIONS = """\
from pathlib import Path

from calib_pipeline.definitions import project_definitions

defs = project_definitions(Path(__file__).parent)
"""
WORKSPACE = "load_from:\n  - python_file: {relative_path: definitions.py, location_name: small}\n"


def write_project(root: Path, *populations: str) -> Path:
    """The project with the study ``rule`` on the populations (``spring`` where none is named)."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "calib.yaml").write_text(CALIB_YAML)
    (root / "rubric.md").write_text("Is the answer helpful?\n")
    (root / "definitions.py").write_text(DEFINITIONS)
    (root / "workspace.yaml").write_text(WORKSPACE)
    for name in ("spring", "autumn"):
        write_tables(root, name)
    write_study(root, "rule", *populations)
    return root


def write_study(
    root: Path, name: str, *populations: str, role: str = "holdout", version: str = "1", dimension: str = "helpfulness"
) -> Path:
    """The file of one study."""
    (root / "studies").mkdir(exist_ok=True)
    text = STUDY.replace("STUDY", name).replace("POPULATIONS", ", ".join(populations or ("spring",)))
    path = root / "studies" / f"{name}.yaml"
    path.write_text(text.replace("ROLE", role).replace("VERSION", version) + f"dimension: {dimension}\n")
    return path


def write_tables(root: Path, population: str, *, size: int = 160, second_person: bool = True) -> None:
    """Items in two strata, the labels of two people who agree on nine items of ten, and the scorer's outputs."""
    chance = random.Random(population)
    folder = root / "data" / population
    folder.mkdir(parents=True, exist_ok=True)
    items, labels, scores = ["item_id,stratum,words"], ["item_id,annotator_id,value"], ["item_id,scorer_id,value"]
    for index in range(size):
        item = f"{population}-{index:03}"
        good = index % 2 == 0
        items.append(f"{item},{'short' if index % 4 < 2 else 'long'},{chance.randint(5, 80)}")
        for person in ("ann", "bo") if second_person else ("ann",):
            said = good if chance.random() < 0.95 else not good
            labels.append(f"{item},{person},{'yes' if said else 'no'}")
        right = good if chance.random() < 0.93 else not good
        scores.append(f"{item},rule,{'yes' if right else 'no'}")
    for name, lines in (("items", items), ("labels", labels), ("scores", scores)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
