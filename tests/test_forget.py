"""What is forgotten is gone, from the file's bytes too, and stays gone."""

from __future__ import annotations

import os

from memlite.model import Observation, Prompt, Summary
from memlite.search.controller import search
from memlite.search.request import SearchRequest
from memlite.store import records, transcripts, write
from memlite.store.database import Database, open_database
from memlite.store.forget import erase, forget
from shop_store import BEGIN, SHOP
from stored import sound

SECRET, SIBLING = "lanternfish", "butterflyfish"


def bytes_with(home: str, word: str) -> list[str]:
    """The files of the data directory that hold `word` in their bytes, in any case."""
    found = []
    for name in sorted(os.listdir(home)):
        with open(os.path.join(home, name), "rb") as file:
            if word.encode() in file.read().lower():
                found.append(name)
    return found


def fill(database: Database, word: str, number: int) -> list[tuple[str, int]]:
    """A record of each kind that holds `word`, among others that do not."""
    made = []
    for record in (
            Observation(title=f"The {word} swims", narrative=f"A long story of a {word}. " * 200, facts=[f"{word} 1"],
                        concepts=[word], files_read=[f"/r/{word}.py"], details=f"{word} " * 300,
                        created_at_epoch=BEGIN + number, uuids=[f"o-{number}"]),
            Summary(request=f"Where is the {word}?", completed=f"The {word} is found", created_at_epoch=BEGIN + number,
                    uuids=[f"s-{number}"]),
            Prompt(text=f"Find the {word}", created_at_epoch=BEGIN + number, uuids=[f"p-{number}"])):
        with database.transaction():
            ident = write.store(database, record, SHOP)
        assert ident is not None
        made.append((record.KIND, ident))
    return made


def test_forgotten_text_is_not_in_any_file_and_its_sibling_is(fresh_db: Database, home: str) -> None:
    references = fill(fresh_db, SECRET, 1)
    fill(fresh_db, SIBLING, 2)
    for number in range(3, 40):
        fill(fresh_db, f"fish{number}", number)
    assert bytes_with(home, SECRET)
    assert forget(fresh_db, references) == references
    assert erase(fresh_db)
    assert bytes_with(home, SECRET) == []
    assert bytes_with(home, SIBLING)
    assert records.fetch(fresh_db, references) == []
    assert sound(fresh_db)


def test_a_search_is_not_disturbed_by_what_is_forgotten_meanwhile(fresh_db: Database, home: str) -> None:
    """It answers from the store as it was when it began, even where a record goes between ranking and reading it."""
    references = fill(fresh_db, SIBLING, 1)
    with open_database(home) as other:
        def forget_before_reading(statement: str) -> None:
            if "FROM observations m" in statement:
                forget(other, references)
        fresh_db.connection.set_trace_callback(forget_before_reading)
        found = search(fresh_db, SearchRequest(query=SIBLING))
        fresh_db.connection.set_trace_callback(None)
    assert found.total == len(references)
    assert {(hit.record.KIND, hit.record.id) for hit in found.hits} == set(references)
    assert search(fresh_db, SearchRequest(query=SIBLING)).total == 0


def test_forgetting_without_erasing_leaves_bytes(fresh_db: Database, home: str) -> None:
    """The control: erasing is what takes them out."""
    references = fill(fresh_db, SECRET, 1)
    forget(fresh_db, references)
    assert bytes_with(home, SECRET)


def test_a_forgotten_record_is_not_stored_again_and_another_is(fresh_db: Database) -> None:
    references = fill(fresh_db, SECRET, 1)
    forget(fresh_db, references)
    with fresh_db.transaction():
        again = Observation(title="The lanternfish swims", narrative="told anew", created_at_epoch=BEGIN, uuids=["o-1"])
        assert write.store(fresh_db, again, SHOP) is None
        other = Observation(title="The lanternfish swims", narrative="told anew", created_at_epoch=BEGIN, uuids=["o-9"])
        assert write.store(fresh_db, other, SHOP)


def test_unknown_ids_are_passed_over(fresh_db: Database) -> None:
    references = fill(fresh_db, SECRET, 1)
    assert forget(fresh_db, [("observation", 99), references[0], references[0]]) == [references[0]]
    assert forget(fresh_db, [references[0]]) == []
    assert records.fetch(fresh_db, references[1:])


def test_erasing_waits_for_readers_only_so_long(fresh_db: Database, home: str, monkeypatch: object) -> None:
    from memlite.store import forget as module

    references = fill(fresh_db, SECRET, 1)
    with open_database(home) as reader:
        reader.execute("BEGIN")
        reader.rows("SELECT count(*) FROM observations")
        forget(fresh_db, references)
        monkeypatch.setattr(module, "_ERASE_SECONDS", 0.1)  # type: ignore[attr-defined]
        fresh_db.execute("PRAGMA busy_timeout = 50")
        assert not erase(fresh_db)
        reader.execute("COMMIT")
    assert erase(fresh_db)
    assert bytes_with(home, SECRET) == []


def test_words_the_transcripts_reader_remembers_are_forgotten_too(fresh_db: Database, home: str) -> None:
    """The open turn's prompt and closing words lie in the reading position; where to read on from stays."""
    state = {"session": {"number": 3, "prompt": f"Find the {SECRET}", "titles": [SECRET], "closing": SIBLING,
                         "cwd": "/code", "said": True}}
    record = Prompt(text=f"Find the {SECRET}", created_at_epoch=BEGIN, uuids=["row"], transcript="/t.jsonl")
    with fresh_db.transaction():
        ident = write.store(fresh_db, record, SHOP)
        transcripts.advance(fresh_db, "/t.jsonl", transcripts.Position(), transcripts.Position(7, 9, "1:x", state))
    assert ident and bytes_with(home, SECRET)
    forget(fresh_db, [("prompt", ident)])
    assert erase(fresh_db) and bytes_with(home, SECRET) == []
    after = transcripts.position(fresh_db, "/t.jsonl")
    assert (after.offset, after.size) == (7, 9)
    assert after.state == {"session": {"number": 3, "prompt": "", "titles": [], "closing": "", "cwd": "/code",
                                       "said": True}}
