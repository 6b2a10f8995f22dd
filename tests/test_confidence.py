"""confidence: whether the best record is an answer, or just the nearest of what there is."""

from __future__ import annotations

import pytest

from memlite.model import Observation
from memlite.search.confidence import CONFIDENT, OUTSTANDING, confidence, coverage

RECORD = Observation(title="Retry the payment webhook with backoff",
                     narrative="It gave up after one timeout in load_user.")


def sure(*terms: str, score: float = 3.0) -> float:
    """The confidence for a question of equally rare terms."""
    return confidence(RECORD, dict.fromkeys(terms, 3.0), score * len(terms))


def test_answer_that_covers_the_question_is_outstanding() -> None:
    """Between 0 and 1; the fewer of the words, the less sure."""
    every, some = sure("payment", "webhook", "backoff"), sure("payment", "webhook", "teal")
    none = sure("teal", "button")
    assert 1 >= every > some >= OUTSTANDING > CONFIDENT > none >= 0


def test_one_word_in_common_is_never_outstanding() -> None:
    """It may well be what was asked for, but no reason to interrupt; a compound name is."""
    assert OUTSTANDING > sure("webhook") >= CONFIDENT
    assert sure("webhook", "stripe", "signature") < CONFIDENT
    assert sure("load user") >= OUTSTANDING


@pytest.mark.parametrize("terms", [("fix", "retry", "tests"), ("payment", "retry"), ("1", "3", "retry")])
def test_words_of_every_work_and_small_numbers_tell_nothing(terms: tuple[str, ...]) -> None:
    """With a second telling word it is another matter."""
    others = tuple(term for term in terms if term not in ("fix", "tests", "1", "3"))
    assert (sure(*terms) >= OUTSTANDING) == (len(others) > 1)


def test_score_counts() -> None:
    """The same words in a worse place."""
    assert sure("payment", "timeout", score=4) > sure("payment", "timeout", score=0.1)


def test_coverage_tells_share_count_and_names() -> None:
    """A phrase stands there when all its words do, a beginning when a word begins so."""
    text = "the load_user function of prices, 登录"
    assert coverage(text, {"load user": 1.0, "absent": 3.0}) == (0.25, 1, True)
    assert coverage(text, {"price*": 1.0, "登录": 1.0, "functions": 2.0}) == (1.0, 3, False)
    assert coverage(text, {}) == (0.0, 0, False)


def test_nothing_asked_is_no_answer() -> None:
    """No division by zero either."""
    assert confidence(RECORD, {}, 0.0) == 0.0
