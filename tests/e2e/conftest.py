"""The real client, the built plugin and the scripted API, each once; a workplace per scenario.

Environment: MEMLITE_BINARY (the executable under test, by default plugin/bin/memlite),
MEMLITE_CLIENT_CACHE (where the client is kept between runs).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from claude_client import VERSIONS, ClientUnavailable, Workplace, fetch
from fake_anthropic import FakeAnthropic
from loopback import keep_to_loopback

REPOSITORY = Path(__file__).resolve().parents[2]
OPEN: list[Workplace] = []  # those whose account a failing test should print
NETWORK: list[str] = []  # how the tests were kept on loopback, for the closing lines


@pytest.fixture(scope="session")
def clients() -> dict[str, Path | str]:
    """Version → executable, or the reason why there is none. Fetched before the network is cut off."""
    found: dict[str, Path | str] = {}
    for version in VERSIONS:
        try:
            found[version] = fetch(version)
        except ClientUnavailable as reason:
            found[version] = str(reason)
    obstacle = keep_to_loopback()
    NETWORK.append(f"only the client's own switches ({obstacle})" if obstacle else "cut off")
    return found


@pytest.fixture(scope="session", params=VERSIONS)
def client(request: pytest.FixtureRequest, clients: dict[str, Path | str]) -> Path:
    """The client's executable: every test that uses it runs once per version."""
    found = clients[request.param]
    if isinstance(found, str):
        pytest.skip(f"Claude Code {request.param} can't be had: {found}")
    return found


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembled plugin folder, a copy of the repository's with the binary under test in its bin/."""
    binary = Path(os.environ.get("MEMLITE_BINARY") or REPOSITORY / "plugin" / "bin" / "memlite")
    if not binary.is_file():
        pytest.fail(f"there is no memlite at {binary}: build it (tox -e plugin) or set MEMLITE_BINARY")
    folder = tmp_path_factory.mktemp("assembled") / "plugin"
    shutil.copytree(REPOSITORY / "plugin", folder)
    (folder / "bin").mkdir(exist_ok=True)
    shutil.copy2(binary, folder / "bin" / "memlite")
    return folder


@pytest.fixture(scope="session")
def api(clients: object) -> Iterator[FakeAnthropic]:
    """The scripted Messages API, inside the same network as the clients."""
    with FakeAnthropic() as server:
        yield server


@pytest.fixture(scope="module")
def new_workplace(
    client: Path, api: FakeAnthropic, plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Workplace]]:
    """Makes workplaces with a plugin copy of their own (to be damaged at will); all end with the module."""
    made: list[Workplace] = []

    def make() -> Workplace:
        folder = tmp_path_factory.mktemp("workplace")
        shutil.copytree(plugin, folder / "plugin")
        made.append(Workplace(client, api, folder, folder / "plugin"))
        OPEN.append(made[-1])
        return made[-1]

    yield make
    for workplace in made:
        workplace.close()
        OPEN.remove(workplace)


@pytest.fixture(scope="module")
def workplace(new_workplace: Callable[[], Workplace]) -> Workplace:
    """The module's one workplace."""
    return new_workplace()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to a failure what the client printed and what memlite logged in the test's workplace."""
    report = yield
    if report.failed and OPEN:
        values = list(getattr(item, "funcargs", {}).values())
        places = [
            value if isinstance(value, Workplace) else getattr(value, "workplace", None) for value in values
        ]
        place = next((place for place in places if isinstance(place, Workplace)), OPEN[-1])
        report.sections.append(("what the client did", place.account()))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says whether anything but loopback could be reached."""
    for line in NETWORK:
        terminalreporter.write_line(f"network beyond loopback: {line}")
