"""recall: what a prompt brings back, and that it mostly brings nothing."""

from __future__ import annotations

import pytest

from memlite import recall
from memlite.model import Memory, Observation, Project, Prompt, Session
from memlite.store import shown, write
from memlite.store.database import Database

SHOP = Project(root="/nowhere/shop", name="shop")
TOPICS = ("parse the comma of German prices in the importer", "retry the payment webhook with exponential backoff",
          "rotate the nightly Postgres backup to cold storage", "sticky header for the product table",
          "flaky checkout test waits for the spinner", "currency rounding of Swiss invoices")


@pytest.fixture
def filled(fresh_db: Database) -> Database:
    """A project with a few distinct memories, and their echo in another project."""
    with fresh_db.transaction():
        for number, topic in enumerate(TOPICS):
            for project in (SHOP, Project(root="/else/shop", name="shop")):
                write.store(fresh_db, Observation(title=f"{topic} ({project.root})", narrative=topic, uuids=[
                    f"{project.root}{number}"], created_at_epoch=number), Session(session_id=f"old-{project.root}",
                                                                                 project=project))
        write.store(fresh_db, Prompt(text=TOPICS[0], created_at_epoch=50), Session(session_id="now", project=SHOP))
    return fresh_db


def brings_back(database: Database, prompt: str, session_id: str = "now") -> list[Memory]:
    """What the prompt brings back in the shop."""
    return recall.recall(database, SHOP, prompt, session_id=session_id, given=shown.given(database, session_id), now=99)


def test_fitting_prompt_brings_back_the_memory(filled: Database) -> None:
    """Of this project only, and never the prompt itself."""
    found = brings_back(filled, "did we ever retry the payment webhook with backoff?")
    assert [record.headline for record in found] == [f"{TOPICS[1]} (/nowhere/shop)"]
    text = recall.block(found, now=99, branch="")
    assert text.startswith("<memlite-memory>") and f"#{found[0].ref}" in text and len(text) <= 600
    assert f"#{found[0].ref}" in recall.line(found) and "MEMLITE_RECALL=0" in recall.line(found)


@pytest.mark.parametrize("prompt", ["make the buttons teal", "hello", "continue", "yes please", "fix the tests", "",
                                    "?!", "write a haiku about the sea and the wind", "commit"])
def test_ordinary_prompt_brings_back_nothing(filled: Database, prompt: str) -> None:
    """A word in common is not enough."""
    assert brings_back(filled, prompt) == []


def test_nothing_is_given_twice_in_a_session(filled: Database) -> None:
    """A new session may be given it again."""
    prompt = "retry the payment webhook with exponential backoff"
    found = brings_back(filled, prompt)
    with filled.transaction():
        shown.note(filled, "now", found)
    assert found and brings_back(filled, prompt) == []
    assert brings_back(filled, prompt, "another") == found
    with filled.transaction():
        shown.forget_session(filled, "now")
    assert brings_back(filled, prompt) == found


def test_work_of_the_session_itself_is_not_brought_back(filled: Database) -> None:
    """Its context holds it already."""
    prompt = "retry the payment webhook with exponential backoff"
    assert brings_back(filled, prompt, "old-/nowhere/shop") == []


def test_block_stays_small(filled: Database) -> None:
    """Three long titles do not exceed 150 tokens."""
    found: list[Memory] = [Observation(id=n, title="word " * 40, created_at_epoch=1) for n in range(3)]
    assert len(recall.block(found, now=99, branch="")) <= 600
