"""Writes the archive of modules that `bootstrap.py` reads inside the executable.

Layout: 8 bytes with the length of the directory (little endian), the directory, then the entries back to
back. The directory is `marshal` of {name: (kind, offset, length, file, packed)}; offsets count from its end.
A module's entry is `marshal` of its code; an extension module's and a data file's are its bytes. Data files go
by their path (`memlite/serve/page/index.html`). Only what few runs need is packed (RFC 1950): inflating costs
more than reading.
"""

from __future__ import annotations

import marshal
import re
import zlib
from pathlib import Path

MODULE, PACKAGE, EXTENSION, DATA = range(4)  # the kinds of entry; bootstrap.py has the same line


def compiled(source: str | Path, file: str, optimize: int) -> bytes:
    """`marshal` of the code in the file `source`, which tracebacks will call `file`."""
    code = compile(Path(source).read_bytes(), file, "exec", dont_inherit=True, optimize=optimize)
    return marshal.dumps(code)


class ArchiveWriter:
    """Collects entries and writes them in one go."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, bytes, str, bool]] = {}

    def add_module(self, name: str, source: str | Path, optimize: int, *, packed: bool = False) -> None:
        """Add the module `name`, compiled at level `optimize`: 1 drops asserts, 2 docstrings as well."""
        package = re.fullmatch(r"__init__\.pyc?", Path(source).name) is not None
        file = name.replace(".", "/") + ("/__init__.py" if package else ".py")
        self.entries[name] = (PACKAGE if package else MODULE, compiled(source, file, optimize), file, packed)

    def add_extension(self, name: str, library: str) -> None:
        """Add the extension module `name`, to be unpacked under its own file name."""
        self.entries[name] = (EXTENSION, Path(library).read_bytes(), Path(library).name, False)

    def add_text(self, name: str, source: str) -> None:
        """Add a module `name` whose source text is made by the build."""
        file = name.replace(".", "/") + ".py"
        self.entries[name] = (MODULE, marshal.dumps(compile(source, file, "exec", dont_inherit=True)), file, False)

    def add_data(self, path: str, file: Path, *, packed: bool = False) -> None:
        """Add a file that the program reads through `pkgutil.get_data`."""
        self.entries[path] = (DATA, file.read_bytes(), path, packed)

    def write(self, target: Path) -> None:
        """Write the archive. The same entries give the same bytes, whatever order they came in."""
        table: dict[str, tuple[int, int, int, str, bool]] = {}
        blobs = []
        offset = 0
        for name in sorted(self.entries):
            kind, blob, file, packed = self.entries[name]
            blobs.append(zlib.compress(blob, 9) if packed else blob)
            table[name] = (kind, offset, len(blobs[-1]), file, packed)
            offset += len(blobs[-1])
        directory = marshal.dumps(table)
        with open(target, "wb") as out:
            out.write(len(directory).to_bytes(8, "little"))
            out.write(directory)
            out.writelines(blobs)
