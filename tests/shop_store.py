"""A small store with something of everything, for tests of routes and streams."""

from __future__ import annotations

from typing import Any

from memlite.model import CAPTURED, Observation, Project, Prompt, Session, Summary
from memlite.store import write
from memlite.store.database import open_database

BEGIN = 1_780_000_000_000
SHOP = Session(session_id="s-shop", project=Project(root="/r/shop", name="shop"), started_at_epoch=BEGIN,
               ended_at_epoch=BEGIN)
BOAT = Session(session_id="s-boat", project=Project(root="/r/boat", name="boat"), started_at_epoch=BEGIN,
               ended_at_epoch=BEGIN)


def observed(title: str, minute: int, **fields: Any) -> Observation:
    """An observation made that many minutes after BEGIN."""
    return Observation(title=title, narrative=f"All about {title}.", origin=CAPTURED,
                       created_at_epoch=BEGIN + minute * 60_000, **fields)


def store(home: str, record: Any, owner: Session = SHOP) -> int | None:
    """Store one record in a transaction of its own. Returns its id."""
    with open_database(home) as database, database.transaction():
        return write.store(database, record, owner)


def fill(home: str) -> None:
    """Observations 1–5, summaries S1 and S2, prompts P1 and P2, in two projects; one a minute."""
    store(home, Prompt(text="Prices with a comma crash", created_at_epoch=BEGIN, prompt_number=1))
    store(home, observed("Prices are parsed with float", 1, type="discovery", concepts=["how-it-works"],
                         files_read=["/r/shop/prices.py"]))
    store(home, observed("Comma in prices accepted", 2, type="bugfix", concepts=["problem-solution"],
                         files_modified=["/r/shop/prices.py"], facts=["4 tests pass"]))
    store(home, observed("Keep prices as integers of cents", 3, type="decision", concepts=["trade-off", "gotcha"]))
    store(home, Summary(request="Prices with a comma crash", completed="Comma accepted",
                        created_at_epoch=BEGIN + 240_000, files_edited=["/r/shop/prices.py"]))
    store(home, observed("Price column renamed", 5, type="change", concepts=["what-changed"]))
    store(home, Prompt(text="Does the boat float?", created_at_epoch=BEGIN + 360_000, prompt_number=1), BOAT)
    store(home, observed("Hull of the boat", 7, type="feature"), BOAT)
    store(home, Summary(request="Does the boat float?", completed="It floats", created_at_epoch=BEGIN + 480_000), BOAT)
