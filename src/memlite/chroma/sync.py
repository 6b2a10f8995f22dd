"""From the store's journal into the index: what is new first, then what is older, a portion at a time.

A portion is noted in the position after the index has it. Should the process end in between, the portion is given
once more, which changes nothing: every record has an id of its own in the index.
"""

from __future__ import annotations

from memlite.chroma import documents
from memlite.store import index, journal, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.chroma.helper import Helper
    from memlite.chroma.position import Position
    from memlite.store.database import Database

PORTION = 32
_SECONDS = 60.0


def vector_id(owner: str, key: int) -> str:
    """The id of a record's vector: unique among all who share the index."""
    return f"{owner}-{key}"


def key_of(ident: str) -> int:
    """The index key behind a vector's id."""
    return int(ident.rpartition("-")[2])


def waiting(database: Database, position: Position) -> int:
    """How many changes are not in the index yet."""
    if position.birth != journal.birth(database):
        return journal.outside(database, 1, 0)
    return journal.outside(database, position.low, position.high)


def begin(database: Database, position: Position, opened: str) -> bool:
    """Make `position` one in this store's journal and in the index with the id `opened`. False when it has to start
    over because either is another than before; what the index holds of ours is then to be cleared."""
    birth, last = journal.birth(database), journal.last(database)
    same = position.birth == birth and position.index == opened and position.high <= last
    if not same:
        position.birth, position.index, position.low, position.high = birth, opened, last + 1, last
    return same


def step(database: Database, helper: Helper, position: Position) -> bool:
    """Bring the next portion into the index and move `position`. False when there was none. Raises HelperFailed."""
    changes = journal.after(database, position.high, PORTION)
    newer = bool(changes)
    if not newer:
        changes = journal.before(database, position.low, PORTION)
    if not changes:
        return False
    keys = [key for _, key in changes]
    found = records.fetch(database, [index.reference(key) for key in keys])
    projects = journal.projects(database, keys)
    put = []
    for record in found:
        key = index.key(record.KIND, record.id or 0)
        put.append([vector_id(position.owner, key), documents.texts(record),
                    documents.fields(record, projects.get(key, 0))])
    kept = {item[0] for item in put}
    drop = [ident for ident in (vector_id(position.owner, key) for key in keys) if ident not in kept]
    helper.call("put", _SECONDS, put=put, drop=drop)
    if newer:
        position.high = changes[-1][0]
    else:
        position.low = changes[-1][0]
    return True
