"""The page itself: a summary of all ladders, and a section for each. Everything that people wrote is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from calib_pipeline.board.drawing import Bar, intervals, ladder
from calib_pipeline.board.style import STYLE
from calib_pipeline.status.cell_status import CellStatus
from calib_pipeline.status.comparison import comparison_of
from calib_pipeline.status.figures import NO_CEILING, Headline, statistic_words

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def board_page(title: str, statuses: Sequence[CellStatus], *, made_at: str, ledger_head: str | None) -> str:
    """The page as HTML.

    Parameters
    ----------
    title
        The project's name.
    statuses
        One for each study on each population, in order.
    made_at
        When the statuses were read.
    ledger_head
        Hash of the ledger's newest event, None where there is no ledger.
    """
    counted = Counter(status.status for status in statuses)
    summary = ", ".join(f"{count} {_words(word)}" for word, count in counted.items()) or "no study is declared"
    head = f"ledger head <code>{escape(ledger_head)}</code>" if ledger_head is not None else "no ledger yet"
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(title)}: calibration</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
            f"<h1>{escape(title)}</h1>\n<p>{escape(summary)}. Read at {escape(made_at)}; {head}.</p>\n",
            _summary(statuses),
            *(_section(position, status) for position, status in enumerate(statuses)),
            "</body>\n</html>\n",
        ]
    )


def _summary(statuses: Sequence[CellStatus]) -> str:
    rows = []
    for position, status in enumerate(statuses):
        headline = status.headline
        best = headline.best_comparator if headline is not None else None
        cells = (
            f'<a href="#cell-{position}">{escape(status.study)}</a>',
            escape(status.population),
            _badge(status),
            escape(status.reached_words),
            "" if headline is None else escape(f"{statistic_words(headline.scorer.statistic)} {headline.scorer.words}"),
            "" if headline is None else escape(headline.people_words),
            "" if best is None else escape(f"{best.scope} {best.words}"),
            "" if headline is None else escape(headline.table_words),
        )
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    names = ("study", "population", "status", "rung reached", "headline", "people", "best comparator", "read it with")
    header = "".join(f"<th>{name}</th>" for name in names)
    return f"<table>\n<thead><tr>{header}</tr></thead>\n<tbody>{''.join(rows)}</tbody>\n</table>\n"


def _section(position: int, status: CellStatus) -> str:
    name = f"{escape(status.study)} on {escape(status.population)}"
    parts = [
        f'<section id="cell-{position}">\n<h2>{name} {_badge(status)}</h2>\n',
        f'<div class="figure">{ladder(status.rungs)}</div>\n',
    ]
    if status.claim is not None:
        kind = "Claim" if status.record_kind == "measurement" else "Diagnostic, never a calibration"
        provisional = " Provisional: measured before what changed." if status.status == "stale" else ""
        parts.append(f'<p class="claim">{kind}: {escape(status.claim)}{provisional}</p>\n')
    if status.reason is not None:
        stop = status.standing.stop
        climbed = stop is not None and stop.kind != "never"
        where = f"Stopped at {status.rung} (<code>{escape(str(status.stopped_at))}</code>): " if climbed else ""
        parts.append(f"<p>{where}{escape(status.reason)}</p>\n")
    if status.next_step is not None:
        parts.append(f'<p class="next">Next: {escape(status.next_step)}</p>\n')
    if status.headline is not None:
        parts.append(_figures(status, status.headline))
    parts.append(_rungs(status))
    if status.record_id is not None:
        parts.append(f"<p>Record <code>{escape(status.record_id)}</code></p>\n")
    parts.append("</section>\n")
    return "".join(parts)


def _figures(status: CellStatus, headline: Headline) -> str:
    """The headline's intervals, and the table without which a chance-corrected figure cannot be read."""
    against_reference = [Bar("scorer", headline.scorer, "scorer")]
    against_reference += [Bar(figure.scope, figure, "comparator") for figure in headline.comparators]
    taken = f" (from {escape(status.headline_from)})" if status.headline_from is not None else ""
    return (
        f"<h3>{escape(statistic_words(headline.scorer.statistic))} on all labeled items{taken}</h3>\n"
        f'<div class="figure">{intervals(against_reference)}</div>\n{_people(headline)}'
        f"<p>Read it with {escape(headline.table_words)}.</p>\n{_all_statistics(status)}"
    )


def _people(headline: Headline) -> str:
    """People and the scorer in the same comparison, which is another than that with the full reference."""
    if headline.people is None:
        return f"<p>{escape(NO_CEILING)}</p>\n"
    bars = [Bar("people", headline.people, "people")]
    if headline.scorer_like_people is not None:
        bars.insert(0, Bar("scorer", headline.scorer_like_people, "scorer"))
    statistic = statistic_words(headline.scorer.statistic)
    return (
        f"<h3>{escape(statistic)} against {escape(headline.people.scope)}</h3>\n"
        f'<div class="figure">{intervals(bars)}</div>\n'
    )


def _all_statistics(status: CellStatus) -> str:
    comparison = comparison_of(status.standing.rows)
    if comparison is None:
        return ""
    names = ("statistic", "against", "scorer", "people", *comparison.comparators)
    header = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    for line in comparison.lines:
        cells = (statistic_words(line.statistic), line.against, line.scorer, line.people, *line.comparators)
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return (
        "<details><summary>Every statistic beside people and comparators</summary>\n"
        f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table></details>\n"
    )


def _rungs(status: CellStatus) -> str:
    rows = []
    for rung in status.rungs:
        cells = (rung.rung, rung.state, rung.reason or "", rung.next_step or "")
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    header = "".join(f"<th>{name}</th>" for name in ("rung", "state", "why", "next"))
    return (
        "<details><summary>The rungs in words</summary>\n"
        f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table></details>\n"
    )


def _badge(status: CellStatus) -> str:
    return f'<span class="badge {status.status}">{_words(status.status)}</span>'


def _words(word: str) -> str:
    return word.replace("_", " ")
