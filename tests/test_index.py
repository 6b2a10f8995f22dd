"""index: derived from the records, maintained with them, disposable."""

from __future__ import annotations

import pytest

from memlite.errors import StoreUnusable
from memlite.model import KINDS, OBSERVATION, PROMPT, SUMMARY
from memlite.search.controller import search
from memlite.search.request import SearchRequest
from memlite.store import index, records, reindex, write
from memlite.store.database import Database
from stored import contents, sound
from test_records import OWNER, one_of_each


@pytest.fixture
def filled(fresh_db: Database) -> Database:
    """Three of each kind."""
    with fresh_db.transaction():
        for number in (1, 2, 3):
            for record in one_of_each(number):
                write.store(fresh_db, record, OWNER)
    return fresh_db


def matches(database: Database, word: str) -> list[tuple[str, int]]:
    """What `word` finds, best first."""
    return [(hit.record.KIND, hit.record.id or 0) for hit in search(database, SearchRequest(query=word, limit=50)).hits]


def test_keys_of_different_kinds_never_collide() -> None:
    """key and reference are inverse."""
    keys = {index.key(kind, ident): (kind, ident) for kind in KINDS for ident in (1, 2, 3, 10**12)}
    assert len(keys) == 12
    assert all(index.reference(key) == reference for key, reference in keys.items())


def test_record_is_found_by_the_words_of_every_field(filled: Database) -> None:
    """Title, narrative, facts, files and details of an observation; the fields of a summary; a prompt's text."""
    for word in ("fix", "n", "g", "m.py", "d"):
        assert (OBSERVATION, 1) in matches(filled, word), word
    for word in ("q", "c", "e.py", "o"):
        assert (SUMMARY, 1) in matches(filled, word), word
    assert (PROMPT, 2) in matches(filled, "please")
    assert (OBSERVATION, 1) not in matches(filled, "please")


def test_removed_record_is_found_no_more_and_its_sibling_still_is(filled: Database) -> None:
    """The catalogue and the words forget it together."""
    record = records.fetch(filled, [(OBSERVATION, 2)])[0]
    with filled.transaction():
        index.remove(filled, record)
        filled.execute("DELETE FROM observations WHERE id = 2")
    assert [ident for kind, ident in matches(filled, "fix") if kind == OBSERVATION] == [3, 1]
    assert sound(filled)


def test_rebuilt_index_answers_the_same(filled: Database) -> None:
    """Dropped and made anew from the records: same answers in the same order."""
    before = contents(filled), [matches(filled, word) for word in ("fix", "please", "n", "m.py")]
    assert reindex.rebuild(filled) == 9
    assert (contents(filled), [matches(filled, word) for word in ("fix", "please", "n", "m.py")]) == before
    assert sound(filled)


def test_index_is_current_until_its_version_changes(filled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without an index, or with one of another version, is not current."""
    assert index.is_current(filled)
    monkeypatch.setattr(index, "VERSION", "999")
    assert not index.is_current(filled)
    filled.execute("DROP TABLE meta")
    assert not index.is_current(filled)


def test_check_finds_a_word_index_that_lies(filled: Database) -> None:
    """SQLite's own check of the full-text index is part of it."""
    index.check(filled)
    filled.execute("DELETE FROM words_data WHERE id > 10")
    with pytest.raises(StoreUnusable):
        index.check(filled)
