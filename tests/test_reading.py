"""The reading commands as a person and a program see them: data on standard output, talk on standard error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from memlite.capture.ingest import ingest
from memlite.cli.main import cli
from memlite.store.database import open_database
from rows import shop_session


def memlite(*arguments: str, folder: str | Path = "/", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in `folder`."""
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    return subprocess.run([sys.executable, "-m", "memlite", *arguments], capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "PYTHONPATH": path, **environment})


@pytest.fixture
def shop(home: str, tmp_path: Path) -> Path:
    """A folder whose project has a session in the store; another project has one too."""
    folder = tmp_path / "shop"
    folder.mkdir()
    with open_database(home) as database:
        ingest(database, shop_session(cwd=str(folder)).write(tmp_path / "s.jsonl"))
        ingest(database, shop_session(session="other", name="o", cwd="/nowhere/else").write(tmp_path / "o.jsonl"))
    return folder


def projects(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The projects of the results of a --json answer."""
    return {item["project"] for item in json.loads(done.stdout)["results"]}


def test_query_searches_the_current_folders_project(shop: Path) -> None:
    """All with -a, a named one with -p, subfolders alike; elsewhere all are searched, and that is said."""
    (shop / "src").mkdir()
    assert projects(memlite("query", "--json", "comma", folder=shop)) == {"shop"}
    assert projects(memlite("query", "--json", "-a", "comma", folder=shop)) == {"shop", "else"}
    assert projects(memlite("query", "--json", "-p", "else", "comma", folder=shop)) == {"else"}
    nowhere = memlite("query", "--json", "comma", folder=shop.parent)
    assert projects(nowhere) == {"shop", "else"} and "all projects" in json.loads(nowhere.stdout)["search"]["reason"]


def test_answer_is_data_and_remarks_are_talk(shop: Path) -> None:
    """A pipe gets the lines alone; a page that is not all of it says so on standard error."""
    done = memlite("query", "-n", "1", "comma", folder=shop)
    assert done.returncode == 0 and len(done.stdout.splitlines()) <= 2 and "\x1b" not in done.stdout
    assert "more with -n" in done.stderr
    nothing = memlite("query", "zebra", folder=shop)
    assert (nothing.returncode, nothing.stdout) == (0, "") and "zebra" in nothing.stderr


def test_recent_shows_the_newest_without_a_search(shop: Path) -> None:
    """Newest first."""
    done = json.loads(memlite("recent", "--json", "-n", "50", folder=shop).stdout)
    moments = [item["created_at_epoch"] for item in done["results"]]
    assert moments == sorted(moments, reverse=True) and len(moments) == 11 and done["search"]["used"] == "filter"


def test_show_gives_whole_records_in_the_order_asked_for(shop: Path) -> None:
    """What is missing is named, and the exit code says so; what is no id is refused."""
    done = memlite("show", "--json", "S1", "2", "#P1")
    assert [record["id"] for record in json.loads(done.stdout)] == ["S1", "2", "P1"]
    assert "narrative" in json.loads(done.stdout)[1]
    text = memlite("show", "1", "999")
    assert text.returncode == 1 and text.stdout.startswith("1 ") and "no record 999" in text.stderr
    assert memlite("show", "everything").returncode == 2


def test_empty_store_is_no_error_and_is_not_made(tmp_path: Path) -> None:
    """By any reading command."""
    home = str(tmp_path / "nothing")
    for arguments in (("query", "comma"), ("recent",), ("status",), ("show", "1"), ("timeline", "comma"),
                      ("decisions",)):
        done = memlite(*arguments, MEMLITE_HOME=home)
        assert "Traceback" not in done.stderr and done.returncode in (0, 1), (arguments, done)
    assert not os.path.exists(home)


@pytest.mark.parametrize(("arguments", "said"), [
    (("query", "-n", "0", "x"), "limit"), (("query", "-n", "101", "x"), "limit"),
    (("query", "--kind", "x", "y"), "kind"),
    (("query", "--since", "whenever", "x"), "whenever"), (("query",), "TEXT"), (("nonsense",), "nonsense"),
    (("import", "transcripts", "/nowhere/at/all"), "/nowhere/at/all")])
def test_mistakes_are_usage_errors_that_name_themselves(arguments: tuple[str, ...], said: str) -> None:
    """Exit 2, the reason on standard error, no traceback."""
    done = memlite(*arguments)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_error_is_json_for_programs() -> None:
    """On standard output, as the API tells it."""
    done = memlite("query", "--json", "-n", "0", "x")
    assert done.returncode == 2
    assert set(json.loads(done.stdout)) == {"error", "code", "hint"}


def test_argument_that_is_no_text_is_no_crash(shop: Path) -> None:
    """The shell hands over any bytes."""
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    for command in ("query", "show"):
        done = subprocess.run([sys.executable, "-m", "memlite", command, b"comma \xff\xfe"], capture_output=True,
                              cwd=shop,
                              env={**os.environ, "PYTHONPATH": path})
        assert b"Traceback" not in done.stderr and done.returncode in (0, 2)


def test_reader_that_has_seen_enough_is_no_error(shop: Path) -> None:
    """`memlite query … | head -1`."""
    read, write = os.pipe()
    os.close(read)
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    for arguments in (("query", "-a", "comma"), ("recent", "-a"), ("show", "1")):
        done = subprocess.run([sys.executable, "-m", "memlite", *arguments], stdout=write, stderr=subprocess.PIPE,
                              cwd=shop,
                              env={**os.environ, "PYTHONPATH": path})
        assert (done.returncode, done.stderr) == (0, b""), arguments
    os.close(write)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_output_is_utf8_whatever_the_locale(shop: Path, encoding: str) -> None:
    """Dashes and ellipses survive."""
    done = memlite("query", "-a", "separator", folder=shop, PYTHONIOENCODING=encoding, LC_ALL="C")
    assert done.returncode == 0 and "—" in done.stdout


def test_same_question_gives_the_same_bytes(shop: Path) -> None:
    """Same store, same flags."""
    assert memlite("query", "-a", "--json", "comma").stdout == memlite("query", "-a", "--json", "comma").stdout
    assert memlite("recent", "-a", "--json", "--format", "full").stdout == memlite(
        "recent", "-a", "--json", "--format", "full").stdout


@pytest.mark.parametrize("arguments", [["query"], ["query", "x", "-n", "abc"], ["recent", "--nope"], ["bogus"],
                                       ["show", "999"]])
def test_program_gets_one_json_document_for_an_error(shop: Path, arguments: list[str]) -> None:
    """Wrong usage too; the person's message stays on standard error."""
    done = memlite(*arguments, "--json", folder=shop)
    assert done.returncode in (1, 2) and json.loads(done.stdout)["error"] and done.stderr


def test_show_of_known_and_unknown_ids_is_one_json_document(shop: Path) -> None:
    """What there is comes on standard output, what is missing is told on standard error."""
    done = memlite("show", "1", "999", "--json", folder=shop)
    assert done.returncode == 1 and [item["id"] for item in json.loads(done.stdout)] == ["1"] and "999" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a folder in use can't be deleted there")
def test_folder_that_has_been_deleted_is_still_a_place_to_search_from(shop: Path) -> None:
    """The shell of a removed worktree."""
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    script = f'mkdir gone && cd gone && rmdir ../gone && exec "{sys.executable}" -m memlite "$@"'

    def there(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", "-c", script, "sh", *arguments], capture_output=True, text=True, cwd=shop,
                              env={**os.environ, "PYTHONPATH": path, **environment})

    assert "comma" in there("query", "comma").stdout
    relative = there("query", "comma", MEMLITE_HOME="here")
    assert relative.returncode == 3 and "Traceback" not in relative.stderr


@pytest.mark.skipif(os.name == "nt", reason="closes descriptors by the shell")
def test_closed_streams_are_no_error(shop: Path) -> None:
    """A program may be started without any of them."""
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    for arguments in ("query comma", "status", "--version"):
        done = subprocess.run(["sh", "-c", f'exec "{sys.executable}" -m memlite {arguments} >&-'], text=True, cwd=shop,
                              stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path})
        assert done.returncode == 0 and "Error" not in done.stderr


def test_text_that_looks_like_an_option_is_told_how_to_be_written(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-word` in a query excludes it; the shell's convention for that is `--`."""
    monkeypatch.setenv("MEMLITE_HOME", home)
    done = CliRunner().invoke(cli, ["decisions", "-zebra"])
    assert done.exit_code == 2 and "goes after --" in done.stderr
    assert CliRunner().invoke(cli, ["decisions", "--", "-zebra"]).exit_code == 0
    assert "goes after" not in CliRunner().invoke(cli, ["status", "--nonsense"]).stderr
