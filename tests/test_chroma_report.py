"""report: what a person is told of the search by meaning, in one line, with and without a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fake_chroma import FakeChroma, filled
from memlite import doctor, settings
from memlite.chroma import install, report
from shop_store import fill


def chosen(home: str, chroma: FakeChroma, **more: Any) -> dict[str, Any]:
    return {**settings.load(home), "chroma": True, "chroma_python": str(chroma.python),
            "chroma_model": str(chroma.model), **more}


def test_what_is_not_here_is_named_with_the_one_command_that_adds_it(home: str, tmp_path: Path) -> None:
    """First the Python, then the model."""
    chroma = FakeChroma(tmp_path / "fake")
    for given, missing in (({"chroma_python": "/nowhere"}, "no Python with chromadb"),
                           ({"chroma_model": "/nowhere"}, "no embedding model")):
        line = report.line(report.at_rest(home, chosen(home, chroma, **given)))
        assert missing in line and "`memlite chroma enable`" in line
    assert "switched off" in report.line(report.at_rest(home, {**chosen(home, chroma), "chroma": False}))


def test_at_rest_it_says_what_waits_and_ready_what_it_takes(home: str, tmp_path: Path) -> None:
    """Before a helper ever ran, while one runs, and after it."""
    chroma = FakeChroma(tmp_path / "fake")
    fill(home)
    assert report.line(report.at_rest(home, chosen(home, chroma))) == (
        "at rest, started when needed, 9 more to be taken in")
    assert report.at_rest(home, chosen(home, chroma), count=False)["waiting"] == 0
    engine = filled(chroma.engine(home))
    told = engine.status()
    assert report.line(told).startswith(f"ready, 9 records, process {told['pid']}, ")
    engine.close()
    assert report.line(report.at_rest(home, chosen(home, chroma))) == "at rest, started when needed"


def test_a_running_workers_word_counts(home: str) -> None:
    """Not what could be seen from outside."""
    told = {"state": "failed", "reason": "boom", "records": 0, "waiting": 3, "processes": 0, "pid": None,
            "rss_bytes": None}
    assert report.of(home, {"chroma": told}) is told
    assert report.line(told) == "failed: boom, 3 more to be taken in"
    assert report.of(home, {})["state"] == "off"    # an older worker knows nothing of it


def test_doctor_warns_of_a_failing_chroma_only(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was never there is no fault."""
    def found() -> doctor.Finding:
        return next(item for item in doctor.examine(home) if item.name == "by meaning")

    fill(home)
    assert found().state == "ok"
    failed = {"state": "failed", "reason": "boom", "records": 0, "waiting": 0, "processes": 0, "rss_bytes": None}
    monkeypatch.setattr(report, "of", lambda *_, **__: failed)
    assert found().state == "warn" and "boom" in found().text and "reindex --chroma" in found().hint


def test_disable_removes_all_and_stays_off(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Index, model and environment go; the memories stay."""
    monkeypatch.delenv("MEMLITE_CHROMA")
    chroma = FakeChroma(tmp_path / "fake")
    fill(home)
    filled(chroma.engine(home)).close()
    assert Path(home, "chroma", "index").is_dir()
    install.disable(home, print)
    assert not Path(home, "chroma").exists() and Path(home, "memlite.db").exists()
    assert settings.load(home)["chroma"] is False
    install.disable(home, print)    # once more does no harm


def test_enable_fetches_nothing_that_is_there(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It switches on, and says no word of installing."""
    chroma = FakeChroma(tmp_path / "fake")
    monkeypatch.delenv("MEMLITE_CHROMA")
    monkeypatch.setenv("MEMLITE_CHROMA_PYTHON", str(chroma.python))
    monkeypatch.setenv("MEMLITE_CHROMA_MODEL", str(chroma.model))
    install.disable(home, print) if Path(home).exists() else Path(home).mkdir()
    said: list[str] = []
    assert install.enable(home, said.append).missing == "" and said == []
    assert settings.load(home)["chroma"] is True


def test_enable_that_can_not_install_says_so(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the program that makes environments fails."""
    monkeypatch.delenv("MEMLITE_CHROMA")
    monkeypatch.setenv("MEMLITE_CHROMA_PYTHON", "/nowhere")
    monkeypatch.setattr(install, "_any_python", lambda: "/bin/false")
    Path(home).mkdir()
    said: list[str] = []
    with pytest.raises(install.CannotInstall, match="ended with 1"):
        install.enable(home, said.append)
    assert len(said) == 1 and "environment" in said[0]
