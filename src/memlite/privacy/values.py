"""Is this value, standing where a secret would stand, a secret: or a reference to one, a placeholder, a plain word?

Decided here, because precision is half of the promise: `password=hunter2` goes; `password=${DB_PASSWORD}`,
`token = get_token()`, `api_key: "<your-key>"`, `password=***`, `password: str`, `token=settings.token` and
`secret: changeme` stay, since they tell what was done and betray nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Whole values, or all the words of a value, that stand in for a secret or describe one.
_DESCRIBING = """
a access add an and any api apikey apitoken argument arguments array as auth authorization bad bar base64 basic
baz bearer blank bool boolean buffer byte bytes change changeit changeme char client config confirm confirmation
cookie correct csrf curve25519 default demo dict dummy ed25519 empty encrypted enter env environ environment
error errors example fake false field fields fill fixme flag flags float foo for from good hash here hex hidden
id ids in input insert int integer invalid is it its json jwt key keys label length list map masked max md5 me
message min mock my name new nil no none not null nullable num number numeric oauth oauth2 object of off old on
option optional options or our parameter parameters pass passcode passphrase passwd password paste placeholder
plain plaintext private public put pw pwd qux raw redacted refresh removed replace require required requires
sample scrubbed secp256k1 secret secrets secure session set settings sha sha1 sha256 sha512 some str string
strong stub tbd test tester testing tests text the this to todo token tokens true type undefined unknown unset
user username userpass uuid val valid value values varchar void weak with wrong x25519 x509 yes your
"""
_NUMBERED = """
aes api app arg aws base bytes col config db ec ecdsa ed env es field float hash hs http id input int item jwt
key line md name node num oauth opt p param part pass password pbkdf pkcs row rs rsa s secret sha step string
svc t test text tok token type user utf uuid v value x
"""
_STAND_INS = frozenset(_DESCRIBING.split())
# Words that a number may follow without making a secret of them: `sha256`, `arg1`.
_WORDS_WITH_NUMBERS = frozenset(_NUMBERED.split())

_REFERENCE_MARKS = ("${", "$(", "{{", "}}", "#{", "%(", "<%", "{}", "%s", "%v", "%d", "$[", "@{")
_MARKING = frozenset("$%#{}<@")
_REFERENCE_STARTS = ("env:", "env.", "vault:", "file:", "arn:", "ssm:", "ref+", "kms:", "sops:", "enc[",
                     "{cipher}", "process.env", "os.environ", "os.getenv", "secrets.",
                     "secrets/", "projects/", "var.", "data.", "!ref", "!vault", "!sub", "!secret", "keyring:")
_FILE_ENDINGS = (".pem", ".key", ".crt", ".cer", ".p12", ".pfx", ".jks", ".json", ".yml", ".yaml", ".toml", ".env",
                 ".txt", ".py", ".js", ".ts", ".tsx", ".go", ".rs", ".rb", ".sh", ".md", ".html", ".css")
_PAIRS = {"<": ">", "[": "]", "{": "}", "%": "%", "(": ")", "*": "*", "«": "»"}
_DIGITS = frozenset("0123456789")
_CODE = frozenset("(){}[];=+,<>\\\n")
_HEX = frozenset("0123456789abcdefABCDEF")
_MASKS = frozenset("*xX.•-_#?…●∙= ")

PASSWORD, OTHER = "password", "secret"


def is_secret(value: str, kind: str, *, quoted: bool = False, explicit: bool = False) -> bool:
    """Whether `value` is to be taken out.

    `kind` is PASSWORD, which a person may have chosen, or OTHER, which a machine made and so holds digits. `explicit`
    says that the place takes nothing but a secret (`DB_PASSWORD=`, `--token=`, `?api_key=`): then a plain word is one
    too. `quoted` says that it is a literal, so no name of a variable or type.
    """
    value = value.strip()
    shortest = (4 if kind == PASSWORD else 6) if quoted or explicit else (6 if kind == PASSWORD else 8)
    if len(value) < shortest or _is_stand_in(value, kind) or _is_reference(value, quoted):
        return False
    if len(value.split(None, 1)) > 1:
        # Text for a person to read, or code round a string; only an explicit passphrase has spaces.
        return explicit and quoted and kind == PASSWORD and _CODE.isdisjoint(value)
    if explicit:
        return kind == PASSWORD or not value.isdigit() or len(value) >= 8
    if quoted and kind == PASSWORD:
        return True
    if _DIGITS.isdisjoint(value):
        return kind == PASSWORD and any(symbol in value[1:-1] for symbol in "!@#$%^*~") and "(" not in value
    if value.replace(".", "").isdigit():
        return kind == PASSWORD and (quoted or len(value) >= 6) or len(value) >= 16
    if quoted and len(value) >= 20 and value.isalnum() and not value.islower() and not value.isupper():
        return True   # a literal of that shape is hardly ever a name, and chance makes words now and then
    return not _is_wordy(value)


def is_random(value: str) -> bool:
    """Whether a value of a known form is a real one: not `ghp_xxxxxxxxxxxx…`, which documentation is full of."""
    return len(set(value)) >= 8 and not any(run in value for run in ("xxxx", "XXXX", "****", "....", "0000000000"))


def is_strong(value: str) -> bool:
    """Whether `value` looks random by itself: letters and digits mixed as no word, name or version mixes them."""
    return (not _DIGITS.isdisjoint(value) and not value.isdigit()
            and not _is_wordy(value) and not _is_stand_in(value, OTHER) and not _is_reference(value, quoted=False))


def is_no_value(value: str) -> bool:
    """Whether `value` is a placeholder (`***`, `<token>`, `changeme`) or a reference (`$PASS`), or nothing at all."""
    return not value.strip() or _is_stand_in(value, PASSWORD) or _is_reference(value, quoted=True)


def _is_stand_in(value: str, kind: str) -> bool:
    if len(value) > 1 and _PAIRS.get(value[0]) == value[-1] and not value.startswith("[redacted:"):
        return True
    if len(value) >= 3 and _MASKS.issuperset(value) or "xxxx" in value.lower() or "***" in value or "..." in value:
        return True
    if value.endswith("…"):
        return True
    named = False
    for word in _words(value):
        if word.lower() in _STAND_INS:
            named = True
        elif kind == PASSWORD or not word.isdigit() or len(word) > 4:
            return False
    return named


def _is_reference(value: str, quoted: bool) -> bool:
    lowered = value.lower()
    if lowered.startswith(_REFERENCE_STARTS) or not _MARKING.isdisjoint(value) and any(
            mark in value for mark in _REFERENCE_MARKS):
        return True
    if lowered.partition("://")[0].isalpha() and "://" in value:
        return True   # an address; what is secret in it has rules of its own
    if value[0] == "#" and len(value) in (4, 7, 9) and _HEX.issuperset(value[1:]):
        return True   # a colour: `Token: "#d8dee9"`
    if value[0] in "$%" and _is_name(value[1:].rstrip("%")):
        return True
    if not quoted and value[0] in "&*@!:" and _is_name(value[1:].replace(".", "_")):
        return True
    if value.startswith(("/", "./", "../", "~/", "\\\\")) or value[1:3] == ":\\":
        return value.count("/") + value.count("\\") > 1 and not any(symbol in value for symbol in "+=!@#$%^&*")
    if lowered.endswith(_FILE_ENDINGS) and not set("!@#$%^&* ") & set(value):
        return True
    if quoted:
        return False
    # A constant, or an attribute of something: code, not a literal.
    return (_is_name(value) and "_" in value.strip("_") and value.isupper() and not any(
        character.isdigit() for character in value)
        or "." in value and all(_is_name(part) for part in value.split(".")) and not value.isupper())


def _is_name(text: str) -> bool:
    return text.isidentifier()


def _is_wordy(value: str) -> bool:
    """Whether every part of `value` is a word, a short number, or a word that goes with a number (`sha256`, `v2`)."""
    short = 0
    for word in _words(value):
        letters = word.rstrip("0123456789")
        number = word[len(letters):]
        if word.lower() in _STAND_INS:
            continue
        if letters and number:
            if letters.lower() not in _WORDS_WITH_NUMBERS or len(number) > min(4, 2 * len(letters)):
                return False
        elif number and len(number) > 4 or letters and not letters.isalpha():
            return False
        short += len(letters) < 3
    # Cut at its capitals, a random run is many short words; a name has one at most.
    return short < 2 or not value.isalnum()


def _words(value: str) -> Iterator[str]:
    """`value` cut at everything that is no letter or digit, and before a capital letter that begins a word."""
    begin = 0
    small = False
    for at, character in enumerate(value):
        if not character.isalnum():
            if at > begin:
                yield value[begin:at]
            begin = at + 1
        elif small and at > begin and character.isupper():
            yield value[begin:at]
            begin = at
        small = not character.isupper()
    if begin < len(value):
        yield value[begin:]
