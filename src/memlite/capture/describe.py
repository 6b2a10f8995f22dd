"""An episode → an observation, by rules and without a model. Deterministic: same rows, same observation."""

from __future__ import annotations

from memlite.capture import commands, edits, titles
from memlite.capture.edits import basename
from memlite.capture.findings import Findings, gather
from memlite.model import Observation, Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memlite.capture.episodes import Episode, Turn

_TELLING_LENGTH = 32  # a shorter sentence tells too little by itself: the deed is added

# The first word of a title says what kind of work it was …
_VERBS = {
    "bugfix": ("fix", "fixed", "fixes", "repair", "repaired", "hotfix"),
    "feature": ("add", "added", "adds", "implement", "implemented", "create", "created", "introduce", "introduced",
                "support", "build", "built", "feat", "feature"),
    "refactor": ("refactor", "refactored", "rename", "renamed", "extract", "extracted", "move", "moved", "simplify",
                 "simplified", "inline", "inlined", "deduplicate", "restructure", "restructured", "split", "unify"),
    "change": ("update", "updated", "change", "changed", "remove", "removed", "replace", "replaced", "delete",
               "deleted",
               "edit", "edited", "use", "bump", "merge", "document", "documented", "committed", "merged", "modified",
               "made",
               "register", "wire", "switch", "switched", "resolved", "cleaned", "pushed"),
}
_TYPE_OF_VERB = {verb: kind for kind, verbs in _VERBS.items() for verb in verbs}
# … else these words in what was said.
_FIX_WORDS = frozenset(("fix", "fixes", "fixed", "fixing", "bug", "bugs", "bugfix", "broken", "regression", "wrong",
                        "crash",
                        "crashes", "crashed", "fails", "failing", "hotfix"))
_REFACTOR_WORDS = frozenset(("refactor", "refactoring", "refactored", "rename", "renaming", "renamed", "extract",
                             "extracting", "simplify", "simplifies", "cleanup", "dedupe", "deduplicate", "restructure"))
_FEATURE_WORDS = frozenset(("implement", "implements", "implementing", "add", "adds", "adding", "create", "creates",
                            "creating", "introduce", "introduces", "support", "feature"))
_PROBLEMS = ("the issue", "the problem", "the bug", "the error", "root cause", "the root cause")
_DECISION_MARKS = ("decided", "we'll go with", "i'll go with", "let's go with", "going with", "we chose ", "i chose ",
                   "we agreed")
_COMMIT_TYPES = {"fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
                 "refactor": "refactor", "perf": "refactor", "docs": "change", "chore": "change", "test": "change",
                 "tests": "change", "style": "change", "ci": "change", "build": "change", "revert": "change"}
_WORD_BREAKS = {code: " " for code in range(128) if not chr(code).isalnum()}
_CONCEPT_MARKS = (
    ("problem-solution", ("fixed", "the fix", "root cause", "solved", "resolved", "the problem", "the issue")),
    ("gotcha", ("doesn't support", "does not support", "doesn't work", "careful", "turns out", "gotcha", "unexpected",
                "caveat", "silently", "surprising", "watch out", "pitfall")),
    ("why-it-exists", ("because", "so that", "the reason", "in order to", "that's why")),
    ("how-it-works", ("works by", "how it works", "flow:", "the way it works", "under the hood", "is called when",
                      "is responsible for", "is stored in", "here's how", "mechanism")),
    ("trade-off", ("trade-off", "tradeoff", "downside", "pros and cons", "at the cost of", "rather than")),
    ("pattern", ("pattern", "convention", "consistent with", "same approach", "idiom")),
)


def observe(episode: Episode) -> Observation | None:
    """The observation an episode is worth, without its session's fields; None for idle steps.

    An episode is idle when it changed nothing, found nothing and said no more than what it was about to look at.
    """
    found = gather(episode)
    text = episode.text()
    if not found.worked() and (len(text) < 40 or (len(text) < 200 and (
            titles.as_deed(text)[1] or titles.tells_little(titles.best_sentence(text))))):
        return None
    title = _title(found, text)
    kind = _type(found, title, text, reports=not episode.calls())
    first = episode.first
    return Observation(
        type=kind, title=title, subtitle=_subtitle(found), narrative="\n\n".join(filter(None, (text, found.message))),
        facts=found.facts,
        concepts=_concepts(kind, found, text), files_read=_relative(found.read, first.cwd),
        files_modified=_relative(found.modified, first.cwd), details=found.evidence(), branch=first.branch,
        agent=first.agent, uuids=episode.uuids())


def summarize(turn: Turn) -> Summary | None:
    """The summary that closes a turn, without its session's fields; None when nothing was said or done in it."""
    if not turn.said:
        return None
    done = "" if turn.closing else "; ".join(turn.titles[-6:])
    return Summary(
        request=turn.prompt, completed=turn.closing or done, investigated=", ".join(turn.files_read[:12]),
        learned="\n".join(turn.titles[-12:]), next_steps=_next_steps(turn.closing), files_read=turn.files_read,
        files_edited=turn.files_edited, prompt_number=turn.number or None,
        branch=turn.branch,
        uuids=[uuid for uuid in (turn.prompt_uuid, turn.closing_uuid) if uuid])


def _title(found: Findings, text: str) -> str:
    if found.commit:
        return titles.shorten(found.commit)
    if found.decision:
        return titles.shorten(titles.capitalized(found.decision))
    said, deed = titles.best_sentence(text), _deed(found)
    if not said or (deed and titles.tells_little(said)):
        said = deed or said
    elif len(said) < _TELLING_LENGTH and deed:
        if deed.split()[0] == said.split()[0]:
            said = max(said, deed, key=len)
        elif not _repeats(deed, said):
            said = titles.shorten(f"{said} — {deed}")
    ending = _ending(found)
    if ending and ending.lower() not in said.lower():
        room = titles.TITLE_LIMIT - len(ending) - 3
        return f"{titles.shorten(said, max(40, room))} — {ending}"
    return said


def _repeats(deed: str, said: str) -> bool:
    """Whether most words of `deed` after its verb stand in `said`: "Run the tests" needs no "Run tests"."""
    words = deed.lower().split()[1:]
    return sum(word in said.lower() for word in words) * 2 >= len(words)


def _deed(found: Findings) -> str:
    """A title for an episode without words."""
    if found.edits:
        return titles.shorten(edits.deed(found.edits))
    if found.culprit or found.ran:
        return titles.shorten(titles.capitalized(found.culprit or found.ran[0]))
    if found.failure:
        return titles.shorten(found.failure)
    names = list(dict.fromkeys(basename(path) for path in found.read))
    return f"Read {', '.join(names[:3])}" if names else ""


def _ending(found: Findings) -> str:
    """How it ended, when that is worth a place in the title: tests before and after, or the error that stayed."""
    if found.tests:
        before, after = found.tests[0], found.tests[-1]
        if len(found.tests) > 1 and commands.went_wrong(before) != commands.went_wrong(after):
            return f"{titles.shorten(before, 40)}, then {titles.shorten(after, 40)}"
        return titles.shorten(after, 60)
    return titles.shorten(found.failure, 70) if found.failure else ""


def _subtitle(found: Findings) -> str:
    parts = []
    if found.edits:
        names = list(dict.fromkeys(basename(path) for path in found.modified))
        parts.append("edited " + ", ".join(names[:4]) + (f" +{len(names) - 4}" if len(names) > 4 else ""))
    if found.ran:
        parts.append(titles.shorten(found.ran[-1], 80))
    if found.failure:
        parts.append(titles.shorten(found.failure, 120))
    return "; ".join(parts)


def _type(found: Findings, title: str, text: str, *, reports: bool) -> str:
    """The kind of work. `reports`: nothing was done, so what was said may report what was done before."""
    if found.decision:
        return "decision"
    if found.commit:
        label = found.commit.partition(":")[0].partition("(")[0].strip().lower()
        if label in _COMMIT_TYPES:
            return _COMMIT_TYPES[label]
    by_verb = _TYPE_OF_VERB.get(title.partition(" ")[0].rstrip(":,").lower(), "")
    if found.commit and by_verb:
        return by_verb
    if found.edits and title.lower().startswith(_PROBLEMS):
        return "bugfix"
    if found.edits or found.commit:
        return by_verb if by_verb == "bugfix" else _type_of_change(found, by_verb, (found.commit or text)[:400])
    if any(mark in text.lower() for mark in _DECISION_MARKS):
        return "decision"
    return by_verb if by_verb and reports else "discovery"


def _type_of_change(found: Findings, by_verb: str, opening: str) -> str:
    said = frozenset(opening.lower().translate(_WORD_BREAKS).split())
    if not found.commit and all(_beside_the_code(path) for path in found.modified):
        return "change"
    if by_verb in ("", "change") and said & _FIX_WORDS:
        return "bugfix"
    if by_verb:
        return by_verb
    if said & _REFACTOR_WORDS:
        return "refactor"
    return "feature" if said & _FEATURE_WORDS or any(not old for _, old, _ in found.edits) else "change"


def _beside_the_code(path: str) -> bool:
    """Tests and prose: whoever adds to them adds no feature."""
    name = basename(path).lower()
    return "test" in name or "spec" in name or name.endswith((".md", ".rst", ".txt")) or "/tests/" in path.lower()


def _concepts(kind: str, found: Findings, text: str) -> list[str]:
    lowered = text.lower()
    concepts = [name for name, marks in _CONCEPT_MARKS if any(mark in lowered for mark in marks)]
    if found.edits or found.commit:
        concepts.append("what-changed")
    if len(found.tests) > 1 and commands.went_wrong(found.tests[0]) and not commands.went_wrong(found.tests[-1]):
        concepts.append("problem-solution")
    if kind == "discovery" and len(text) > 600 and "how-it-works" not in concepts:
        concepts.append("how-it-works")
    return list(dict.fromkeys(concepts))


def _next_steps(closing: str) -> str:
    """What stands under a heading such as "Next steps" or "Remaining" in the closing words."""
    lines = closing.splitlines()
    for at, line in enumerate(lines):
        heading = titles.plain(line).lower().rstrip(":")
        if heading.startswith(("next step", "remaining", "what's left", "still to do", "todo", "follow-up",
                               "left to do")):
            under = [titles.plain(item) for item in lines[at + 1:at + 12]]
            kept: list[str] = []
            for item, raw in zip(under, lines[at + 1:at + 12], strict=True):
                if raw.lstrip().startswith("#") or (not raw.strip() and kept):
                    break
                if item:
                    kept.append(item)
            _, colon, inline = titles.plain(line).partition(": ")
            return "\n".join(kept) or (inline if colon else "")
    return ""


def _relative(paths: list[str], cwd: str) -> list[str]:
    """`paths` without repetition, those below `cwd` relative to it: shorter to read and equal across worktrees."""
    base = cwd.rstrip("/\\")
    kept = []
    for path in paths:
        if base and path.startswith(base) and path[len(base):len(base) + 1] in ("/", "\\"):
            path = path[len(base) + 1:]
        if path:
            kept.append(path.replace("\\", "/"))
    return list(dict.fromkeys(kept))
