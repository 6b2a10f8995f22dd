"""The plugin as people get it: from a marketplace, by git or from a folder, and removed again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from claude_client import Turn, Workplace, new_session
from fake_anthropic import FakeAnthropic, call, say
from git_over_http import git_server

REPOSITORY = Path(__file__).resolve().parents[2]
ASKED = "Sort the lanterns of the lighthouse"
PLUGIN = "memlite"


@pytest.fixture(scope="module")
def marketplace(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository as it would be published: the marketplace file, and the plugin with its binary."""
    folder = tmp_path_factory.mktemp("published") / "memlite"
    shutil.copytree(plugin, folder / "plugin")
    shutil.copytree(REPOSITORY / ".claude-plugin", folder / ".claude-plugin")
    author = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
    for command in (("init", "-q"), ("add", "--all", "--force"), (*author, "commit", "-q", "-m", "Publish")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(folder), f"{folder}.git"], check=True)
    return folder


class Installed:
    """The plugin installed from a source, one session with it, and then removed."""

    def __init__(self, workplace: Workplace, api: FakeAnthropic, source: str) -> None:
        command = "memlite --version; sh survey.sh lantern-order"
        api.script(ASKED, say("By size.", call("Bash", command=command)), "Sorted.")
        self.workplace = workplace
        self.project = workplace.project("lighthouse")
        self.said: list[str] = []
        self._plugin("marketplace", "add", source)
        name = json.loads((REPOSITORY / ".claude-plugin" / "marketplace.json").read_text())["name"]
        self._plugin("install", f"{PLUGIN}@{name}")
        self.copies = [path for path in workplace.config.rglob("bin/memlite") if "cache" in path.parts]
        self.executable = [os.access(path, os.X_OK) for path in self.copies]
        self.turn: Turn = workplace.say(ASKED, self.project, session=new_session(), plugin_dir=False)
        workplace.settle()
        self._plugin("uninstall", f"{PLUGIN}@{name}")
        self._plugin("marketplace", "remove", name)

    def _plugin(self, *arguments: str) -> None:
        done = self.workplace.claude("plugin", *arguments)
        assert done.returncode == 0, done
        self.said.append(done.stdout)


@pytest.fixture(scope="module", params=["git", "folder"])
def installed(
    new_workplace: Callable[[], Workplace],
    api: FakeAnthropic,
    marketplace: Path,
    request: pytest.FixtureRequest,
) -> Iterator[Installed]:
    """The plugin's whole life, from a git server on loopback and from a plain folder."""
    if request.param == "folder":
        yield Installed(new_workplace(), api, str(marketplace))
    else:
        with git_server(marketplace.parent) as url:
            yield Installed(new_workplace(), api, f"{url}/{marketplace.name}.git")


def test_the_installed_binary_can_be_run(installed: Installed) -> None:
    """The exec bit survives git and the client's copying."""
    assert installed.copies
    assert all(installed.executable)


def test_a_session_with_the_installed_plugin_works(installed: Installed) -> None:
    """Hooks run from the installed copy, and its bin/ is on the Bash tool's PATH."""
    turn = installed.turn
    assert (turn.returncode, turn.answer, turn.stderr) == (0, "Sorted.", "")
    assert {"SessionStart", "UserPromptSubmit", "Stop"} <= {hook.event for hook in turn.hooks}
    assert all((hook.exit_code, hook.outcome) == (0, "success") for hook in turn.hooks)
    version, sorted_ = turn.requests[-1].tool_results[-1].splitlines()
    assert version.startswith("memlite")
    assert sorted_ == "surveyed: lantern-order"


def test_uninstalling_keeps_the_memories(installed: Installed) -> None:
    """After uninstall and removal of the marketplace a binary from elsewhere still finds the session."""
    assert PLUGIN not in installed.workplace.claude("plugin", "list").stdout
    found = installed.workplace.search("lanterns", project=installed.project)
    assert ASKED in [result.get("text") for result in found]
    assert any("surveyed: lantern-order" in json.dumps(result) for result in found)


def test_the_plugin_is_valid_by_the_clients_own_check(workplace: Workplace, marketplace: Path) -> None:
    """`claude plugin validate --strict` accepts the plugin folder and the marketplace."""
    for folder in (marketplace / "plugin", marketplace):
        done = workplace.claude("plugin", "validate", str(folder), "--strict")
        assert done.returncode == 0, done.stdout + done.stderr
