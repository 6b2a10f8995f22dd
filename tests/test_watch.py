"""watch: another value after every commit, whoever made it, and never the same again."""

from __future__ import annotations

import os

import pytest

from memlite.errors import StoreDamaged
from memlite.store.watch import Watch
from shop_store import observed, store


@pytest.fixture
def watch(home: str) -> Watch:
    """A watch over a store with a record in it."""
    store(home, observed("One", 1))
    return Watch(home)


def test_a_commit_is_seen_once(watch: Watch, home: str) -> None:
    """Looking changes nothing."""
    first = watch.version()
    assert watch.version() == first
    store(home, observed("Two", 2))
    second = watch.version()
    assert second != first and watch.version() == second
    watch.close()


def test_no_value_comes_back_with_the_file(watch: Watch, home: str) -> None:
    """A connection counts the commits from its own beginning, so one opened anew would say what an old one said."""
    path = f"{home}/memlite.db"
    seen = [watch.version()]
    for number in range(3):
        os.rename(path, f"{path}.away")
        assert watch.version() == ()
        os.rename(f"{path}.away", path)
        seen.append(watch.version())
        store(home, observed(f"More {number}", 10 + number))
        seen.append(watch.version())
    assert len(set(seen)) == len(seen)
    watch.close()


def test_there_may_be_no_store_or_none_that_can_be_read(home: str) -> None:
    """It is looked for again each time."""
    watch = Watch(home)
    assert watch.version() == ()
    os.makedirs(home, 0o700, exist_ok=True)
    with open(f"{home}/memlite.db", "wb") as file:
        file.write(b"this is no database " * 500)
    with pytest.raises(StoreDamaged):
        watch.version()
    os.unlink(f"{home}/memlite.db")
    store(home, observed("One", 1))
    assert watch.version() != ()
    watch.close()
