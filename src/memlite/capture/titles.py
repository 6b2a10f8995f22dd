"""The title of an episode: the sentence in it that tells most about what came of it.

Someone who scans ten titles must know which one to open, so findings beat announcements, and an announcement is
turned into what was done: "Now let me check the generated migration." → "Check the generated migration".
"""

from __future__ import annotations

TITLE_LIMIT = 120

# Openers that say nothing; cut as often as they repeat.
_FILLERS = ("good question", "great question", "great", "good", "perfect", "excellent", "ok", "okay", "alright", "sure",
            "got it", "i see", "right", "yes", "done", "now", "next", "so", "well", "first", "then", "also", "finally",
            "actually", "wait", "hmm", "you're right", "you're absolutely right", "great catch", "good catch",
            "good point", "here we go", "absolutely", "of course", "and", "but", "indeed", "interesting", "all right",
            "that makes sense", "makes sense", "understood", "no problem", "let's see", "i see the issue", "exactly",
            "i see the problem", "found it", "found the issue", "found the bug", "yep", "yeah", "nice", "sorry", "no",
            "that's a good point", "good idea", "good to know", "excellent suggestion", "i found it", "as expected")
# What follows a filler that no comma ends.
_AFTER = ("let me", "i'll", "i will", "i need", "let's", "we need", "—", "-", "i ")
_INTENTS = ("let me ", "i'll ", "i will ", "i'm going to ", "i need to ", "we need to ", "let's ", "i should ",
            "i want to ", "i can ", "going to ", "need to ", "time to ", "we should ", "i have to ", "i'd like to ")
_ADVERBS = ("now ", "also ", "just ", "quickly ", "first ", "then ", "go ahead and ", "start by ", "try to ",
            "try and ", "continue ", "finally ", "use the same approach and ")
_JOINTS = ("so ", "but ", "and ", "now ", "also ")
# "Looking at the code, X" → X
_GROUNDS = ("based on ", "looking at ", "from the ", "according to ")
# "I've added …" → "Added …"
_REPORTS = ("i've ", "i have ", "we've ", "we have ", "i ")
_REPORT_ADVERBS = ("successfully ", "now ", "also ", "just ", "already ")
_IRREGULAR = frozenset(("made", "written", "wrote", "run", "ran", "found", "built", "put", "set", "kept", "split",
                        "left"))
# What says how things stand but not which things: with such a title nobody knows what to open.
_LITTLE = ("i have ", "i already have ", "i've got ", "i understand", "i see ", "i can see", "i think ", "i notice",
           "i need ", "expected",
           "still ", "here's ", "here is ", "here are ", "based on ", "everything ", "the code looks", "looks ",
           "looking ", "getting ", "running ", "starting ", "checking ", "reading ", "listing ",
           "fetching ", "would you", "know ", "you're ", "do you", "did you", "shall i", "should i", "which ",
           "let me know",
           "stopped", "this is ", "ready", "continuing", "that's ", "clean ", "compiles", "all clean", "all green",
           "all good", "all fixes", "all checks", "lint ", "linting ", "formatting ", "done", "both ", "it works",
           "the plan ", "make the changes", "make sure", "what i ", "how it ", "the file uses", "the file exists")
_CHECKED = frozenset(("test", "tests", "lint", "build", "checks", "suite", "compilation", "typecheck"))
_PASSING = frozenset(("pass", "passes", "passed", "passing", "succeeded", "succeeds", "clean", "green"))
_TELLING = ("because", "found", "fixed", "works", "does not", "doesn't", "don't", "isn't", "wasn't", "can't", "cannot",
            "couldn't", "the issue", "the problem", "the bug", "root cause", "caused by", "due to", "missing",
            "instead",
            "passes", "passed", "fails", "failed", "was ", "were ", "already", "never", "only ", "unlike", "means",
            "turns out", "added", "removed", "renamed", "replaced", "changed", "updated", "implemented", "created")


def sentences(text: str, most: int = 40) -> list[str]:
    """The sentences, headings and list items of Markdown `text`, plain, without code blocks and tables."""
    return [sentence for sentence, _ in _sentences(text, most)]


def _sentences(text: str, most: int) -> list[tuple[str, bool]]:
    """(sentence, whether it is an item of a list) …"""
    found: list[tuple[str, bool]] = []
    in_code = False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith(("```", "~~~")):
            in_code = not in_code
            continue
        if in_code or not line or line.startswith("|") or set(line) <= set("-=*_#> "):
            continue
        listed = line[:2] in ("- ", "* ", "+ ", "• ") or (line[:1].isdigit() and line.lstrip("0123456789")[:2] == ". ")
        for sentence in _split(plain(line)):
            if len(sentence) > 2:
                found.append((sentence, listed))
        if len(found) >= most:
            break
    return found[:most]


def plain(line: str) -> str:
    """One line of Markdown without its marks: headings, bullets, numbers, emphasis; code keeps its backticks."""
    line = line.lstrip("#>-*•+ \t").strip()
    head, dot, rest = line.partition(". ")
    if dot and head.isdigit():
        line = rest
    return _without_links(line).replace("**", "").replace("__", "").replace("→", "->").strip()


def _without_links(line: str) -> str:
    """`line` with `[text](address)` as its text."""
    at = line.find("](")
    while at >= 0:
        start, end = line.rfind("[", 0, at), line.find(")", at)
        if start < 0 or end < 0:
            break
        line = line[:start] + line[start + 1:at] + line[end + 1:]
        at = line.find("](", start)
    return line


def _split(line: str) -> list[str]:
    """`line` cut after . ! ? where the next word begins a sentence; never inside `code`."""
    pieces, start, in_code = [], 0, False
    for i in range(len(line) - 2):
        in_code ^= line[i] == "`"
        begins = line[i + 1] == " " and (line[i + 2].isupper() or line[i + 2] in "`'\"(")
        if line[i] in ".!?" and begins and not in_code:
            word = line[start:i].rpartition(" ")[2].lower()
            if word.endswith(".") or word in ("e.g", "i.e", "vs", "etc", "cf", "approx", "no"):
                continue
            pieces.append(line[start:i + 1].strip())
            start = i + 2
    pieces.append(line[start:].strip())
    return pieces


def as_deed(sentence: str) -> tuple[str, bool]:
    """(sentence without fillers and with its intent as a deed, whether it was an intent)."""
    text = sentence.strip()
    changed = True
    while changed:
        changed = False
        lowered = text.lower()
        for filler in _FILLERS:
            if lowered.startswith(filler) and lowered[len(filler):len(filler) + 1] in (",", "!", ".", " ", ":", ""):
                rest = lowered[len(filler) + 1:]
                if lowered[len(filler):len(filler) + 1] == " " and filler != "now" and not rest.startswith(_AFTER):
                    continue
                text = text[len(filler):].lstrip(" ,!.:—-")
                changed = True
                break
    for joint in _JOINTS:
        text = text[len(joint):] if text.lower().startswith(joint) else text
    text = _after_the_grounds(text)
    lowered = text.lower()
    for intent in _INTENTS:
        if lowered.startswith(intent):
            text = text[len(intent):]
            stripped = True
            while stripped:
                stripped = False
                for adverb in _ADVERBS:
                    if text.lower().startswith(adverb):
                        text, stripped = text[len(adverb):], True
            return capitalized(text), True
    return capitalized(_reported(text)), False


def _after_the_grounds(text: str) -> str:
    """`text` without what it is based on."""
    head, comma, rest = text.partition(", ")
    return rest if comma and len(rest) > 20 and head.lower().startswith(_GROUNDS) else text


def _reported(text: str) -> str:
    """`text` without the "I've" before what was done."""
    for opening in _REPORTS:
        if text.lower().startswith(opening):
            rest = text[len(opening):]
            for adverb in _REPORT_ADVERBS:
                if rest.lower().startswith(adverb):
                    rest = rest[len(adverb):]
            verb = rest.partition(" ")[0].lower()
            if len(verb) > 3 and (verb.endswith("ed") and verb != "need" or verb in _IRREGULAR):
                return rest
    return text


def tells_little(sentence: str) -> bool:
    """Whether `sentence` only says that all is well or about to begin, not what it is about."""
    lowered = sentence.lower()
    if lowered.startswith(_LITTLE):
        return True
    clause = lowered
    for end in (",", ";", ":", " (", " —", " –", " -", ".", "!"):
        clause = clause.partition(end)[0]
    words = [word for word in clause.split() if word not in ("now", "too", "again", "locally", "successfully")]
    return bool(words) and words[-1] in _PASSING and not _CHECKED.isdisjoint(words)


def capitalized(text: str) -> str:
    """`text` with its first letter in upper case, unless its first word is code such as `gqc.4` or `app.js`."""
    first = text.partition(" ")[0].rstrip(".,:;!?'")
    return text[:1].upper() + text[1:] if first.replace("-", "").replace("'", "").isalpha() else text


def best_sentence(text: str) -> str:
    """The sentence of an assistant's `text` that makes the best title, as a deed; "" when there is none."""
    best, best_score = "", -99.0
    for position, (sentence, listed) in enumerate(_sentences(text, 40)):
        deed, intent = as_deed(sentence)
        if len(deed) < 8:
            continue
        lowered = deed.lower()
        score = -0.15 * position
        score -= 1.5 if intent else 0.0
        score += 0.8 if "`" in deed or "/" in deed or "_" in deed else 0.0
        score += 0.8 if any(mark in lowered for mark in _TELLING) else 0.0
        score += 0.4 if 25 <= len(deed) <= TITLE_LIMIT else 0.0
        score -= 0.8 if deed.endswith(":") else 0.0
        score -= 1.2 if deed.endswith("?") else 0.0
        score -= 0.9 if listed else 0.0
        score -= 2.0 if tells_little(deed) else 0.0
        score -= 0.5 if len(deed) > 2 * TITLE_LIMIT else 0.0
        score -= 0.7 if len(deed.split()) < 4 else 0.0
        score -= 1.0 if deed[0] == "`" and len(deed.split()) < 3 else 0.0
        if score > best_score:
            best, best_score = deed, score
    return shorten(best)


def shorten(text: str, limit: int = TITLE_LIMIT) -> str:
    """`text` on one line of at most `limit` characters, cut between words, without a closing period or colon."""
    text = " ".join(text.split()).rstrip(".:,; ")
    if len(text) <= limit:
        return text
    cut = text[:limit - 1]
    space = cut.rfind(" ")
    return cut[:space if space > limit // 2 else limit - 1].rstrip(" ,;:—-") + "…"
