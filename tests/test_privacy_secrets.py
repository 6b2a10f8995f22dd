"""Secrets are taken out in place and whole; what is none is left alone."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memlite.privacy import clean, clean_named
from memlite.privacy.assignments import kind_of
from memlite.privacy.rules import RULES, Rule
from memlite.privacy.secrets import redact
from secret_examples import filled, random_run

_POSITIVE = [pytest.param(rule, text, id=f"{rule.name}-{number}")
             for rule in RULES for number, text in enumerate(rule.positive)]
_NEGATIVE = [pytest.param(text, id=f"{rule.name}-{number}")
             for rule in RULES for number, text in enumerate(rule.negative)]


@pytest.mark.parametrize(("rule", "text"), _POSITIVE)
def test_every_positive_example_is_gone_whole_and_named(rule: Rule, text: str) -> None:
    for seed in range(10):
        given_text, needles = filled(text, random.Random(seed))
        left = redact(given_text)
        assert [needle for needle in needles if len(needle) > 3 and needle in left] == []
        assert f"[redacted:{rule.name}]" in left
        assert redact(left) == left


@pytest.mark.parametrize(("rule", "text"), _POSITIVE)
def test_a_secret_is_gone_from_text_that_is_json_and_json_in_json(rule: Rule, text: str) -> None:
    for seed in range(5):
        given_text, needles = filled(f"before\n{text}\nafter", random.Random(seed))
        # What a needle looks like once escaped; a quote in it doubles with each level.
        for level in range(3):
            left = redact(given_text)
            assert [needle for needle in needles if len(needle) > 3 and needle in left] == [], level
            assert "before" in left
            given_text = json.dumps({"command": given_text, "timeout": 5})


@pytest.mark.parametrize(("rule", "text"), _POSITIVE)
def test_a_secret_is_found_wherever_it_stands(rule: Rule, text: str) -> None:
    given_text, needles = filled(text, random.Random(6))
    left = redact("It was said and done.\n" * 1000 + given_text + "\nIt was said and done." * 1000)
    assert [needle for needle in needles if len(needle) > 3 and needle in left] == []
    assert left.startswith("It was said and done.\n" * 1000)


@pytest.mark.parametrize("text", _NEGATIVE)
def test_every_negative_example_is_unchanged(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_examples_and_a_name_no_rule_takes_for_a_secret(rule: Rule) -> None:
    assert rule.positive
    assert rule.negative
    assert (rule.pattern == "") is (rule.finder is not None)
    mark = f"see [redacted:{rule.name}], [redacted:{rule.name}]: x = [redacted:{rule.name}]"
    assert redact(mark) == mark
    if not rule.anchored:
        assert all(keyword == keyword.lower() for keyword in rule.keywords)


def test_the_rules_are_many_and_each_is_named_once() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names)) >= 25


@pytest.mark.parametrize("text", [
    "commit 3f2a9c1b5d7e8f0a1b2c3d4e5f60718293a4b5c6",
    "Merge 3f2a9c1..d7e8f0a into main",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "integrity sha512-" + "Ab1+/" * 17 + "==",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 8,
    "def login(user: str, password: str) -> Token:\n    token = get_token(user, password)\n    return token",
    'password = os.environ["DB_PASSWORD"]\nsecret = config.get("secret")',
    "const { password, token } = req.body;\nif (!token) throw new Error('token: missing');",
    "export interface Login { password: string; token?: string; apiKey: string | null }",
    "password: ${DB_PASSWORD}\ntoken: {{ vault_token }}\nsecret: !Ref DbSecret\nkey: $(cat key.pem)",
    "DB_PASSWORD=***\nAPI_KEY=<your-api-key>\nTOKEN=xxxxxxxxxxxx\nSECRET=changeme\nPASSWORD=\n",
    "PWD=/home/u/project\nSSH_AUTH_SOCK=/tmp/ssh-XXXX/agent.1\nGPG_KEY_FILE=/run/secrets/key.pem",
    "max_tokens: 4096, input_tokens: 18231, cache_read_input_tokens: 901231, total_tokens=1234567890",
    "for token in tokens:\n    if token.kind == 'string1':\n        key = token.value[3]",
    "primary key (id), foreign key (user_id), key=lambda x: x[1], sort_key='name2', keyCode: 13",
    "The secret_key_base is documented; the password is required and the token expires in 30 days.",
    "secrets:\n  - db_password\n  - api_key2\nimagePullSecrets: [regcred1]",
    "Authorization: Bearer <token>\nCookie: <cookie>\nSet-Cookie: theme=dark; Path=/",
    "curl -H \"Authorization: Bearer $TOKEN\" -u $USER:$PASS https://api.example.org/v1",
    "git clone https://github.com/o/r.git && git push git@github.com:o/r.git main",
    "mysql -u root -p app < dump.sql; psql -h localhost -p 5432",
    "next_token = 'abcdefABCDEF0123456789', nextPageToken: 'CAUQAA1234567890'",
    "ERROR: password authentication failed for user \"app1\"",
    "--password-stdin, --token-file token1.txt, --no-token, --key key.pem",
    "✔ tests pass: 128\nbypass=1234567890\ncompass: north42",
    "E       assert 'token1' == 'token2'",
    "private_key: PKCS7PrivateKeyTypes, signing_key: Ed25519PrivateKey,\n",
    '{"lastModifiedSecret": 1556311319.069, "accessKeyAge": 90}',
    "See RFC 6750, section 2.1: Bearer scheme; RFC 7617 Basic authentication",
    'Context: []byte("DB_PASSWORD=" + fromVault),\n\t\tOther: "x"',
    r'Context: []byte(\"DB_PASSWORD=\" + fromVault),\n\t\tOther: \"x\"',
    "type=password autocomplete=current-password name=\"password\"",
])
def test_ordinary_text_and_code_is_unchanged(text: str) -> None:
    assert redact(text) == text


def test_only_the_secret_goes_and_what_stands_round_it_stays() -> None:
    chance = random.Random(1)
    for text, left in (
        ("psql postgres://app:{p}@db:5432/shop -c 'select 1'",
         "psql postgres://app:[redacted:url-password]@db:5432/shop -c 'select 1'"),
        ("export GITHUB_TOKEN=ghp_{a36} && gh pr list", "export GITHUB_TOKEN=[redacted:github-token] && gh pr list"),
        ('{"user": "ann", "password": "{a12}", "tries": 3}',
         '{"user": "ann", "password": "[redacted:password]", "tries": 3}'),
        ("Set-Cookie: sid={a24}; Path=/; HttpOnly", "Set-Cookie: sid=[redacted:cookie]; Path=/; HttpOnly"),
        ("curl -H 'Authorization: Bearer {a40}' https://x/y",
         "curl -H 'Authorization: Bearer [redacted:authorization]' https://x/y"),
        ("a\n-----BEGIN RSA PRIVATE KEY-----\n{a64}\n{a20}==\n-----END RSA PRIVATE KEY-----\nb",
         "a\n[redacted:private-key]\nb"),
        ("login with {p}, the password is {p}.", None),
    ):
        given_text, needles = filled(text, chance)
        if left is None:   # the control: alone, what a person made up looks like any word
            assert needles[0] in redact(given_text)
            assert needles[1] not in redact(given_text)
        else:
            assert redact(given_text) == left


def test_a_key_that_is_cut_off_hides_what_follows() -> None:
    body = random_run("a", 64, random.Random(2))
    left = redact(f"cat id_rsa\n-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n{body}\n... truncated")
    assert body not in left
    assert left.startswith("cat id_rsa\n[redacted:private-key]")


def test_two_secrets_side_by_side_both_go() -> None:
    chance = random.Random(3)
    keys = ["AKIA" + random_run("u", 16, chance), random_run("a", 40, chance), "glpat-" + random_run("a", 20, chance)]
    left = redact(f"{keys[0]},{keys[1]};token={keys[2]}")
    assert [key for key in keys if key in left] == []


@pytest.mark.parametrize(("name", "kind"), [
    ("password", "password"), ("dbPassword", "password"), ("PGPASSWORD", "password"), ("MYSQL_PASS", "password"),
    ("db_pw", "password"), ("password2", "password"), ("passwordProd", "password"), ("api_key", "secret"),
    ("X-Api-Key", "secret"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("clientSecret", "secret"), ("_authToken", "secret"),
    ("SECRET_KEY_BASE", "secret"), ("pass", None), ("PWD", None), ("bypass", None), ("password_file", None),
    ("token_count", None), ("tokens", None), ("public_key", None), ("nextToken", None), ("primary_key", None),
    ("key", None), ("keyword", None), ("tokenizer", None), ("compass", None), ("publicKeyToken", None),
])
def test_a_name_tells_whether_its_value_is_secret(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(("name", "value", "left"), [
    ("password", "tr0ub4dor", "[redacted:password]"),
    ("apiKey", "4f2b9c1d7e6a4c3b", "[redacted:secret]"),
    ("password", "${DB_PASSWORD}", "${DB_PASSWORD}"),
    ("tokens", "tr0ub4dor", "tr0ub4dor"),
    ("command", "echo <private>x</private> ok", "echo [private] ok"),
    ("password", "[redacted:password]", "[redacted:password]"),
    ("", "tr0ub4dor", "tr0ub4dor"),
    ("password", "", ""),
])
def test_a_value_is_cleaned_with_its_name_in_mind(name: str, value: str, left: str) -> None:
    assert clean_named(name, value) == left
    assert clean_named(name, left) == left


_FRAGMENTS = sorted({keyword for rule in RULES for keyword in rule.keywords} | set(
    "= : := => \" ' \\\" \\\\\\\" \\n \\ / @ :// , ; { } ( ) [ ] < > & ? -- - _ . % 3D \x1b[31m ${X} $ is value: "
    "password token api_key SECRET= hunter2 hunter22 A1b2C3d4E5f6G7h8I9j0K1l2 eyJ AKIA sk- [redacted:password] "
    "[redacted:jwt] [redacted: Bearer Basic Cookie: Authorization: user:pw@host "
    "-----BEGIN -----END PRIVATE KEY-----".split()) | {" ", "\n"})


@given(st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join))
@example("password=hunter22: token=A1b2C3d4E5f6G7h8I9j0K1l2")
@example("https://user:https://user:hunter22@host")
@example("[redacted:password]=hunter22")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(exclude_categories=()), max_size=300))
@example("İ" * 5 + "password=hunter22")
@example("\x00password\x00=\x00hunter22\x00")
@example("\ud800password=\udc00hunter22")
def test_any_string_is_redacted_without_an_error(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.text(max_size=40), st.text(max_size=40), st.integers(0, 10_000))
def test_a_token_is_found_in_any_surroundings(before: str, after: str, seed: int) -> None:
    token = "ghp_" + random_run("a", 36, random.Random(seed))
    assert token not in redact(f"{before} {token} {after}")
    assert token not in redact(f"{before}\n{token}\n{after}")


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_letters_that_change_their_length_do_not_shift_what_is_taken_out(before: str) -> None:
    assert redact(f"{before}İ\npassword=hunter22 kept").endswith("\npassword=[redacted:password] kept")


def _rounds(texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        redact(text)
    return time.process_time() - start


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_time_grows_with_the_text_and_no_faster(rule: Rule) -> None:
    """Four times the text takes about four times as long; a quadratic rule would take sixteen times."""
    full, needles = filled(rule.positive[0], random.Random(5))
    head = full.split(needles[0])[0]
    units = [rule.keywords[0], rule.keywords[-1] + " ", rule.keywords[0] + '="', full, full[:len(full) * 2 // 3],
             head + "\\n"]

    def repeated(length: int) -> list[str]:
        return [(unit * (length // len(unit) + 1))[:length] for unit in units] + [head + "aB3" * (length // 3)]

    short, long = repeated(8_000), repeated(32_000)
    _rounds(short)
    for _ in range(5):   # others may have the processor while one of the two is measured
        if _rounds(long) < 10 * _rounds(short):
            return
    raise AssertionError(f"{rule.name}: {_rounds(long) / _rounds(short):.1f} times as long for 4 times the text")


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


_MODULES = "import sys; {}; print(sorted({{'re', 'json', 'enum', 'typing', 'dataclasses'}} & set(sys.modules)))"


@pytest.mark.skipif("re" in _run("import sys; print(*sys.modules)").split(), reason="this Python starts with re loaded")
def test_neither_loading_nor_an_ordinary_prompt_imports_re() -> None:
    prompt = "Fix the token refresh in task-runner: `max_tokens=5`, see https://example.org/a?b=c and api_key handling"
    assert _run(_MODULES.format("import memlite.privacy")) == "[]"
    assert _run(_MODULES.format(f"from memlite.privacy import clean; assert clean({prompt!r}) == {prompt!r}")) == "[]"
    assert "'re'" in _run(_MODULES.format(
        "from memlite.privacy import clean; assert 'redacted' in clean('ghp_' + 'aB3dE6gH9jK2' * 3)"))


def test_no_example_in_this_repository_looks_like_a_real_token() -> None:
    """Neither the table nor these tests hold a string that a scanner of a hosting site would report."""
    for text in (text for rule in RULES for text in rule.positive):
        assert re.search(r"(ghp_|glpat-|sk-ant-|AKIA|xoxb-|AIza)[A-Za-z0-9-]{16}", text) is None
