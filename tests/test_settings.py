"""settings: environment over file over default, and nonsense is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlite import settings
from memlite.errors import UsageError


def given(home: str, text: str) -> str:
    """Write settings.json. Returns its path."""
    Path(home).mkdir(exist_ok=True)
    path = Path(home) / "settings.json"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_without_file_and_environment_the_defaults_hold(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that does not exist is no error."""
    monkeypatch.delenv("MEMLITE_CHROMA")
    monkeypatch.delenv("MEMLITE_WORKER")
    assert settings.load(home) == {name: default for name, (default, _) in settings.SETTINGS.items()}


def test_file_beats_default_and_environment_beats_file(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearer source wins, setting by setting."""
    given(home, '{"capture": false, "port": 4000}')
    monkeypatch.setenv("MEMLITE_PORT", "5000")
    loaded = settings.load(home)
    assert (loaded["capture"], loaded["port"], loaded["inject"]) == (False, 5000, True)
    monkeypatch.setenv("MEMLITE_PORT", "")
    assert settings.load(home)["port"] == 4000


@pytest.mark.parametrize(("text", "value"), [("1", True), ("on", True), ("YES", True), (" true ", True), ("0", False),
                                             ("off", False), ("No", False), ("FALSE", False)])
def test_switches_are_written_as_people_write_them(home: str, monkeypatch: pytest.MonkeyPatch, text: str,
                                                   value: bool) -> None:
    """Eight spellings, any case."""
    monkeypatch.setenv("MEMLITE_CAPTURE", text)
    assert settings.load(home)["capture"] is value


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"capture": "maybe"}', '{"port": 70000}', '{"port": -1}',
                                  '{"port": 1.5}', '{"capture": 2}', '{"port": null}', '{"port": "²"}', "\x00"])
def test_nonsense_in_the_file_is_refused_with_its_path(home: str, text: str) -> None:
    """Who mistyped finds the file."""
    path = given(home, text)
    with pytest.raises(UsageError) as refusal:
        settings.load(home)
    assert path in refusal.value.message


def test_unknown_setting_is_refused_and_the_known_ones_listed(home: str) -> None:
    """A misspelt name does not pass in silence."""
    given(home, '{"captur": false}')
    with pytest.raises(UsageError, match="'captur'") as refusal:
        settings.load(home)
    assert "capture" in refusal.value.hint


def test_nonsense_in_the_environment_is_refused_with_the_variable(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who exported it finds the variable."""
    monkeypatch.setenv("MEMLITE_INJECT", "perhaps")
    with pytest.raises(UsageError, match="MEMLITE_INJECT"):
        settings.load(home)


def test_file_that_is_not_utf8_is_refused(home: str) -> None:
    """Bytes that are no text are no settings."""
    path = given(home, "{}")
    Path(path).write_bytes(b'{"capture": "\xff"}')
    with pytest.raises(UsageError, match="settings"):
        settings.load(home)


def test_text_is_kept_as_it_is_and_nothing_else_is_text(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address keeps its case; a number is none."""
    given(home, '{"chroma_url": " http://Chroma:8000 "}')
    assert settings.load(home)["chroma_url"] == "http://Chroma:8000"
    given(home, '{"chroma_url": 8000}')
    with pytest.raises(UsageError, match="chroma_url must be a text"):
        settings.load(home)


def test_one_setting_is_kept_beside_the_others(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And taken out again; a file that can't be read is left as it is."""
    monkeypatch.delenv("MEMLITE_CHROMA")
    path = given(home, '{"port": 4000}')
    settings.keep(home, "chroma", False)
    assert (settings.load(home)["chroma"], settings.load(home)["port"]) == (False, 4000)
    settings.keep(home, "chroma", None)
    assert (settings.load(home)["chroma"], settings.load(home)["port"]) == (True, 4000)
    assert Path(path).stat().st_mode & 0o777 == 0o600
    given(home, "no json")
    with pytest.raises(UsageError):
        settings.keep(home, "chroma", False)
    assert Path(path).read_text(encoding="utf-8") == "no json"


def test_byte_order_mark_is_no_nonsense(home: str) -> None:
    """Editors on Windows write one; what is kept later is kept beside what the file says."""
    path = given(home, '\ufeff{"capture": false}')
    assert settings.load(home)["capture"] is False
    settings.keep(home, "port", 4000)
    assert Path(path).read_text(encoding="utf-8") == '{"capture": false, "port": 4000}\n'


def test_data_directory_that_is_a_file_is_not_blamed_on_the_settings(tmp_path: Path) -> None:
    """Whoever opens the store says what is wrong."""
    (tmp_path / "file").write_text("")
    assert settings.load(str(tmp_path / "file"))["capture"] is True
