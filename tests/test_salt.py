"""The salted session is what the tests that use it take it for."""

from __future__ import annotations

import json
from pathlib import Path

from memlite.privacy import clean
from salt import KEPT, salted_transcript


def test_every_needle_is_in_the_transcript_and_each_once_in_the_list(tmp_path: Path) -> None:
    needles = salted_transcript(tmp_path / "t.jsonl")
    text = (tmp_path / "t.jsonl").read_text(encoding="utf-8")
    assert len(needles) == len(set(needles)) > 60
    assert [needle for needle in needles if needle not in text] == []
    assert [kept for kept in KEPT if kept not in text] == []
    assert all(json.loads(line)["timestamp"] for line in text.splitlines())


def test_no_needle_survives_the_cleaning_of_the_raw_lines_and_what_is_kept_does(tmp_path: Path) -> None:
    for seed in range(10):
        needles = salted_transcript(tmp_path / "t.jsonl", seed)
        left = "\n".join(map(clean, (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()))
        assert [needle for needle in needles if needle in left] == []
        assert [kept for kept in KEPT if kept not in left] == []
