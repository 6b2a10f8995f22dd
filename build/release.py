"""Packs the assembled plugin the way it is published: as a zip, and as a tree a git marketplace can serve.

    python build/release.py ZIP FOLDER     unpack a zip made by `build_plugin.py --release` into such a tree
"""

from __future__ import annotations

import platform
import shutil
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "out" / "release"
FOLDER = "memlite"  # the one folder in the zip
SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
EXECUTABLES = {"memlite", "memlite.exe", "second-try.sh"}


def platform_name() -> str:
    """What this machine's executables run on, as `linux-x86_64`."""
    machine = platform.machine().lower()
    return f"{SYSTEMS.get(sys.platform, sys.platform)}-{MACHINES.get(machine, machine)}"


def pack(version: str) -> list[Path]:
    """Write zip and marketplace tree for this platform under out/release/ and return their paths.

    The zip holds one folder `memlite`: the plugin with its executable, ready for `claude --plugin-dir` or to be
    dropped where plugins lie.
    """
    name = platform_name()
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    packed = TARGET / f"memlite-{version}-{name}.zip"
    plugin = ROOT / "plugin"
    files = [file for file in sorted(plugin.rglob("*")) if file.is_file() and file.name != ".gitignore"]
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            _add(archive, file, file.relative_to(plugin).as_posix())
        _add(archive, ROOT / "LICENSE", "LICENSE")
    return [packed, marketplace(packed, TARGET / f"marketplace-{name}")]


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> None:
    """Add `file` with the exec bit it needs, which Windows does not keep and other systems unpack."""
    entry = zipfile.ZipInfo(f"{FOLDER}/{name}", (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix, so that the modes are read
    entry.external_attr = (0o100755 if file.name in EXECUTABLES else 0o100644) << 16
    archive.writestr(entry, file.read_bytes())


def marketplace(packed: Path, tree: Path) -> Path:
    """Unpack the zip into `tree/plugin` with the marketplace file beside it, and return `tree`.

    Committed to a branch of its own, the tree can be added as a marketplace: everything is inside.
    """
    shutil.rmtree(tree, ignore_errors=True)
    with zipfile.ZipFile(packed) as archive:
        for entry in archive.infolist():
            file = tree / "plugin" / Path(entry.filename).relative_to(FOLDER)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(entry))
            file.chmod(entry.external_attr >> 16 & 0o777)
    shutil.copytree(ROOT / ".claude-plugin", tree / ".claude-plugin")
    # Line ends inside the executable must survive git.
    (tree / ".gitattributes").write_bytes(b"plugin/bin/* -text\n")
    return tree


if __name__ == "__main__":
    print(marketplace(Path(sys.argv[1]), Path(sys.argv[2])))
