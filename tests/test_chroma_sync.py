"""engine and sync: the index follows the store, misses nothing, and lives no longer than it is needed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_chroma import FakeChroma, filled, until
from memlite.chroma import position, sync
from memlite.chroma.engine import Engine
from memlite.errors import SemanticUnavailable
from memlite.model import OBSERVATION
from memlite.store import forget
from memlite.store.database import open_database
from memlite.store.find import Filter
from shop_store import BOAT, fill, observed, store


@pytest.fixture
def chroma(tmp_path: Path) -> FakeChroma:
    return FakeChroma(tmp_path / "fake")


@pytest.fixture
def engine(home: str, chroma: FakeChroma) -> Iterator[Engine]:
    fill(home)
    started = filled(chroma.engine(home))
    yield started
    started.close()


def kept(home: str) -> dict[int, str]:
    """{key: text} of what the fake's index holds."""
    files = list((Path(home) / "chroma" / "index").glob("memlite*.json"))
    assert len(files) == 1
    items = json.loads(files[0].read_text())["items"]
    return {sync.key_of(ident): said for ident, (said, _) in items.items()}


def keys(home: str) -> set[int]:
    """The keys of all records of the store."""
    with open_database(home) as database:
        return {row[0] for row in database.rows("SELECT key FROM catalogue")}


def test_every_record_gets_a_vector_with_its_fields(home: str, engine: Engine) -> None:
    """Whatever its kind; ids carry the owner, so that others may share the index."""
    assert set(kept(home)) == keys(home) and engine.count == 9
    text = next((Path(home) / "chroma" / "index").glob("memlite*.json")).read_text()
    items = json.loads(text)["items"]
    owner = position.load(str(Path(home) / "chroma")).owner
    assert all(ident.startswith(f"{owner}-") for ident in items) and len(owner) == 16
    assert items[f"{owner}-8"][1] == {"kind": "observation", "type": "bugfix", "project": 1, "branch": "",
                                      "at": 1_780_000_120_000, "concept:problem-solution": True}


def test_what_comes_in_changes_or_goes_is_followed(home: str, engine: Engine) -> None:
    """While the engine runs, without being told."""
    new = store(home, observed("A new vessel", 30), BOAT)
    until(lambda: set(kept(home)) == keys(home), "the insert")
    with open_database(home) as database:
        database.execute("UPDATE observations SET title = 'A renamed boat' WHERE id = ?", (new,))
        assert forget.forget(database, [(OBSERVATION, 1)])
    until(lambda: set(kept(home)) == keys(home) and "renamed" in kept(home)[4 * (new or 0)], "the edit and the removal")
    assert 4 not in kept(home)


def test_what_happened_while_nobody_followed_is_made_up_for(home: str, chroma: FakeChroma, engine: Engine) -> None:
    """And nothing else is taken in again."""
    engine.close()
    store(home, observed("Stored in between", 30))
    with open_database(home) as database:
        forget.forget(database, [(OBSERVATION, 2)])
    before = len(chroma.log())
    again = filled(chroma.engine(home))
    again.close()
    assert set(kept(home)) == keys(home) and 8 not in kept(home)
    assert [line for line in chroma.log()[before:] if line.startswith("put")] == ["put 1 drop 1"]


def test_newest_records_are_taken_in_first(home: str, chroma: FakeChroma) -> None:
    """Yesterday's work is asked for before last year's; a portion that is killed is taken in again."""
    for number in range(sync.PORTION + 5):
        store(home, observed(f"Number {number}", number))
    engine = chroma.engine(home)
    taken: list[set[int]] = []
    whole = sync.step

    def once(*arguments: object) -> bool:
        try:
            return whole(*arguments) if not taken else False  # type: ignore[arg-type]
        finally:
            taken.append(set(kept(home)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sync, "step", once)
        engine.start()
        until(lambda: len(taken) > 1)
        os.kill(engine.status()["pid"], signal.SIGKILL)
        engine.close()
    assert taken[0] == {4 * ident for ident in range(6, sync.PORTION + 6)}
    filled(chroma.engine(home)).close()
    assert set(kept(home)) == keys(home)


@pytest.mark.parametrize("what", ["position lost", "index lost", "model changed", "another store", "store set back",
                                  "start over"])
def test_index_that_can_not_be_trusted_is_filled_anew(home: str, chroma: FakeChroma, engine: Engine,
                                                      what: str) -> None:
    """With nothing of the old one left in it."""
    with open_database(home) as database:
        database.execute("VACUUM INTO ?", (f"{home}/earlier.db",))
    store(home, observed("To be lost", 40))
    until(lambda: set(kept(home)) == keys(home))
    engine.close()
    folder = Path(home) / "chroma"
    index = next((folder / "index").glob("memlite*.json"))
    if what == "position lost":
        (folder / position.FILE).unlink()
    elif what == "index lost":
        index.unlink()
    elif what == "model changed":
        (chroma.model / "model.onnx").write_text("a larger model")
        index.unlink()      # as the helper does with an index of another model
    elif what == "start over":
        from memlite.chroma import install

        install.start_over(home)
    else:
        for name in ("memlite.db", "memlite.db-wal", "memlite.db-shm"):
            (Path(home) / name).unlink(missing_ok=True)
        if what == "store set back":
            (Path(home) / "earlier.db").rename(Path(home) / "memlite.db")
        else:
            store(home, observed("All that there is", 1))
    before = len(chroma.log())
    filled(chroma.engine(home)).close()
    current = kept(home)
    assert set(current) == keys(home)
    if what == "another store":
        assert list(current.values()) == ["All that there is\n\nAll about All that there is."]
    assert sum(int(line.split()[1]) for line in chroma.log()[before:] if line.startswith("put")) == len(current)


def test_helper_goes_when_nobody_needs_it_and_comes_back(home: str, chroma: FakeChroma) -> None:
    """By itself after a while; a query wakes it, and so does a new record."""
    fill(home)
    engine = chroma.engine(home, idle_seconds=0.0)
    engine.start()
    until(lambda: engine.count == 9 and engine.state == "idle")
    assert engine.status()["processes"] == 0
    store(home, observed("Waking", 50))
    until(lambda: set(kept(home)) == keys(home) and engine.state == "idle")
    before = len([line for line in chroma.log() if line.startswith("open")])
    with pytest.raises(SemanticUnavailable, match="starting"):
        engine.nearest("boat", Filter(), [], 5)
    until(lambda: len([line for line in chroma.log() if line.startswith("open")]) == before + 1)
    engine.close()


def test_nothing_runs_before_there_is_something_to_do(home: str, chroma: FakeChroma) -> None:
    """An empty store needs no helper; the first record starts one."""
    open_database(home).close()
    engine = chroma.engine(home)
    engine.start()
    assert engine.status()["state"] == "idle" and chroma.log() == []
    store(home, observed("First", 1))
    until(lambda: chroma.log())
    engine.close()


def test_nothing_is_started_where_chroma_is_not_or_is_not_wanted(home: str, chroma: FakeChroma) -> None:
    """No process, no thread, no folder; the control has all three."""
    fill(home)
    gone = chroma.engine(home)
    chroma.python.rename(chroma.folder / "elsewhere")
    gone.start()
    assert (gone.status()["state"], gone.status()["processes"], gone._thread) == ("absent", 0, None)
    assert not (Path(home) / "chroma").exists()
    (chroma.folder / "elsewhere").rename(chroma.python)
    engine = filled(chroma.engine(home))
    assert engine.status()["processes"] == 1 and (Path(home) / "chroma").stat().st_mode & 0o777 == 0o700
    engine.close()
    assert engine.status()["processes"] == 0


def test_second_engine_serves_words_until_the_first_is_gone(home: str, chroma: FakeChroma, engine: Engine) -> None:
    """One owner of the index at any time."""
    second = chroma.engine(home)
    second._wanted = True
    second.start()
    until(lambda: second.state == "failed")
    assert "another process" in second.status()["reason"] and engine.state == "ready"
    engine.close()
    until(lambda: second.state == "ready")
    second.close()


def test_start_that_fails_is_tried_again_with_pauses(home: str, chroma: FakeChroma) -> None:
    """Not in a loop; and once it is well again it serves."""
    fill(home)
    chroma.behave("locked")
    engine = chroma.engine(home)
    engine.start()
    until(lambda: engine.state == "failed" and chroma.log())
    assert 1 <= len(chroma.log()) < 5
    chroma.behave("well")
    until(lambda: engine.state == "ready")
    engine.close()
