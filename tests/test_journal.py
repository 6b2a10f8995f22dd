"""journal: every insert, edit and removal gets the next number, and nothing is missed."""

from __future__ import annotations

from memlite.model import OBSERVATION, PROMPT, SUMMARY, Prompt, Summary
from memlite.store import forget, index, journal, write
from memlite.store.database import Database, open_database
from shop_store import SHOP, observed


def put(database: Database, record: object) -> None:
    with database.transaction():
        assert write.store(database, record, SHOP)  # type: ignore[arg-type]


def test_each_kind_of_record_is_noted_under_its_own_key(fresh_db: Database) -> None:
    """Ids of different kinds never collide."""
    put(fresh_db, observed("one", 1))
    put(fresh_db, Summary(request="two", completed="done", created_at_epoch=1))
    put(fresh_db, Prompt(text="three", created_at_epoch=1))
    keys = [index.key(OBSERVATION, 1), index.key(SUMMARY, 1), index.key(PROMPT, 1)]
    assert journal.after(fresh_db, 0, 10) == list(enumerate(keys, 1))
    assert journal.before(fresh_db, 3, 10) == [(2, keys[1]), (1, keys[0])]
    assert journal.last(fresh_db) == 3


def test_edit_and_removal_move_a_record_to_the_end(fresh_db: Database) -> None:
    """Whoever has seen the record before sees it once more; the table never holds it twice."""
    for number in range(3):
        put(fresh_db, observed(f"title {number}", number))
    fresh_db.execute("UPDATE observations SET title = 'other' WHERE id = 1")
    assert journal.after(fresh_db, 3, 10) == [(4, 4)]
    forget.forget(fresh_db, [(OBSERVATION, 2)])
    assert journal.after(fresh_db, 4, 10) == [(5, 8)]
    assert fresh_db.rows("SELECT count(*) FROM journal")[0][0] == 3


def test_numbers_go_on_after_everything_was_forgotten(fresh_db: Database) -> None:
    """No number is given twice, so a position in them stays true."""
    put(fresh_db, observed("one", 1))
    forget.forget(fresh_db, [(OBSERVATION, 1)])
    put(fresh_db, observed("another", 2))
    assert [number for number, _ in journal.after(fresh_db, 0, 10)] == [2, 3]


def test_what_is_rolled_back_leaves_no_number(fresh_db: Database) -> None:
    """The journal is part of the transaction; what is committed is there, which is the control."""
    try:
        with fresh_db.transaction():
            write.store(fresh_db, observed("lost", 1), SHOP)
            raise KeyError
    except KeyError:
        pass
    assert journal.last(fresh_db) == 0
    put(fresh_db, observed("kept", 1))
    assert journal.last(fresh_db) == 1


def test_outside_counts_what_is_not_between(fresh_db: Database) -> None:
    """The part of the journal that an index has not taken in yet."""
    for number in range(5):
        put(fresh_db, observed(f"title {number}", number))
    assert [journal.outside(fresh_db, low, high) for low, high in ((1, 5), (6, 5), (3, 4), (1, 0))] == [0, 5, 3, 5]


def test_records_of_an_older_file_are_in_the_journal_after_migration(home: str, tmp_path: object) -> None:
    """As if they had been stored one after another."""
    from test_schema import as_of

    path = as_of(home, 1)
    import sqlite3

    with sqlite3.connect(path) as connection:
        for number in range(3):
            connection.execute("INSERT INTO prompts(text, session, project, created_at_epoch, origin, fingerprint) "
                               "VALUES ('t', 1, 1, 1, 'captured', ?)", (str(number),))
    connection.close()
    with open_database(home) as database:
        assert journal.after(database, 0, 10) == [(1, 6), (2, 10), (3, 14)]
        assert len(journal.birth(database)) == 16


def test_two_files_have_two_births(tmp_path: object) -> None:
    """Numbers of one mean nothing in the other."""
    births = []
    for name in ("a", "b"):
        with open_database(f"{tmp_path}/{name}") as database:
            births.append(journal.birth(database))
    assert births[0] != births[1]
