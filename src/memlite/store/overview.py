"""What the store holds, counted."""

from __future__ import annotations

from memlite.model import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.store.connection import Database


def projects(database: Database) -> list[dict[str, Any]]:
    """Every project that has memories: name, root, how many of each kind, and when the newest was made (epoch ms).
    The one used last comes first."""
    rows = database.rows(
        "SELECT p.name, p.root, sum((c.key & 3) = 0) AS observations, sum((c.key & 3) = 1) AS summaries, "
        "sum((c.key & 3) = 2) AS prompts, max(c.created_at_epoch) AS newest_epoch "
        "FROM catalogue c JOIN projects p ON p.id = c.project GROUP BY p.id ORDER BY newest_epoch DESC, p.id")
    return [dict(zip(row.keys(), row, strict=True)) for row in rows]


def counted(database: Database) -> dict[str, Any]:
    """How many memories of each kind and type there are, how many sessions and projects, and the time they span
    (epoch ms, None when there are none)."""
    by_type = {row[0]: row[1] for row in database.rows(
        "SELECT type, count(*) FROM catalogue WHERE (key & 3) = 0 GROUP BY type ORDER BY 2 DESC, 1")}
    by_kind = {row[0]: row[1] for row in database.rows("SELECT key & 3, count(*) FROM catalogue GROUP BY 1")}
    span = database.rows("SELECT min(created_at_epoch), max(created_at_epoch) FROM catalogue")[0]
    return {**{f"{kind}s" if kind != "summary" else "summaries": by_kind.get(number, 0)
               for number, kind in enumerate(KINDS)},
            "sessions": database.rows("SELECT count(*) FROM sessions")[0][0],
            "projects": database.rows("SELECT count(*) FROM projects")[0][0],
            "types": by_type, "oldest_epoch": span[0], "newest_epoch": span[1]}
