"""Whether anybody has written to the store since one looked last.

`PRAGMA data_version` tells a connection, for a few microseconds, whether another one, of whatever process, has
committed (https://sqlite.org/pragma.html#pragma_data_version).
"""

from __future__ import annotations

import os

from memlite import paths
from memlite.store.database import open_for_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.store.connection import Database


class Watch:
    """Looks at the store under `home` by a connection of its own. Not for two threads at once."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._file: tuple[int, int] | None = None
        self._database: Database | None = None
        self._opened = 0    # times; each connection counts the commits anew

    def version(self) -> tuple[object, ...]:
        """A value that is another one whenever something has been committed, or another file has taken the store's
        place, since it was last asked for. Raises as open_for_reading."""
        file = identity(self.home)
        if self._database is None or file != self._file:
            self.close()
            self._database, self._file = open_for_reading(self.home), file
            self._opened += 1
        if self._database is None:
            return ()
        return self._opened, self._database.rows("PRAGMA data_version")[0][0]

    def close(self) -> None:
        """Look no more, until asked again."""
        if self._database is not None:
            self._database.close()
            self._database = None


def identity(home: str) -> tuple[int, int] | None:
    """What tells the store's file under `home` from another one; None as long as there is none."""
    try:
        found = os.stat(os.path.join(home, paths.DATABASE))
    except OSError:
        return None
    return found.st_dev, found.st_ino
