"""Secrets in HTTP headers and addresses: Authorization, Cookie, Set-Cookie, and `user:password@` in URLs."""

from __future__ import annotations

from memlite.privacy import quoting
from memlite.privacy.values import OTHER, PASSWORD, is_secret, is_strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMES = frozenset(("bearer", "basic", "token", "bot", "apikey", "api-key", "negotiate", "ntlm", "key"))
# Schemes whose parameters follow: the signature stands somewhere in the rest of the header.
_LONG_SCHEMES = ("digest ", "aws4-hmac-sha256 ", "hawk ", "oauth ", "signature ", "sharedkey ")
_SESSION_NAMES = ("sess", "sid", "auth", "token", "csrf", "xsrf", "jwt", "remember", "login", "identity", "secret")
_COOKIE_ATTRIBUTES = frozenset(("path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority"))
_ENDS_HEADER = quoting.ending("\r\n\"'`")
_ENDS_TOKEN = quoting.ending(" \t\r\n\"'`,;<>(){}|")
_LONGEST_HEADER = 8192
_LOOKED_AT = 64
_LONGEST_USERINFO = 512
_ENDS_USERINFO = quoting.ending(" \t\r\n\"'`<>\\")


def authorizations(text: str) -> list[tuple[int, int]]:
    """The credentials after `Authorization:` in any quoting, the scheme excluded, and those after a bare `Bearer`."""
    lowered = _lowered(text)
    spans: list[tuple[int, int]] = []
    done = 0
    for end in _after(lowered, "authorization"):
        if end < done:
            continue
        before = text[end - len("authorization") - 1:end - len("authorization")]
        value = -1 if before.isalnum() or before == ":" else _header_value(text, end)
        if value < 0:
            continue
        if lowered.startswith(_LONG_SCHEMES, value):
            begin = text.index(" ", value) + 1
            finish = quoting.until(text, begin, _ENDS_HEADER, begin + _LONGEST_HEADER)
            if "=" in text[begin:finish]:
                spans.append((begin, finish))
                done = finish
            continue
        begin = _past_scheme(lowered, value)
        finish = quoting.until(text, begin, _ENDS_TOKEN, begin + _LOOKED_AT)
        held = quoting.without_marks(text[begin:finish])
        if text[finish:finish + 1] != "(" and (_is_credential(held) if begin > value else is_strong(held)):
            spans.append((begin, quoting.until(text, finish, _ENDS_TOKEN, len(text))))
    for begin in _after(lowered, "bearer "):
        finish = quoting.until(text, begin, _ENDS_TOKEN, begin + _LOOKED_AT)
        held = quoting.without_marks(text[begin:finish])
        if len(held) >= 16 and is_strong(held):
            spans.append((begin, quoting.until(text, finish, _ENDS_TOKEN, len(text))))
    return spans


def cookies(text: str) -> list[tuple[int, int]]:
    """The values in a `Cookie:` or `Set-Cookie:` header that could open a session; names and attributes stay."""
    spans: list[tuple[int, int]] = []
    done = 0
    for end in _after(_lowered(text), "cookie"):
        value = _header_value(text, end) if end >= done else -1
        if value < 0:
            continue
        done = quoting.until(text, value, _ENDS_HEADER, value + _LONGEST_HEADER)
        begin = value
        while begin < done:
            finish = text.find(";", begin, done)
            finish = done if finish < 0 else finish
            name, equals, held = text[begin:finish].rstrip().partition("=")
            if not equals or not name or " " in name.strip() or name != name.rstrip():
                if begin == value:
                    break   # `cookie: str = None` is code
            elif name.strip().lower() not in _COOKIE_ATTRIBUTES and _opens_session(name, held):
                held_at = begin + len(name) + 1
                spans.append((held_at, held_at + len(held)))
            begin = finish + 1
    return spans


def url_passwords(text: str) -> list[tuple[int, int]]:
    """The password in `scheme://user:password@host`, or the token in `scheme://token@host`."""
    spans: list[tuple[int, int]] = []
    begins = list(_after(text, "://"))
    for begin, following in zip(begins, (*begins[1:], len(text)), strict=False):
        # Never past the next address: each character is then looked at once.
        while text[begin:begin + 1] == "/":
            begin += 1   # escaped slashes are read as two
        limit = quoting.until(text, begin, _ENDS_USERINFO, min(following, begin + _LONGEST_USERINFO))
        at = text.rfind("@", begin, limit)
        host = text[at + 1:at + 2]
        if at < 0 or not (host.isalnum() or host == "["):
            continue
        if text.startswith("[redacted:", begin):
            begin = text.find("]", begin) + 1
        # An "@" in a path is no userinfo's end, but a careless password may hold a slash: "user:p/ss@host".
        colon = text.find(":", begin, at)
        path = min((spot for spot in (text.find(mark, begin, at) for mark in "/?#") if spot >= 0), default=-1)
        if path >= 0 and (colon < 0 or path < colon or text[colon + 1:path].isdigit()):
            continue
        if colon >= 0:
            value = quoting.without_marks(text[colon + 1:at])
            if is_secret(value, PASSWORD, explicit=True, quoted=True) or len(value) < 4 and value.isalnum():
                spans.append((colon + 1, at))
        elif at - begin >= 16 and is_strong(quoting.without_marks(text[begin:at])):
            spans.append((begin, at))
    return spans


def _lowered(text: str) -> str:
    """`text` in small letters, position by position: a few letters grow when lower-cased."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _after(text: str, word: str) -> Iterator[int]:
    """Where each occurrence of `word` ends."""
    spot = text.find(word)
    while spot >= 0:
        yield spot + len(word)
        spot = text.find(word, spot + len(word))


def _header_value(text: str, end: int) -> int:
    """Where the value begins of the header or field whose name ends at `end`; -1 if nothing is given to it."""
    at = quoting.past_closers(text, end)
    operator = "=>" if text.startswith("=>", at) else text[at:at + 1]
    if operator not in ("=>", ":", "=", ",") or text[at:at + 2] in ("==", "::"):
        return -1
    at = quoting.past_space(text, at + len(operator), 24)
    if begin := quoting.past_quote(text, at):
        return begin
    return -1 if operator == "," else at


def _past_scheme(lowered: str, at: int) -> int:
    word = lowered[at:at + 12].partition(" ")[0].partition("%20")[0]
    if word not in _SCHEMES:
        return at
    at += len(word)
    return at + 3 if lowered.startswith("%20", at) else quoting.past_space(lowered, at, 24)


def _is_credential(value: str) -> bool:
    if value.isalpha() and (value.islower() or value.isupper() or value.istitle()):
        return False   # a word
    return is_secret(value, OTHER, explicit=True)


def _opens_session(name: str, value: str) -> bool:
    value = quoting.without_marks(value)
    if any(part in name.lower() for part in _SESSION_NAMES):
        return is_secret(value, OTHER, explicit=True)
    return len(value) >= 16 and is_strong(value)
