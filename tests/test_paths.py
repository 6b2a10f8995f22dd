"""paths: where things lie, private to their owner whatever the umask."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memlite import paths
from memlite.errors import HomeUnusable


def mode(path: str | Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def loose_umask() -> object:
    """A umask that forbids nothing, put back afterwards."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_home_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """MEMLITE_HOME, absolute and with ~ expanded; else ~/.memlite."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMLITE_HOME", "~/kept")
    assert paths.home() == str(tmp_path / "kept")
    monkeypatch.setenv("MEMLITE_HOME", "")
    assert paths.home() == str(tmp_path / ".memlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMLITE_HOME", "here")
    assert paths.home() == str(tmp_path / "here")


def test_claude_configuration_is_found_the_same_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR, else ~/.claude."""
    assert paths.claude_config() == str(tmp_path / "claude")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert paths.claude_config() == str(tmp_path / ".claude")


def test_without_home_variable_the_password_database_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """HOME missing or empty: the user's home, never a folder named ~ and never the root."""
    import pwd

    expected = os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".memlite")
    monkeypatch.delenv("MEMLITE_HOME")
    monkeypatch.delenv("HOME")
    assert paths.home() == expected
    monkeypatch.setenv("HOME", "")
    assert paths.home() == expected


def test_user_without_any_home_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """No HOME and no entry in the password database: an error with the way out, not a folder named ~."""
    import pwd

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.delenv("MEMLITE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(HomeUnusable) as refusal:
        paths.home()
    assert "MEMLITE_HOME" in refusal.value.hint


def test_new_home_is_private_whatever_the_umask(tmp_path: Path, loose_umask: object) -> None:
    """Mode 0700, parents made as needed; a looser one is tightened."""
    home = tmp_path / "a" / "home"
    assert paths.ensure_home(str(home)) == str(home)
    assert mode(home) == 0o700
    home.chmod(0o755)
    paths.ensure_home(str(home))
    assert mode(home) == 0o700


def test_file_is_private_whatever_the_umask(tmp_path: Path, loose_umask: object) -> None:
    """Mode 0600, new or old; its content stays."""
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("kept")
    old.chmod(0o644)
    paths.create_private(str(new))
    paths.create_private(str(old))
    assert (mode(new), mode(old), old.read_text()) == (0o600, 0o600, "kept")


def test_link_is_not_followed(tmp_path: Path) -> None:
    """A file that someone linked elsewhere is refused; the target is neither made nor changed."""
    target = tmp_path / "target"
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OSError):
        paths.create_private(str(tmp_path / "link"))
    assert not target.exists()


def test_home_that_is_a_file_is_refused_by_name(tmp_path: Path) -> None:
    """The message holds the path, the hint the way out."""
    (tmp_path / "home").write_text("")
    with pytest.raises(HomeUnusable) as refusal:
        paths.ensure_home(str(tmp_path / "home"))
    assert str(tmp_path / "home") in refusal.value.message
    assert "MEMLITE_HOME" in refusal.value.hint


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a folder away")
def test_home_of_someone_else_is_refused(tmp_path: Path) -> None:
    """Its owner could read or swap the memory."""
    (tmp_path / "home").mkdir(mode=0o700)
    os.chown(tmp_path / "home", 12345, 12345)
    with pytest.raises(HomeUnusable, match="belongs to user 12345"):
        paths.ensure_home(str(tmp_path / "home"))


def test_file_that_is_there_is_made_private_unopened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing it would take away the locks that SQLite holds on it; one that is not there is made."""
    path = tmp_path / "there"
    path.write_text("kept")
    path.chmod(0o644)
    opened: list[str] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda name, *how: opened.append(str(name)) or real(name, *how))
    paths.create_private(str(path))
    assert (mode(path), path.read_text(), opened) == (0o600, "kept", [])
    paths.create_private(str(tmp_path / "new"))
    assert (mode(tmp_path / "new"), opened) == (0o600, [str(tmp_path / "new")])
