"""A small but realistic store for the hand-written search cases: eighty memories of a web shop, a tool and a game."""

from __future__ import annotations

import datetime
from typing import Any

from memlite.model import Memory, Observation, Project, Prompt, Session, Summary
from memlite.store import write
from memlite.store.database import Database

NOW = int(datetime.datetime(2026, 11, 30, 12, 0).timestamp() * 1000)    # a Monday, local noon
SHOP, TOOL, GAME = (Project(root=f"/code/{name}", name=name) for name in ("shop", "log-tool", "game"))


def at(month: int, day: int, hour: int = 10) -> int:
    """A local moment of 2026 in epoch ms."""
    return int(datetime.datetime(2026, month, day, hour).timestamp() * 1000)


def seen(title: str, narrative: str = "", type: str = "discovery", **fields: Any) -> Observation:
    """An observation; `when` is its moment."""
    moment = fields.pop("when", at(9, 1))
    return Observation(title=title, narrative=narrative, type=type, created_at_epoch=moment, **fields)


# key → memory. The keys are what the cases name.
OF_SHOP: dict[str, Memory] = {
    "float": seen("Prices are parsed with float", "parsePrice reads the decimal comma of German price lists as a "
                  "thousands separator.", files_read=["src/catalog/prices.py"], when=at(9, 2)),
    "comma": seen("Accept a decimal comma in German price lists", "parse_price now swaps comma and point by locale. "
                  "All 14 importer tests pass.", "bugfix", facts=["ran `pytest tests/catalog`: 14 passed"],
                  files_modified=["src/catalog/prices.py", "tests/catalog/test_prices.py"], branch="fix/comma",
                  concepts=["problem-solution"], when=at(9, 3)),
    "cents": seen("Keep prices as integers of cents", "We decided against Decimal columns because SQLite stores them "
                  "as text. Money is an integer of cents everywhere, formatted only in templates.", "decision",
                  concepts=["trade-off", "why-it-exists"], when=at(9, 4)),
    "retry": seen("Retry failed payment webhooks with exponential backoff", "Stripe gives up after three days; we now "
                  "retry after 1, 2, 4 … minutes and stop after ten attempts.", "feature",
                  files_modified=["src/payments/webhook_retry.py"], concepts=["what-changed"], when=at(11, 24)),
    "retry-jitter": seen("Add jitter to the webhook retries", "All workers woke up in the same second after an "
                         "outage.", "bugfix", files_modified=["src/payments/webhook_retry.py"], when=at(10, 12)),
    "signature": seen("Webhook signature check failed behind the proxy", "The proxy rewrote the body's line feeds, so "
                      "the HMAC differed: `SignatureVerificationError: No signatures found matching the expected "
                      "signature for payload`. Read the raw body instead.", "bugfix",
                      files_modified=["src/payments/webhooks.py"], when=at(10, 1)),
    "idempotent": seen("Orders are created once per idempotency key", "A unique index on `orders.idempotency_key` "
                       "makes the second POST return the first order.", "feature", when=at(8, 20)),
    "wrong-cause": seen("Checkout is slow because of the tax service", "I think the tax service's latency explains "
                        "the slow checkout page.", when=at(10, 5, 9)),
    "right-cause": seen("Checkout is slow because of an N+1 query, not the tax service", "Correction: the tax service "
                        "answers in 20 ms. The checkout page loads each cart line in a query of its own; "
                        "prefetch_related fixed it: 2.3 s to 180 ms.", "bugfix",
                        files_modified=["src/checkout/views.py"], when=at(10, 5, 15)),
    "port-old": seen("The dev server listens on port 8000", "Start it with make serve, port 8000.", when=at(3, 1)),
    "port-new": seen("The dev server listens on port 8123", "Start it with make serve, port 8123.", when=at(6, 1)),
    "sessions": seen("loadSessionMessages reads a whole session into memory", "loadSessionMessages() allocates 400 MB "
                     "for long chats; stream them instead.", files_read=["web/src/chat/loadSessionMessages.ts"]),
    "snake": seen("rename fetch_user_profile to fetch_account", "All callers of fetch_user_profile are changed.",
                  "refactor", files_modified=["src/accounts/api.py"]),
    "kebab": seen("The date-range-picker element loses its focus", "In Firefox <date-range-picker> blurs on scroll.",
                  "bugfix", files_modified=["web/src/elements/date-range-picker.ts"]),
    "pascal": seen("HTTPServerError is swallowed by the ErrorBoundary", "React's boundary hid every HTTPServerError.",
                   files_read=["web/src/ErrorBoundary.tsx"]),
    "env": seen("DATABASE_URL must end in ?sslmode=require", "The managed Postgres refuses plain connections: FATAL: "
                "no pg_hba.conf entry for host, SSL off.", concepts=["gotcha"], when=at(7, 7)),
    "migration": seen("Migration 0042 locks the orders table", "Adding a NOT NULL column rewrote 9 million rows. "
                      "Split it into add, backfill and constrain.", concepts=["gotcha"], when=at(7, 15),
                      files_modified=["src/orders/migrations/0042_add_channel.py"]),
    "deadlock": seen("Deadlock detected between stock and order updates", "psycopg2.errors.DeadlockDetected: deadlock "
                     "detected DETAIL: Process 4711 waits for ShareLock. Lock rows in order of their ids.", "bugfix",
                     files_modified=["src/stock/reserve.py"], when=at(8, 2)),
    "enoent": seen("Build fails in CI: ENOENT: no such file or directory, open 'dist/manifest.json'",
                   "The asset step ran after the copy step.", "bugfix", files_modified=[".github/workflows/build.yml"],
                   when=at(8, 9)),
    "cors": seen("CORS preflight is answered by the CDN", "OPTIONS requests never reached us; allow the header "
                 "X-Requested-With in the CDN's rules.", concepts=["gotcha"]),
    "cpp": seen("The barcode reader is written in C++ and linked by cffi", "Needs a C++17 compiler on the build "
                "machine."),
    "csharp": seen("The till's driver is a C# service", "It speaks JSON over a named pipe; .NET 8 is installed by the "
                   "image."),
    "clang": seen("The receipt printer's firmware is plain C", "Compiled with -Os for 32 KB of flash."),
    "arrow": seen("Null pointer: order->customer is unset for guests", "order->customer must be checked before "
                  "->email.", "bugfix"),
    "scope": seen("std::string_view outlives the buffer in Barcode::decode", "Barcode::decode returned a view of a "
                  "freed buffer.", "bugfix"),
    "flag": seen("Run the importer with --dry-run first", "`manage.py import_prices --dry-run` prints what it would "
                 "do."),
    "flag-force": seen("The deploy script needs --force-with-lease", "A plain push is refused after a rebase."),
    "regex": seen("The VAT number regex ^DE[0-9]{9}$ rejects spaces", "Strip spaces before matching ^DE[0-9]{9}$.",
                  "bugfix"),
    "sku": seen("SKU AB-1234/7 has a slash and breaks the URL", "Quote the SKU in product links.", "bugfix"),
    "flaky": seen("test_checkout_total is flaky", "It depends on the time zone of the runner; freeze the clock.",
                  files_modified=["tests/checkout/test_total.py"], when=at(11, 27)),
    "header": seen("Make the product table's header sticky", "position: sticky with a z-index of 10.", "feature",
                   files_modified=["web/src/ProductTable.css"], when=at(11, 29)),
    "newsletter": seen("Newsletter sign-up sends a double opt-in mail", "Consent is stored with the time and the IP.",
                       "feature", when=at(11, 30, 9)),
    "dropdown": seen("Close the country dropdown on Escape", "Keyboard users were trapped.", "bugfix",
                     when=at(11, 25)),
    "redis": seen("Use Redis for the carts, not the database", "We chose Redis with a TTL of two weeks because "
                  "abandoned carts filled the database.", "decision", concepts=["trade-off"], when=at(5, 5)),
    "search": seen("Product search uses Postgres full text, not Elasticsearch", "Elasticsearch was rejected: one more "
                   "service to run for 20,000 products.", "decision", when=at(4, 4)),
    "backup": seen("Rotate the nightly database backup to cold storage", "pg_dump at 02:00, thirty days kept.",
                   "feature", when=at(2, 12)),
    "suite-1": seen("Run the whole test suite — 297 tests, 0 failures", "Now let me run the whole suite.",
                    when=at(9, 10), facts=["ran `pytest`: 297 passed"]),
    "suite-2": seen("Run the whole test suite — 301 tests, 0 failures", "Now let me run the whole suite.",
                    when=at(9, 12), facts=["ran `pytest`: 301 passed"]),
    "suite-3": seen("Run the whole test suite — 309 tests, 2 failures", "Now let me run the whole suite.",
                    when=at(9, 14), facts=["ran `pytest`: 307 passed, 2 failed"]),
    "why-failed": seen("The test suite failed because of the missing locale de_DE", "Install the locale in the image.",
                       "bugfix", when=at(9, 15)),
    "cafe": seen("Café Zoë's menu shows broken accents", "The export was Latin-1; write UTF-8 with a BOM.", "bugfix"),
    "strasse": seen("Addresses with Straße and Müller sort wrongly", "Use the collation de-DE-x-icu.", "bugfix"),
    "rocket": seen("The 🚀 button starts the release", "Only admins see it.", "feature"),
    "party": seen("Confetti 🎉 after the first order", "Shown once per account.", "feature"),
    "login-zh": seen("修复登录错误", "用户登录时密码含有特殊字符会失败。已经改为先编码再发送。", "bugfix"),
    "cart-zh": seen("购物车的价格显示不正确", "折扣没有计算在内。", "bugfix"),
    "pay-zh": seen("支付页面支持支付宝", "新增支付方式。", "feature"),
    "mixed-zh": seen("用Redis缓存商品列表", "缓存时间为五分钟，过期后重新读取。", "feature"),
    "ja": seen("注文確認メールが文字化けする", "件名をUTF-8でエンコードする。", "bugfix"),
    "ja-kana": seen("ログイン画面のボタンの色を変更", "アクセシビリティのため。", "change"),
    "ko": seen("한국어 주소 검색이 느리다", "우편번호 색인을 추가했다.", "bugfix"),
    "ko-pay": seen("결제 오류 메시지를 번역했다", "한국어 번역이 빠져 있었다.", "change"),
    "th": seen("หน้าชำระเงินโหลดช้า", "ลดขนาดรูปภาพ", "bugfix"),
    "ru": seen("Кнопка оплаты не работает в Safari", "Обработчик события не вызывается.", "bugfix"),
    "ar": seen("واجهة المتجر من اليمين إلى اليسار", "تم عكس القوائم.", "feature"),
    "S-turn": Summary(request="why are the invoices doubled",
                      completed="The nightly job ran twice on two schedulers. A lock in Redis now makes it one.",
                      next_steps="Tell the accountants which invoices to cancel.", created_at_epoch=at(10, 20),
                      files_edited=["src/invoices/job.py"]),
    "P-ask": Prompt(text="please never use the em dash in customer mails", created_at_epoch=at(10, 21)),
    "P-plan": Prompt(text="plan the move from jQuery to Svelte for the wish list page", created_at_epoch=at(10, 22)),
}
OF_TOOL: dict[str, Memory] = {
    "tool-parse": seen("Parse log lines with a hand-written scanner", "A regular expression took 40 s for 2 GB.",
                       "decision", files_modified=["src/scan.rs"], branch="main", when=at(6, 6)),
    "tool-retry": seen("Retry uploads of logs three times", "With a pause of a second.", "feature", when=at(11, 26),
                       files_modified=["src/upload.rs"], branch="main"),
    "tool-color": seen("NO_COLOR turns the colours off", "Pipes do so too.", "feature", branch="main"),
    "tool-utf8": seen("Invalid UTF-8 in logs panics", "thread 'main' panicked at src/scan.rs:88: called "
                      "`Result::unwrap()` on an `Err` value: Utf8Error. Use from_utf8_lossy.", "bugfix",
                      files_modified=["src/scan.rs"], branch="fix/utf8"),
    "tool-tail": seen("Follow rotated files like tail -F", "Watch the inode.", "feature", branch="tail"),
    "tool-release": seen("chore: release 1.4.0", "Binaries for Linux and macOS.", "change", when=at(11, 20),
                         facts=["committed 9f8e7d6: chore: release 1.4.0"]),
    "tool-bench": seen("Scanner reads 1.2 GB/s", "Measured with hyperfine on a warm cache."),
    "tool-license": seen("The license is MIT OR Apache-2.0 now", "All contributors agreed.", "decision"),
}
OF_GAME: dict[str, Memory] = {
    "jump": seen("Jumping feels late", "Buffer the jump key for 100 ms and allow coyote time of 80 ms.", "bugfix"),
    "sprite": seen("Sprites flicker when the camera moves", "Snap the camera to whole pixels.", "bugfix"),
    "save": seen("Save games are written atomically", "Write a temporary file, then rename it.", "feature"),
    "sound": seen("Sound crackles on Linux", "Raise the buffer to 1,024 frames.", "bugfix"),
    "level": seen("Levels are stored as Tiled JSON", "The editor is Tiled 1.10.", "decision"),
    "physics": seen("Use a fixed time step for physics", "60 Hz, with interpolation when drawing.", "decision"),
    "menu": seen("The pause menu keeps the music playing", "As the testers asked.", "change"),
    "steam": seen("Steam achievements unlock twice", "Guard with the local save.", "bugfix"),
    "enemy": seen("Enemies walk off ledges", "Cast a ray one tile ahead.", "bugfix"),
    "credits": seen("Scroll the credits slower", "Thirty pixels a second.", "change"),
}


def fill(database: Database) -> dict[str, str]:
    """Store them all. Returns the id to cite of each key."""
    cited: dict[str, str] = {}
    with database.transaction():
        for project, memories in ((SHOP, OF_SHOP), (TOOL, OF_TOOL), (GAME, OF_GAME)):
            for number, (key, memory) in enumerate(memories.items()):
                memory.uuids = [f"row-{project.name}-{key}"]
                owner = Session(session_id=f"{project.name}-{number // 6}", project=project)
                assert write.store(database, memory, owner) is not None, key
                cited[key] = memory.ref
    return cited
