"""Searches as people type them, each with the memory that must come first among eighty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memlite.search.controller import Answer, search
from memlite.search.request import SearchRequest
from memlite.store.database import Database, open_database
from small_store import NOW, fill

CASES = [
    # Identifiers, whole and by their parts, however they are written.
    ("loadSessionMessages", "sessions"), ("load_session_messages", "sessions"), ("load session messages", "sessions"),
    ("load-session-messages", "sessions"), ("LOADSESSIONMESSAGES", "sessions"), ("session messages memory", "sessions"),
    ("fetch_user_profile", "snake"), ("fetchUserProfile", "snake"), ("user profile rename", "snake"),
    ("date-range-picker", "kebab"), ("date range picker focus", "kebab"), ("DateRangePicker", "kebab"),
    ("HTTPServerError", "pascal"), ("http server error boundary", "pascal"), ("parsePrice", "float"),
    ("parse_price", "comma"), ("DATABASE_URL", "env"), ("database url sslmode", "env"),
    ("test_checkout_total", "flaky"),
    ("idempotency_key", "idempotent"), ("prefetch_related", "right-cause"),
    # Paths by any part.
    ("src/payments/webhooks.py", "signature"), ("webhooks.py", "signature"), ("prices.py", "comma"),
    ("ProductTable.css", "header"), ("web/src/ErrorBoundary.tsx", "pascal"), ("0042_add_channel", "migration"),
    (".github/workflows/build.yml", "enoent"), ("stock/reserve", "deadlock"), ("src/upload.rs", "tool-retry"),
    # Code with punctuation.
    ("C++", "cpp"), ("C#", "csharp"), (".NET", "csharp"), ("order->customer", "arrow"), ("Barcode::decode", "scope"),
    ("std::string_view", "scope"), ("--dry-run", "flag"), ("--force-with-lease", "flag-force"), ("AB-1234/7", "sku"),
    ("^DE[0-9]{9}$", "regex"), ("<date-range-picker>", "kebab"), ("X-Requested-With", "cors"), ("tail -F", "tool-tail"),
    ("src/scan.rs:88", "tool-utf8"), ("?sslmode=require", "env"),
    # Error messages by fragments.
    ("no such file or directory dist/manifest.json", "enoent"), ("ENOENT", "enoent"),
    ("No signatures found matching the expected signature", "signature"), ("deadlock detected ShareLock", "deadlock"),
    ("no pg_hba.conf entry for host", "env"), ("called `Result::unwrap()` on an `Err` value", "tool-utf8"),
    ("thread 'main' panicked", "tool-utf8"), ("psycopg2.errors.DeadlockDetected", "deadlock"),
    # Phrases, exclusions, beginnings.
    ('"exponential backoff"', "retry"), ('"coyote time"', "jump"), ('"tax service" -because', None),
    ("retry -webhook -webhooks", "tool-retry"), ('webhook -"signature check" -retry -retries', None),
    ("crackl*", "sound"), ("achiev*", "steam"), ("idempot*", "idempotent"), ('"port 8123"', "port-new"),
    # Scripts without spaces: one, two and more characters, mixed with Latin.
    ("登录", "login-zh"), ("登录错误", "login-zh"), ("修复登录", "login-zh"), ("购物车", "cart-zh"), ("价", "cart-zh"),
    ("支付宝", "pay-zh"), ("支付方式", "pay-zh"), ("redis缓存", "mixed-zh"), ("Redis 缓存", "mixed-zh"),
    ("密码", "login-zh"),
    ("文字化け", "ja"), ("確認メール", "ja"), ("ログイン", "ja-kana"), ("ボタンの色", "ja-kana"),
    ("UTF-8でエンコード", "ja"),
    ("주소 검색", "ko"), ("한국어 주소", "ko"), ("결제", "ko-pay"), ("ชำระเงิน", "th"), ("รูปภาพ", "th"),
    ('"登录错误"', "login-zh"), ("登录 -购物车", "login-zh"),
    # Other scripts, accents, emoji.
    ("кнопка оплаты", "ru"), ("Safari", "ru"), ("اليمين", "ar"), ("cafe zoe", "cafe"), ("CAFÉ", "cafe"),
    ("Muller", "strasse"), ("Straße", "strasse"), ("🚀", "rocket"), ("🎉", "party"), ("🚀 release button", "rocket"),
    # Filters of the language.
    ("retry project:log-tool", "tool-retry"), ("type:decision prices", "cents"),
    ("file:webhook_retry jitter", "retry-jitter"),
    ("concept:trade-off carts", "redis"), ("branch:fix/utf8", "tool-utf8"), ("kind:prompt em dash", "P-ask"),
    ("kind:summary invoices", "S-turn"), ("since:2026-11-28 header", "header"), ("before:2026-03-01 backup", "backup"),
    ("after:2026-11-29", "newsletter"), ("until:2026-02-12", "backup"), ("since:1d", "newsletter"),
    ("path:catalog type:bugfix", "comma"), ('type:decision "full text"', "search"),
    ("kind:prompt since:2026-10-22", "P-plan"),
    ("project:game project:log-tool parse", "tool-parse"), ("type:feature,bugfix webhook signature", "signature"),
    # Questions of time.
    ("what did we do yesterday", "header"), ("what did I do today", "newsletter"),
    ("webhook retries last week", "retry"), ("what did we decide in may", "redis"), ("backup on 12 february", "backup"),
    ("webhook retries in october", "retry-jitter"), ("3 days ago flaky", "flaky"), ("friday test", "flaky"),
    ("what did we decide before june", "redis"), ("what broke on 2026-08-09", "enoent"),
    ("commits after 19 november release", "tool-release"), ("dropdown last wednesday", "dropdown"),
    # Questions in natural words.
    ("why do we keep prices as integers?", "cents"), ("why did we choose redis for carts", "redis"),
    ("how do I run the importer without changing anything", "flag"),
    ("what was the cause of the slow checkout", "right-cause"),
    ("which compiler does the barcode reader need", "cpp"), ("why was elasticsearch rejected", "search"),
    ("how are save games written", "save"), ("are there any doubled invoices", "S-turn"),
    ("what should never be used in customer mails", "P-ask"), ("where is the DE VAT number checked", "regex"),
    ("did we fix the crackling sound", "sound"), ("which licence has the tool", "tool-license"),
    ("what did we do about webhook retries last week", "retry"), ("how fast is the scanner", "tool-bench"),
    # The later, correcting record before the earlier, wrong one; repetitions behind what tells more.
    ("checkout is slow because of the tax service", "right-cause"), ("dev server port", "port-new"),
    ("which port does the dev server listen on", "port-new"), ("why did the test suite fail", "why-failed"),
    ("run the whole test suite", "suite-3"),
    # Synonyms and stems.
    ("prices with commas", "comma"), ("images flicker camera", "sprite"), ("parsing logs", "tool-parse"),
    ("delivering newsletters", "newsletter"), ("database dump at night", "backup"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, dict[str, str]]]:
    """The filled store and the ids of its memories."""
    with open_database(str(tmp_path_factory.mktemp("cases"))) as database:
        yield database, fill(database)


def answer(database: Database, query: str) -> Answer:
    """The answer at the store's moment."""
    return search(database, SearchRequest(query=query), now=NOW)


@pytest.mark.parametrize(("query", "first"), CASES, ids=[query for query, _ in CASES])
def test_memory_asked_for_comes_first(store: tuple[Database, dict[str, str]], query: str, first: str | None) -> None:
    """None: there is no such memory."""
    database, cited = store
    keys = {ref: key for key, ref in cited.items()}
    found = [keys[hit.record.ref] for hit in answer(database, query).hits]
    assert found[:1] == ([first] if first else []), found[:5]


def test_table_is_large_and_the_store_larger_than_any_answer(store: tuple[Database, dict[str, str]]) -> None:
    """Sixty cases and sixty memories at least, and no case is asked twice."""
    database, cited = store
    assert len({query for query, _ in CASES}) == len(CASES) >= 60 and len(cited) >= 60
    assert {first for _, first in CASES if first} <= set(cited)


def test_the_wrong_one_is_found_too_but_later(store: tuple[Database, dict[str, str]]) -> None:
    """The control: the case of a corrected memory is a matter of order."""
    database, cited = store
    found = [hit.record.ref for hit in answer(database, "checkout is slow because of the tax service").hits]
    assert found[:2] == [cited["right-cause"], cited["wrong-cause"]]
    hits = answer(database, "dev server port").hits
    assert (hits[0].record.ref, hits[0].similar) == (cited["port-new"], 1)
    assert cited["port-old"] in [hit.record.ref for hit in hits[1:]]


def test_repeated_runs_are_one_line(store: tuple[Database, dict[str, str]]) -> None:
    """The newest stands for the others."""
    database, cited = store
    hits = search(database, SearchRequest(query="run the whole test suite", limit=100), now=NOW).hits
    assert hits[0].record.ref == cited["suite-3"] and hits[0].similar == 2
    found = [hit.record.ref for hit in hits]
    assert found[1] == cited["why-failed"] and {cited["suite-1"], cited["suite-2"]} <= set(found[2:])
