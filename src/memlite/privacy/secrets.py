"""Secrets out of a text, each replaced in place by `[redacted:kind]` (the kinds: `rules.RULES`).

Cheap for what is usual: a text is searched for some 150 plain words, and only where one occurs is a pattern compiled
and tried, so a hook seldom pays for importing `re`. Redact before cutting a text: half a token has no known form.
"""

from __future__ import annotations

from memlite.privacy.assignments import kind_of
from memlite.privacy.quoting import unescaped, without_marks
from memlite.privacy.rules import RULES, Rule
from memlite.privacy.values import is_no_value, is_random, is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern

_PREFIXES = [(keyword, rule) for rule in RULES if rule.anchored for keyword in rule.keywords]
_ANY_CASE = [(keyword, rule) for rule in RULES if not rule.anchored for keyword in rule.keywords]
_SHORTEST = 16   # no rule with a prefix matches fewer characters
_COMPILED: dict[str, Pattern[str]] = {}
# Taking one secret out can show another (`a:b@c` in a password); more rounds than this were never needed.
_ROUNDS = 4


def redact(text: str) -> str:
    """`text` with every secret the rules know replaced by `[redacted:kind]`; what stands round it stays.

    Understands text that is JSON, or JSON in JSON. Linear in the length of `text`; a second time changes nothing.
    """
    for _ in range(_ROUNDS):
        before = text
        # Found in the text as a reader of its JSON sees it, taken out of the text as it is.
        read = unescaped(text)
        for rule in _candidates(text):
            if spans := _spans(rule, read):
                mark = f"[redacted:{rule.name}]"
                text, read = _replaced(text, spans, mark), _replaced(read, spans, mark)
        if text == before:
            break
    return text


def _candidates(text: str) -> list[Rule]:
    """The rules one of whose keywords occurs, in the order of the table."""
    lowered = text.lower()
    found = {rule for keyword, rule in _ANY_CASE if keyword in lowered}
    # The tokens known by their prefix have no white space in them, so most words are too short to be one.
    words = "\n".join([word for word in text.split() if len(word) >= _SHORTEST])
    if words:
        found.update([rule for keyword, rule in _PREFIXES if keyword in words])
    return [rule for rule in RULES if rule in found] if found else []


def redact_named(name: str, value: str) -> str:
    """`value`, or `[redacted:kind]` if `name` names a secret and `value` is one: for structures already taken apart."""
    kind = kind_of(name)
    return f"[redacted:{kind}]" if kind and is_secret(without_marks(value), kind, quoted=True) else value


def _spans(rule: Rule, text: str) -> list[tuple[int, int]]:
    if rule.finder is not None:
        return rule.finder(text)
    return _anchored(rule, text) if rule.anchored else _searched(rule, text)


def _anchored(rule: Rule, text: str) -> list[tuple[int, int]]:
    """Spans that match from a keyword on, where the keyword is not the middle of a word."""
    spans: list[tuple[int, int]] = []
    for keyword in rule.keywords:
        spot = text.find(keyword)
        while spot >= 0:
            following = spot + len(keyword)
            if _begins_word(text, spot) and (match := _pattern(rule).match(text, spot)):
                if is_random(match.group(match.lastindex or 0)):
                    spans.append(match.span(match.lastindex or 0))
                following = max(following, match.end())
            spot = text.find(keyword, following)
    return spans


def _searched(rule: Rule, text: str) -> list[tuple[int, int]]:
    """Spans of the pattern; what a command line or field names may also be a variable or a placeholder."""
    return [match.span(match.lastindex or 0) for match in _pattern(rule).finditer(text)
            if not (match.lastindex and is_no_value(without_marks(match.group(match.lastindex))))]


def _pattern(rule: Rule) -> Pattern[str]:
    pattern = _COMPILED.get(rule.name)
    if pattern is None:
        import re  # here, because most hooks never need it

        pattern = _COMPILED[rule.name] = re.compile(rule.pattern)
    return pattern


def _begins_word(text: str, at: int) -> bool:
    """Whether no word goes on at `at`. What ends an escape (`%3D`, `\u003d`, `[31m`) is no part of a word."""
    before = text[max(0, at - 6):at]
    if not before or not before[-1].isalnum() or not text[at].isalnum():
        return True
    if before[-3:-2] == "%" or before.startswith("\\u"):
        return True
    return before[-1] in "mK" and "[" in before and not before.rpartition("[")[2].strip("0123456789;mK")


def _replaced(text: str, spans: list[tuple[int, int]], mark: str) -> str:
    kept: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if start >= position:
            kept += text[position:start], mark
        position = max(position, end)
    kept.append(text[position:])
    return "".join(kept)
