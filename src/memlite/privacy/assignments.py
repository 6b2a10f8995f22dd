"""Secrets that only their name gives away: `password: "…"`, `FOO_SECRET=…`, `--token …`, `?api_key=…`.

A scanner over the names, not a pattern: what follows a name is written in too many ways (shell, env files, JSON, JSON
inside JSON, YAML, typed code, connection strings, XML, Kubernetes' name/value pairs, prose), and the answer depends
on the value (see values.py). No step looks further ahead than a fixed number of characters, so the time is linear.
"""

from __future__ import annotations

from memlite.privacy import quoting
from memlite.privacy.values import OTHER, PASSWORD, is_secret, is_strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What a name ends in when its value is a secret, once lower-cased and without separators.
_ENDINGS = (
    *((word, PASSWORD) for word in ("password", "passwd", "passphrase", "passcode", "passwort", "pwd")),
    *((word, OTHER) for word in ("secret", "token", "credential", "credentials")),
    *((f"{owner}key", OTHER) for owner in (
        "api", "app", "access", "secret", "private", "account", "auth", "encryption", "encrypt", "signing", "sign",
        "master", "shared", "webhook", "service", "deploy", "license", "session", "storage", "hmac", "jwt", "admin",
        "role", "write", "ingest", "integration", "server", "subscription", "recovery", "unseal", "root")))
# These are words of their own in code and prose, so they count only as the last part of a longer name.
_SHORT_ENDINGS = ("_pass", "-pass", "_pw", "-pw", "_PASS", "-PASS", "_PW", "-PW", "Pass")
_WORDS = {PASSWORD: ("pass", "pwd", "_pw", "-pw"), OTHER: ("secret", "token", "credential", "key")}
# Tokens that open nothing: positions in a list, marks against doing a thing twice, and the words of a language model.
_NO_SECRETS = ("public", *(f"{use}token" for use in (
    "next", "page", "pagination", "continuation", "starting", "forward", "backward", "sequence", "request", "client",
    "change", "cancel", "cancellation", "sync", "lock", "action", "idempotency", "eos", "bos", "unk", "pad", "sep",
    "mask", "cls", "special", "stop")))
# What may follow in the name without changing what the value is.
_QUALIFIERS = ("base", "value", "raw", "string", "plain", "production", "prod", "dev", "staging", "live", "test",
               "old", "new", "current", "primary", "secondary", "default")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME, _LONGEST_TYPE, _LONGEST_MARGIN, _GAP, _WINDOW = 80, 30, 24, 24, 80
_LONGEST_ELEMENT = 4096
_BEGINS_LINE = frozenset(("", "export", "set", "ENV", "ARG", "$env:"))
_DIGITS = frozenset("0123456789")
_QUERY = ("?", "&", ";")


class _Place:
    """Where the value of a name begins, and what may stand there."""

    __slots__ = ("explicit", "loose", "start", "whole_line")
    start: int
    explicit: bool     # nothing but a secret, so that a plain word is one too
    loose: bool        # anything, so that only what looks random by itself counts
    whole_line: bool   # an unquoted value that may hold `,`, `;` or `&`

    def __init__(self, start: int, *, explicit: bool = False, loose: bool = False, whole_line: bool = False) -> None:
        self.start, self.explicit, self.loose, self.whole_line = start, explicit, loose, whole_line


def kind_of(name: str) -> str | None:
    """PASSWORD or OTHER if `name` names a secret, else None: `dbPassword` and `AWS_SECRET_ACCESS_KEY_2` do,
    `token_count`, `password_file`, `PWD` and `public_key` do not."""
    if name in ("PWD", "OLDPWD"):
        return None
    if name.endswith(_SHORT_ENDINGS) and len(name.strip("-_")) > 4:
        return PASSWORD
    plain = name.lower().replace("_", "").replace("-", "").rstrip("0123456789")
    for qualifier in _QUALIFIERS:
        if plain.endswith(qualifier):
            plain = plain[:-len(qualifier)]
            break
    if any(harmless in plain for harmless in _NO_SECRETS):
        return None
    return next((kind for ending, kind in _ENDINGS if plain.endswith(ending)), None)


def passwords(text: str) -> list[tuple[int, int]]:
    """(start, end) of every value in `text` that stands where a password is named and is one."""
    return _named(text, PASSWORD)


def secrets(text: str) -> list[tuple[int, int]]:
    """(start, end) of every value in `text` that stands where a key, token or other secret is named and is one."""
    return _named(text, OTHER)


def _named(text: str, wanted: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    done = 0
    kinds: dict[str, str | None] = {}   # the same few names come again and again
    for start, end in _names(text, _WORDS[wanted]):
        if start < done:
            continue
        name = text[start:end]
        if name not in kinds:
            kinds[name] = kind_of(name)
        if kinds[name] != wanted or not (place := _place(text, start, end, wanted)):
            continue
        if text.startswith("[redacted:", place.start):
            closing = text.find("]", place.start, place.start + _LONGEST_NAME)
            if closing >= 0 and not text[closing + 1:closing + 2].isalnum():
                done = closing
                continue
        begin, finish, quoted = quoting.value_at(text, place.start, place.whole_line)
        if _is_taken(text, begin, finish, quoted, wanted, place):
            done = finish if quoted else quoting.full_end(text, begin, finish, place.whole_line)
            found.append((begin, done))
        elif not (quoted or place.loose):
            done = finish   # nothing in what was judged is a secret
    return found


def _is_taken(text: str, start: int, end: int, quoted: bool, kind: str, place: _Place) -> bool:
    value = quoting.without_marks(text[start:end])
    if not quoted and (text[end:end + 1] in ("(", "[") or "(" in value or value.endswith("[")):
        return False   # a call or an index: code that fetches the secret
    if place.loose:
        return len(value) >= 6 and is_strong(value)
    return is_secret(value, kind, quoted=quoted, explicit=place.explicit)


def _names(text: str, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Every name in `text` that holds one of `words`, in order."""
    lowered = text.lower()
    if len(lowered) != len(text):   # a few letters grow when lower-cased; then positions would not agree
        lowered = "".join(c.lower() if c.isascii() else c for c in text)
    spots: list[int] = []
    for word in words:
        spot = lowered.find(word)
        while spot >= 0:
            spots.append(spot)
            spot = lowered.find(word, spot + len(word))
    last = 0
    for spot in sorted(spots):
        if spot < last:
            continue
        start = end = spot
        while start > last and spot - start < _LONGEST_NAME and text[start - 1] in _NAME:
            start -= 1
        while end < len(text) and end - spot < _LONGEST_NAME and text[end] in _NAME:
            end += 1
        last = end
        if text[max(0, start - 10):start] != "[redacted:":
            yield start, end


def _place(text: str, start: int, end: int, kind: str) -> _Place | None:
    """The place of the value of the name at `start` to `end`; None if nothing is given to it there."""
    if text[start - 2:start] == "::":
        return None   # the name of a type: "AWS::IAM::AccessKey"
    if text[start - 1:start] == "<" and text[end:end + 1] == ">":
        closing = text.find("<", end + 1, end + 1 + _LONGEST_ELEMENT)
        return _Place(end + 1, explicit=kind == PASSWORD, whole_line=True) if text.startswith("</", closing) else None
    ahead = text[end:end + _WINDOW]
    place = None
    if "=" in ahead or ":" in ahead:
        after = end if ahead[:1] in ("=", ":") else quoting.past_closers(text, end)
        place = _assigned(text, start, end, after) or _typed(text, end) or _paired(text, end)
    if place is None and ahead[:1] == " ":
        if text.startswith("-", start):
            return _argument(text, end)
        if kind == PASSWORD and not (_DIGITS.isdisjoint(ahead) and "'" not in ahead):
            return _told(text, start, end)
    return place


def _assigned(text: str, start: int, end: int, after: int) -> _Place | None:
    """`name = value`, `"name": value`, `name: type = value`, `--name=value`."""
    if text[after:after + 1] in ("?", "!") and text[after + 1:after + 2] == ":":
        after += 1   # an optional field in TypeScript
    operator = _operator(text, after)
    if not operator or operator == ":" and text[start - 1:start] == ":":
        return None   # "arn:aws:secretsmanager:…:secret:name"
    if operator == ":" and (typed := _typed(text, after + 1)):
        return typed
    name, before = text[start:end], text[start - 1:start]
    value = quoting.past_space(text, after + len(operator), _GAP)
    if operator == "=":
        explicit = name.startswith("-") or before in _QUERY or (
            after == end and value == after + 1 and _is_constant(name))
    else:
        explicit = operator == ":" and _is_constant(name) and after == end
    whole_line = not quoting.past_quote(text, value) and before not in _QUERY and _begins_line(text, start)
    return _Place(value, explicit=explicit, whole_line=whole_line)


def _begins_line(text: str, at: int) -> bool:
    """Whether the line holds nothing before `at` but a word of an env file, a line number or a diff's mark."""
    before = text[max(0, at - _LONGEST_MARGIN):at]
    begin = before.rfind("\n") + 1
    return (begin > 0 or at <= _LONGEST_MARGIN) and before[begin:].strip(" \t0123456789→|+-\"'") in _BEGINS_LINE


def _operator(text: str, at: int) -> str:
    at_two = text[at:at + 2]
    if at_two in (":=", "=>"):
        return at_two
    if at_two in ("==", "=~", "::", ":/"):
        return ""
    return at_two[:1] if at_two[:1] in ("=", ":") else ""


def _typed(text: str, at: int) -> _Place | None:
    """` str = value` after `name:` or, in Go, after the name: the type is skipped."""
    begin = quoting.past_space(text, at, _GAP)
    end = begin
    while end < len(text) and end - begin < _LONGEST_TYPE and (text[end].isalnum() or text[end] in "_.[]|&*<>? "):
        end += 1
    if end == begin or text[end:end + 1] != "=" and text[end:end + 2] != ":=" or text[end:end + 2] in ("==", "=>"):
        return None
    if text[end - 1] != " " and not (end - begin <= 10 and text[begin:end].isalpha()):
        return None   # the padding of a value in base64
    return _Place(quoting.past_space(text, text.index("=", end) + 1, _GAP))


def _paired(text: str, at: int) -> _Place | None:
    """`"name": "DB_PASSWORD", "value": "…"`, in JSON, in YAML on the next line, in the attributes of HTML."""
    begin = at
    while begin < len(text) and begin - at < 2 * _GAP and text[begin] in " \t\r\n,\"'{}-\\":
        begin += 1
    word = next((word for word in ("value", "content") if text[begin:begin + len(word)].lower() == word), "")
    if not word or not set("\n,\"'") & set(text[at:begin]):
        return None
    after = quoting.past_closers(text, begin + len(word))
    if text[after:after + 1] not in (":", "="):
        return None
    return _Place(quoting.past_space(text, after + 1, _GAP), explicit=True)


def _argument(text: str, end: int) -> _Place | None:
    """`--token value`; a plain word after the name may also be prose about the option."""
    begin = quoting.past_space(text, end, _GAP)
    if text[begin:begin + 1] == "-":
        return None
    _, finish, quoted = quoting.value_at(text, begin, whole_line=False)
    word = text[begin:finish]
    rest = text[finish:finish + 4]
    alone = quoted or not rest.strip(" ") or rest.startswith(("\n", "\\n", '"', "'", "\\", ";", "|", ")", "`")) or (
        rest.lstrip(" ")[:1] in ("-", "|", "&", ">", "\\", "\n", "'", '"', ";"))
    return _Place(begin, explicit=True, loose=word.isalpha() and (not alone or word.isupper()))


def _told(text: str, start: int, end: int) -> _Place:
    """`the password is …`, and `password …` as netrc, SQL and people write it."""
    begin = quoting.past_space(text, end, _GAP)
    told = next((verb for verb in ("is ", "was ", "is: ", "to ") if text.startswith(verb, begin)), "")
    in_sql = text[start:end] == "PASSWORD" and text[begin:begin + 1] == "'"
    return _Place(quoting.past_space(text, begin + len(told), _GAP), loose=not in_sql)


def _is_constant(name: str) -> bool:
    return name.isupper() and name[0] != "-"
