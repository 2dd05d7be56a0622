"""Pairs on a scale of K values: what each item adds to the joint table of reference and answer.

People's pairs are (n, K, K) contributions, rows the reference and columns the answer; a scorer's are (n, K, K + 1), a
refusal in the last column, until `decided` leaves refusals out or `labeled` charges them. Each item sums to 1, or to 0
where it has no such pair. Statistics are functions of weighted sums, so that one resampling serves them all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calib_pipeline.measurement.reference import Consensus, Floats
from calib_pipeline.statistics import fill_refusals


def one_hot(codes: NDArray[np.int64], levels: int) -> Floats:
    """(n, K + 1) answers from codes; a negative code is a refusal and stands in the last column."""
    answers = np.zeros((len(codes), levels + 1))
    answers[np.arange(len(codes)), np.where(codes < 0, levels, codes)] = 1.0
    return answers


def against_reference(shares: Floats, answers: Floats) -> Floats:
    """The reference against the answer."""
    return np.asarray(np.einsum("nk,nl->nkl", shares, answers))


def against_one_label(counts: Floats, answers: Floats) -> Floats:
    """One person's label against the answer, averaged over the people of the item."""
    return against_reference(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), answers)


def against_others(counts: Floats, consensus: Consensus, answers: Floats) -> Floats:
    """The consensus of all but one against the answer, averaged over who is left out: like `people_against_others`."""
    return _over_left_out(counts, consensus, answers[:, None, :].repeat(counts.shape[1], axis=1))


def decided(joint: Floats) -> Floats:
    """(n, K, K) the pairs in which the scorer answered; refused items add nothing."""
    return joint[:, :, :-1]


def labeled(joint: Floats, *, ordered: bool, base: Floats) -> Floats:
    """(n, K, K) every item; a refusal counts as the largest disagreement that the scale allows.

    ``base`` (K,) is the reference's margin: among equally wrong values the one it uses most is taken.
    """
    return np.asarray(fill_refusals(joint, ordered=ordered, base=base))


def people_one_to_one(counts: Floats) -> Floats:
    """One person's label against another's of the same item, averaged over ordered pairs of distinct people."""
    m = counts.sum(axis=1)
    joint = np.einsum("nk,nl->nkl", counts, counts)
    diagonal = np.arange(counts.shape[1])
    joint[:, diagonal, diagonal] -= counts
    return np.asarray(joint / np.maximum(m * (m - 1), 1)[:, None, None])


def people_against_others(counts: Floats, consensus: Consensus) -> Floats:
    """The consensus of the others against each person's label, averaged over the people of the item."""
    return _over_left_out(counts, consensus, np.eye(counts.shape[1])[None].repeat(len(counts), axis=0))


def _over_left_out(counts: Floats, consensus: Consensus, answer_when_left_out: Floats) -> Floats:
    m = counts.sum(axis=1)
    several = m >= 2
    joint = np.zeros((*counts.shape, answer_when_left_out.shape[2]))
    for level in range(counts.shape[1]):
        present = several & (counts[:, level] > 0)
        if not present.any():
            continue
        others = counts[present].copy()
        others[:, level] -= 1
        reference = consensus(others) * (counts[present, level] / m[present])[:, None]
        joint[present] += np.einsum("nk,nl->nkl", reference, answer_when_left_out[present, level])
    return joint
