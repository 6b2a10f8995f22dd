"""options: the quick way to `query` reads the same options as click, and leaves everything unusual to it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from memlite.cli import options, query
from memlite.cli.main import cli


def test_every_option_has_a_name_flags_and_help() -> None:
    """And no flag is given twice."""
    flags = [flag for option in options.SEARCHING for flag in option.flags]
    assert len(flags) == len(set(flags)) and all(flag.startswith("-") for flag in flags)
    assert all(option.name and option.help for option in options.SEARCHING)


def test_plain_words_and_options_are_read() -> None:
    """In any order, with = or without; what may be repeated is collected."""
    words, values = options.parse(["decimal", "-n", "3", "comma", "--kind=prompt", "--kind", "summary", "--json", "-a"],
                                  options.SEARCHING) or ([], {})
    assert words == ["decimal", "comma"]
    assert (values["limit"], values["kind"], values["json"], values["all_projects"]) == ("3", ("prompt", "summary"),
                                                                                         True, True)
    assert (values["offset"], values["project"], values["markdown"]) == (0, (), False)


def test_all_after_two_dashes_are_words() -> None:
    """A query may begin with a dash."""
    assert (options.parse(["--", "--json", "-x"], options.SEARCHING) or ([],))[0] == ["--json", "-x"]
    assert (options.parse(["-", "a"], options.SEARCHING) or ([],))[0] == ["-", "a"]


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--unknown", "x"], ["x", "-n"], ["x", "-n", "many"],
                                       ["x", "--kind", "dream"], ["x", "--json=1"], ["x", "-n3"],
                                       ["x", "--format", "poem"]])
def test_everything_unusual_is_left_to_click(arguments: list[str]) -> None:
    """Which helps, complains and knows more spellings."""
    assert options.parse(arguments, options.SEARCHING) is None


@pytest.mark.parametrize("arguments", [
    ["comma"], ["comma", "-n", "2", "--json"], ["comma", "--kind", "prompt"], ["--format", "full", "decimal", "comma"],
    ["comma", "--type", "bugfix", "-a"], ["comma", "--markdown"], ["comma", "--since", "2020-01-01"]])
def test_quick_way_and_click_give_the_same(home: str, tmp_path: object, arguments: list[str],
                                           capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The same values reach the same code."""
    from pathlib import Path

    from memlite.capture.ingest import ingest
    from memlite.store.database import open_database
    from rows import shop_session

    with open_database(home) as database:
        ingest(database, shop_session().write(Path(str(tmp_path)) / "s.jsonl"))
    assert query.main(arguments) == 0
    quick = capfdbinary.readouterr().out
    clicked = CliRunner().invoke(cli, ["query", *arguments])
    assert clicked.exit_code == 0 and clicked.stdout_bytes == quick and b"comma" in quick


def test_options_and_requests_have_the_same_names() -> None:
    """What is no matter of printing or of the current folder becomes a parameter; what is not given does not."""
    _, values = options.parse(["x", "-n", "3", "--type", "bugfix", "--json", "-a"], options.SEARCHING) or ([], {})
    assert dict(options.pairs(values)) == {"limit": "3", "offset": 0, "obs_type": ["bugfix"], "format": "index",
                                           "mode": "auto"}
