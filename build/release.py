"""Packs the assembled plugin the way it is published: a zip, and a tree that a git marketplace can serve."""

from __future__ import annotations

import platform
import shutil
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "out" / "release"
SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}


def target_name() -> str:
    """What this machine's executables run on, as `linux-x86_64`."""
    machine = platform.machine().lower()
    return f"{SYSTEMS.get(sys.platform, sys.platform)}-{MACHINES.get(machine, machine)}"


def pack(version: str) -> list[Path]:
    """Write the zip and the marketplace tree for this platform under out/release/ and return their paths.

    The zip holds one folder `memlite`, the plugin with its executable. The tree is the same plugin below a
    `.claude-plugin/marketplace.json`, so committed to a repository of its own it can be added as a
    marketplace.
    """
    name = target_name()
    shutil.rmtree(TARGET, ignore_errors=True)
    tree = TARGET / f"marketplace-{name}"
    shutil.copytree(ROOT / "plugin", tree / "plugin", ignore=shutil.ignore_patterns(".gitignore"))
    shutil.copytree(ROOT / ".claude-plugin", tree / ".claude-plugin")
    shutil.copy2(ROOT / "LICENSE", tree / "plugin" / "LICENSE")
    (tree / ".gitattributes").write_text("plugin/bin/memlite* binary\n", encoding="ascii", newline="\n")

    packed = TARGET / f"memlite-{version}-{name}.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((tree / "plugin").rglob("*")):
            if file.is_file():
                place = Path("memlite", file.relative_to(tree / "plugin")).as_posix()
                entry = zipfile.ZipInfo.from_file(file, place)
                entry.compress_type = zipfile.ZIP_DEFLATED
                if sys.platform == "win32" and file.suffix in {".sh", ".exe"}:
                    entry.external_attr = 0o100755 << 16  # Windows keeps no exec bits, others unpack this too
                archive.writestr(entry, file.read_bytes())
    return [packed, tree]
