"""The words everyone uses: what a memory is made of.

Plain classes with slots instead of dataclasses, whose import alone would cost a hook more than its work.
Moments are epoch milliseconds; a field that is unknown holds None, an empty list or an empty string.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

OBSERVATION, SUMMARY, PROMPT = "observation", "summary", "prompt"
KINDS = (OBSERVATION, SUMMARY, PROMPT)
KIND_PREFIX = {OBSERVATION: "", SUMMARY: "S", PROMPT: "P"}

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
CONCEPTS = ("how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off")

# Where a memory came from; shown beside it, because a memory is only as good as its source.
CAPTURED, IMPORTED, SAVED = "captured", "imported", "saved"

ENVELOPE_TAG = "memlite-memory"  # wraps everything memlite puts into a model's context


class Record:
    """Base of the records: every slot is a keyword, what is not given takes the class's default."""

    __slots__ = ()
    FIELDS: ClassVar[tuple[str, ...]] = ()  # the slots of the class and its bases, in order
    DEFAULTS: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.FIELDS = tuple(name for base in reversed(cls.__mro__) for name in vars(base).get("__slots__", ()))

    def __init__(self, **fields: Any) -> None:
        try:
            for name, value in fields.items():
                setattr(self, name, value)
        except AttributeError:
            unknown = sorted(set(fields).difference(self.FIELDS))
            raise TypeError(f"{type(self).__name__} has no field {', '.join(unknown)}") from None
        if len(fields) < len(self.FIELDS):
            for name in self.FIELDS:
                if name not in fields:
                    default = self.DEFAULTS.get(name, "")
                    setattr(self, name, list(default) if isinstance(default, list) else default)

    def as_dict(self) -> dict[str, Any]:
        """All fields by name, in their order."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.as_dict().items() if v not in ("", None, []))
        return f"{type(self).__name__}({given})"


class Project(Record):
    """Whose memory it is: `root` is the identity (shared by all worktrees of a repository), `name` is for people."""

    __slots__ = ("root", "name")
    root: str
    name: str


class Session(Record):
    """One conversation of the client, by the client's own session id."""

    __slots__ = ("session_id", "project", "cwd", "branch", "started_at_epoch", "ended_at_epoch", "transcript")
    DEFAULTS: ClassVar[dict[str, Any]] = {"started_at_epoch": None, "ended_at_epoch": None}
    session_id: str
    project: Project
    cwd: str
    branch: str
    started_at_epoch: int | None
    ended_at_epoch: int | None
    transcript: str


class Memory(Record):
    """What the three kinds of memory share."""

    __slots__ = ("id", "project", "session_id", "prompt_number", "created_at_epoch", "origin", "transcript", "uuids",
                 "branch")
    KIND: ClassVar[str] = ""
    id: int | None
    project: str
    session_id: str
    prompt_number: int | None
    created_at_epoch: int
    origin: str
    transcript: str
    uuids: list[str]
    branch: str

    @property
    def ref(self) -> str:
        """The id a person or model cites: `123`, `S5`, `P7`."""
        return f"{KIND_PREFIX[self.KIND]}{self.id}"

    @property
    def headline(self) -> str:
        """The one line the memory goes by."""
        raise NotImplementedError


_DEFAULTS: dict[str, Any] = {"id": None, "prompt_number": None, "created_at_epoch": 0, "origin": CAPTURED, "uuids": []}


class Observation(Memory):
    """One episode of work: what was done, what came of it, and which files it touched.

    `details` holds the evidence (edits, output, errors) that is searched but only shown in full.
    """

    __slots__ = ("type", "title", "subtitle", "narrative", "facts", "concepts", "files_read", "files_modified",
                 "details", "agent")
    KIND: ClassVar[str] = OBSERVATION
    DEFAULTS: ClassVar[dict[str, Any]] = {**_DEFAULTS, "type": "discovery", "facts": [], "concepts": [],
                                          "files_read": [], "files_modified": []}
    type: str
    title: str
    subtitle: str
    narrative: str
    facts: list[str]
    concepts: list[str]
    files_read: list[str]
    files_modified: list[str]
    details: str
    agent: str

    @property
    def headline(self) -> str:
        """Its title."""
        return self.title


class Summary(Memory):
    """What one turn was about, from the person's request to the closing words."""

    __slots__ = ("request", "investigated", "learned", "completed", "next_steps", "notes", "files_read",
                 "files_edited")
    KIND: ClassVar[str] = SUMMARY
    DEFAULTS: ClassVar[dict[str, Any]] = {**_DEFAULTS, "files_read": [], "files_edited": []}
    request: str
    investigated: str
    learned: str
    completed: str
    next_steps: str
    notes: str
    files_read: list[str]
    files_edited: list[str]

    @property
    def headline(self) -> str:
        """What was asked, or what came of it."""
        return _one_line(self.request or self.completed)


class Prompt(Memory):
    """What the person asked, in their own words. `prompt_id` is the client's id, known to hook and transcript alike."""

    __slots__ = ("text", "prompt_id")
    KIND: ClassVar[str] = PROMPT
    DEFAULTS: ClassVar[dict[str, Any]] = _DEFAULTS
    text: str
    prompt_id: str

    @property
    def headline(self) -> str:
        """Its first words."""
        return _one_line(self.text)


def _one_line(text: str, limit: int = 160) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[:limit - 1].rstrip() + "…"


RECORDS: dict[str, type[Memory]] = {OBSERVATION: Observation, SUMMARY: Summary, PROMPT: Prompt}


def parse_ref(ref: str) -> tuple[str, int] | None:
    """(kind, id) of a cited id: `123` or `#123`, `S5`, `#S5`, `P7`, any case; None when it is none of these."""
    text = ref.strip().lstrip("#")
    kind = {"S": SUMMARY, "P": PROMPT}.get(text[:1].upper(), OBSERVATION)
    digits = text if kind == OBSERVATION else text[1:]
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        return None
    return kind, int(digits)
