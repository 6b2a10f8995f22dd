"""The table of secrets: what gives each away, how it looks, and what must and must not be taken for one.

A rule's keywords are looked for first, as plain text; only where one occurs is its pattern compiled and run, so a
text without any costs no regular expression at all. `{a36}` and the like in the examples stand for random characters
(see `tests/secret_examples.py`): this file holds no string that a scanner, or memlite itself, would take for real.

Formats: the vendors' documentation of their token prefixes, and where there is none the keys they hand out.
"""

from __future__ import annotations

from memlite.privacy import assignments, headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Finder = Callable[[str], list[tuple[int, int]]]


class Rule:
    """One kind of secret; `[redacted:name]` takes the place of what is found, or of the pattern's first group."""

    __slots__ = ("anchored", "finder", "keywords", "name", "negative", "pattern", "positive")
    name: str
    keywords: tuple[str, ...]
    anchored: bool              # the pattern matches from a keyword on, within one unbroken run of characters; else
                                # it is searched for where a keyword, in small letters, occurs in any case
    pattern: str
    finder: Finder | None       # in place of a pattern, where the context decides: (start, end) of each secret
    positive: tuple[str, ...]
    negative: tuple[str, ...]

    def __init__(self, name: str, keywords: str, pattern: str | Finder, positive: tuple[str, ...],
                 negative: tuple[str, ...], anchored: bool = True) -> None:
        self.name, self.keywords = name, tuple(keywords.split("|"))
        self.pattern, self.finder = (pattern, None) if isinstance(pattern, str) else ("", pattern)
        self.anchored = anchored and self.finder is None
        self.positive, self.negative = positive, negative


# A run of one class that ends a pattern is unbounded on purpose: a longer token goes whole, and nothing follows it
# that a regular expression could come back for. Minimal lengths lie below the real ones: output is often cut short.
_PREFIXED = (
    Rule("aws-access-key-id", "AKIA|ASIA|ABIA|ACCA", r"A[A-Z]{3}[A-Z0-9]{16}(?![A-Za-z0-9])",
         ("AKIA{u16}", r'"aws\nASIA{u16}"'), ("AKIAlowercase0123456", "the ASIA region", "AKIAXXXXXXXXXXXXXXXX")),
    Rule("github-token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
         r"g(?:h[pousr]|ithub_pat)_[A-Za-z0-9_]{20,}(?:\.[A-Za-z0-9_-]{10,}){0,2}",
         ("ghp_{a36}", "https://x-access-token:ghs_{a36}@github.com/o/r", "github_pat_{a22}_{a59}"),
         ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghs_short", "the ghp_ prefix")),
    Rule("gitlab-token", "glpat-|glptt-|gldt-|glrt-|glcbt-|gloas-|glagent-",
         r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{7,})?",
         ("glpat-{a20}", "glrt-{a24}"), ("glpat-short", "glpat-xxxxxxxxxxxxxxxxxxxx")),
    Rule("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}",
         ("sk-ant-api03-{a93}AA", "sk-ant-oat01-{a40}"), ("sk-ant-...", "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx")),
    Rule("openai-key", "sk-",
         r"sk-(?=[A-Za-z0-9_-]{0,80}\d)(?=[A-Za-z0-9_-]{0,80}[A-Za-z])(?!ant-)"
         r"(?:proj-|svcacct-|admin-|or-v1-|lf-|None-)?[A-Za-z0-9_]{16}[A-Za-z0-9_-]{4,}",
         ("sk-proj-{a48}", "sk-{a48}", "sk-or-v1-{h64}", "OPENAI=sk-{a20}T3BlbkFJ{a20}"),
         ("sk-learn-pipeline-estimator-2-container", "task-4f2b9c1d7e6a4c3b8a5f", "sk-xxxxxxxxxxxxxxxxxxxxxxxx")),
    Rule("google-api-key", "AIza", r"AIza[A-Za-z0-9_-]{30,}",
         ("AIza{a35}", "?key=AIza{a35}&q=1"), ("AIzaShort",)),
    Rule("google-oauth", "GOCSPX-|ya29.|1//0", r"(?:GOCSPX-|ya29\.|1//0)[A-Za-z0-9_-]{20,}",
         ("GOCSPX-{a28}", "ya29.{a60}", "1//0{a60}"), ("GOCSPX-secret", "1//0")),
    Rule("slack-token", "xox|xapp-", r"(?:xox[a-z](?:\.xox[bp])?|xapp)-(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9-]{12,}",
         ("xoxb-{d12}-{d12}-{a24}", "xapp-1-A0{u9}-{d12}-{h32}"),
         ("xoxb-your-token", "xoxb-xxxxxxxxxxxx-xxxxxxxxxxxx")),
    Rule("slack-webhook", "hooks.slack.com/",
         r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
         ("https://hooks.slack.com/services/T{u8}/B{u8}/{a24}",),
         ("https://hooks.slack.com/services/T000/B000/XXXX",)),
    Rule("discord-webhook", "discord.com/api/webhooks/|discordapp.com/api/webhooks/",
         r"discord(?:app)?\.com/api/webhooks/\d{5,25}/([A-Za-z0-9_-]{20,})",
         ("https://discord.com/api/webhooks/1203948576/{a68}",), ("https://discord.com/api/webhooks/123/abc",)),
    Rule("stripe-key", "sk_live_|sk_test_|rk_live_|rk_test_|whsec_",
         r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{12,}|whsec_[A-Za-z0-9+/]{20,}={0,2})",
         ("sk_live_{a24}", "rk_test_{a24}", "whsec_{a32}"),
         ("sk_live_", "pk_live_4f2b9c1d7e6a4c3b8a5f", "sk_test_xxxx")),
    Rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}",
         ("//registry.npmjs.org/:_authToken=npm_{a36}",), ("npm_config_registry", "npm_lifecycle_event")),
    Rule("pypi-token", "pypi-Ag", r"pypi-Ag[A-Za-z0-9_-]{16,}",
         ("pypi-AgEIcHlwaS5vcmc{a60}",), ("pypi-Agent",)),
    Rule("docker-token", "dckr_pat_|dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{16,}",
         ("dckr_pat_{a27}",), ("dckr_pat_",)),
    Rule("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}",
         ("hf_{a34}",), ("hf_hub_download", "hf_token")),
    Rule("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
         ("SG.{a22}.{a43}",), ("SG.sendMail.now",)),
    Rule("jwt", "eyJ",
         r"(?<![_-])eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?|"
         r"[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{8,}){3})",
         ("eyJhbGciOi{a20}.eyJzdWIi{a40}.{a43}",),
         ("base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=", "eyJhbGciOi.json")),
    Rule("vault-token", "hvs.|hvb.|hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
         ("hvs.{a24}", "hvb.{a90}"), ("hvs.client",)),
    Rule("digitalocean-token", "dop_v1_|doo_v1_|dor_v1_", r"do[opr]_v1_[a-f0-9]{32,}",
         ("dop_v1_{h64}",), ("dop_v1_",)),
    Rule("shopify-token", "shp", r"shp[a-z]{2}_[A-Fa-f0-9]{24,}",
         ("shpat_{h32}",), ("shpat_example",)),
    Rule("linear-key", "lin_api_|lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}",
         ("lin_api_{a40}",), ("lin_api_key",)),
    Rule("notion-token", "ntn_|secret_", r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})(?![A-Za-z0-9_])",
         ("ntn_{a46}", "secret_{a43}"), ("secret_key_base", "ntn_")),
    Rule("sentry-token", "sntrys_|sntryu_", r"sntry[su]_[A-Za-z0-9+/=_-]{24,}",
         ("sntryu_{h64}",), ("sntrys_",)),
    Rule("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{20,}",
         ("AGE-SECRET-KEY-1{u58}",),
         ("AGE-SECRET-KEY-", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p")),
    Rule("atlassian-token", "ATATT3|ATCTT3|ATBB|ATOA", r"AT(?:[AC]TT3|BB|OA)[A-Za-z0-9_=-]{28,}",
         ("ATATT3{a60}=0{h7}",), ("ATBB",)),
    Rule("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])",
         ("dapi{h32}",), ("dapi-client",)),
    Rule("grafana-token", "glsa_|glc_", r"gl(?:sa|c)_[A-Za-z0-9+/_=]{28,}",
         ("glsa_{a32}_{h8}",), ("glc_context",)),
    Rule("doppler-token", "dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.",
         r"dp\.[a-z]{2,5}\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{32,}",
         ("dp.pt.{a43}", "dp.st.prd.{a43}"), ("dp.pt.x",)),
    Rule("pulumi-token", "pul-", r"pul-[a-f0-9]{40}(?![a-f0-9])",
         ("pul-{h40}",), ("pul-request",)),
    Rule("newrelic-key", "NRAK-", r"NRAK-[A-Za-z0-9_-]{19,}",
         ("NRAK-{u27}",), ("NRAK-",)),
    Rule("supabase-key", "sbp_|sb_secret_", r"(?:sbp_[a-z0-9_]{32,}|sb_secret_[A-Za-z0-9_-]{20,})",
         ("sbp_{h40}", "sb_secret_{a22}_{a8}"), ("sb_publishable_4f2b9c1d7e6a4c3b8a5f", "sbp_")),
    Rule("flyio-token", "fm1r_|fm2_|fo1_", r"f(?:m1r|m2|o1)_[A-Za-z0-9+/=_,-]{30,}",
         ("FlyV1 fm2_{a90}", "fo1_{a43}"), ("fm2_filter",)),
    Rule("model-api-key", "gsk_|xai-|pplx-|r8_|nvapi-|tvly-|pcsk_|lsv2_pt_|lsv2_sk_|fw_|csk-",
         r"(?:gsk_|xai-|pplx-|r8_|nvapi-|tvly-(?:dev-|prod-)?|pcsk_|lsv2_[ps][tk]_|csk-)[A-Za-z0-9_-]{24,}|fw_[A-Za-z0-9]{22,}",
         ("gsk_{a52}", "xai-{a80}", "pplx-{a48}", "r8_{a37}", "nvapi-{a64}", "tvly-{a32}", "lsv2_pt_{h32}_{h10}"),
         ("xai-grok", "fw_update", "r8_", "fw_version_of_the_current_device_in_use")),
    Rule("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
         ("PMAK-{h24}-{h34}",), ("PMAK-",)),
    Rule("figma-token", "figd_|figo_", r"fig[do]_[A-Za-z0-9_-]{30,}",
         ("figd_{a40}",), ("figd_",)),
    Rule("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{40,}",
         ("rubygems_{h48}",), ("rubygems_version",)),
    Rule("nuget-key", "oy2", r"oy2[a-z0-9]{43}(?![A-Za-z0-9])",
         ("oy2{l43}",), ("oy2",)),
    Rule("tailscale-key", "tskey-", r"tskey-[a-z]{2,8}-[A-Za-z0-9-]{16,}",
         ("tskey-auth-{a17}-{a32}",), ("tskey-auth",)),
    Rule("planetscale-token", "pscale_", r"pscale_[a-z]{2,5}_[A-Za-z0-9_.=-]{30,}",
         ("pscale_tkn_{a43}",), ("pscale_tkn_",)),
    Rule("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{60,}",
         ("AKCp8{a68}",), ("AKCp",)),
    Rule("square-token", "sq0atp-|sq0csp-|EAAAE|EAAAl", r"(?:sq0[a-z]{3}-|EAAA[El])[A-Za-z0-9_-]{22,}",
         ("sq0atp-{a22}", "sq0csp-{a43}"), ("sq0atp-",)),
    Rule("heroku-key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{30,}",
         ("HRKU-{a60}",), ("HRKU-",)),
    Rule("hubspot-token", "pat-na|pat-eu", r"pat-(?:na|eu)\d-[a-f0-9-]{36}",
         ("pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}",), ("pat-name",)),
    Rule("onepassword-key", "A3-|ops_eyJ",
         r"(?:A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}|ops_eyJ[A-Za-z0-9_-]{40,})",
         ("A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}", "ops_eyJ{a90}"), ("A3-sheet",)),
    Rule("mail-key", "xkeysib-|xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{40,}(?:-[A-Za-z0-9]{10,})?",
         ("xkeysib-{h64}-{a16}",), ("xkeysib-",)),
    Rule("posthog-key", "phx_", r"phx_[A-Za-z0-9]{30,}",
         ("phx_{a43}",), ("phx_new", "phx_gen_auth")),
)

_SEARCHED = (
    Rule("private-key", "private key",
         r"-{5}BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{5}"
         # Key material must follow, after line ends, margins and headers; else the line is only mentioned.
         r"(?=(?:[\s\"'+>|,→\\]|\d(?=\d{0,4}[→|:\s])){0,80}"
         r"(?:[A-Z][A-Za-z-]{2,20}: [^\n]{0,120}\n[\s\"'+>|,→\\]{0,20}){0,4}[A-Za-z0-9+/]{16})"
         r"[^-]*(?:-(?!----)[^-]*)*(?:-{5}END [A-Z0-9 ]{0,60}-{5})?",
         ("-----BEGIN RSA PRIVATE KEY-----\n{a64}\n{a64}\n-----END RSA PRIVATE KEY-----",
          "-----BEGIN OPENSSH PRIVATE KEY-----\n{a70}\n{a30}", r'"-----BEGIN PRIVATE KEY-----\n{a64}\n{a20}=\n"',
          "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{a64}\n-----END PGP PRIVATE KEY BLOCK-----",
          "  12→-----BEGIN EC PRIVATE KEY-----\n  13→{a64}\n  14→{a32}==\n  15→-----END EC PRIVATE KEY-----"),
         ("-----BEGIN CERTIFICATE-----\nMIIBsDCCAVagAwIBAgIUZm9vYmFyYmF6cXV4\n-----END CERTIFICATE-----",
          'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    return parse_private_key(text)'), anchored=False),
    Rule("aws-secret-key", "secret_access_key|secretaccesskey|secret access key|secret-access-key|akia|asia",
         r"(?:(?i:secret[_ -]?access[_ -]?key)[\"'\\\]]{0,6}(?:\s{0,4}\[[^\]\n]{0,20}\])?[\s:=>,\"'\\]{1,12}"
         r"|\[redacted:aws-access-key-id\][\s,:;|\"'\\]{1,12})([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])",
         ("AWS Secret Access Key [None]: {a40}", "SecretAccessKey\t{a40}", "aws_secret_access_key = {a40}",
          "AKIA{u16},{a40}"),
         ("secret_access_key = var.aws_secret",), anchored=False),
    Rule("telegram-token", ":aa", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{30,}",
         ("https://api.telegram.org/bot{d10}:AA{a33}/getMe",), ("12:AA", "00:AA:11:BB:22:CC"), anchored=False),
    Rule("discord-token", "discord",
         r"(?<![\w.-])(?:[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"
         r"|mfa\.[A-Za-z0-9_-]{80,})",
         ("discord bot: MT{a24}.{a6}.{a38}",), ("discord.Message.content.strip",), anchored=False),
    Rule("azure-key", "key=|sig=|q~",
         r"(?:(?<=AccountKey=)|(?<=SharedAccessKey=))[A-Za-z0-9+/]{30,}={0,2}"
         r"|(?<=[?&;]sig=)[A-Za-z0-9%+/_-]{20,}={0,2}|(?<![\w.~-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{30,}",
         ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={a86}==;", "?sv=2022-11-02&sig={a43}%3D",
          "{a3}8Q~{a34}"),
         ("sig=none", "AccountKey=<key>"), anchored=False),
    Rule("terraform-token", ".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_-]{40,}",
         ("{a14}.atlasv1.{a67}",), ("x.atlasv1.y",), anchored=False),
    Rule("mailchimp-key", "mailchimp", r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}\b",
         ("mailchimp: {h32}-us14",), ("mailchimp s3-us1-bucket",), anchored=False),
    Rule("twilio-key", "twilio", r"(?<![0-9A-Za-z])SK[0-9a-f]{32}(?![0-9A-Za-z])",
         ("Twilio(SK{h32})",), ("twilio SKIP_TESTS",), anchored=False),
    Rule("sentry-dsn", "sentry", r"(?<=://)([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.-]{1,100}/\d",
         ("https://{h32}@o123.ingest.sentry.io/456",), ("https://sentry.io/organizations/x",), anchored=False),
    Rule("webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{40,})",
         ("https://x.webhook.office.com/webhookb2/{h8}-{h30}@{h30}/IncomingWebhook/{h32}/{h36}",),
         ("https://x.webhook.office.com/webhookb2/",), anchored=False),
    Rule("command-password", "sshpass|mysql|mariadb|redis-cli|docker login|pass:|identified by|7z ",
         r"\bsshpass\s+-p\s*['\"]?([^\s'\"\\]+)|\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;&]{0,200}?"
         r"\s-p['\"]?([^\s'\"\\]+)|\bredis-cli\b[^\n|;&]{0,200}?\s-a\s+['\"]?([^\s'\"\\]+)|\bdocker login\b"
         r"[^\n|;&]{0,200}?\s-p\s*['\"]?([^\s'\"\\]+)|-pass(?:in|out)?\s+pass:([^\s<'\"\\]+)"
         r"|(?i:\bidentified by)\s+\\?['\"]([^'\"\n\\]+)|\b7z [^\n|;&]{0,200}?\s-p([^\s'\"\\]+)",
         ("sshpass -p {p} ssh host", "mysql -u root -p{p} db", "redis-cli -h x -a {p} ping",
          "docker login -u me -p {p}", "openssl rsa -passin pass:{p}", "CREATE USER u IDENTIFIED BY '{p}'"),
         ("mysql -u root -p -P 3306", "docker login --password-stdin", "sshpass -p $PASS ssh host",
          "pass: 12 tests"), anchored=False),
    Rule("user-password", "-u |--user |-u'|-u\"|--user=|--proxy-user ",
         r"\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user|--proxy-user)[\s=]{0,3}['\"]?[^\s:'\"]{1,64}:([^\s'\"\\]+)",
         ("curl -s -u admin:{p} https://x", "curl --user 'a@b.c:{p}' https://x"),
         ("curl -u $USER:$PASS https://x", "git push -u origin main", "docker run -u 1000:1000 x"), anchored=False),
    Rule("curl-cookie", "-b '|-b \"|--cookie ",
         r"\bcurl\b[^\n|;]{0,200}?\s(?:-b|--cookie)\s+\\?['\"]?([^\s'\"\\=]+=[^'\"\n\\]+)",
         ("curl -b 'sid={a24}' https://x",),
         ("curl -b cookies.txt https://x", "git checkout -b 'x=y'"), anchored=False),
)

_IN_CONTEXT = (
    Rule("url-password", "://|:\\", headers.url_passwords,
         ("postgres://app:{p}@db:5432/x", "redis://:{p}@h", "https://{a40}@host/x", r"mysql:\/\/u:{p}@h\/d",
          "amqp://u:{a6}/{a6}@h", "https://u:{a8}#{a8}@h/x"),
         ("https://host:8080/a@b", "https://h/x:y@z", "git@github.com:o/r.git", "postgres://u:${PW}@h",
          "ssh://git@host/x", "https://user:password@host", "postgres://u:***@h", "https://h:80/?q=a:b@c",
          "https://medium.com/@name/x")),
    Rule("authorization", "authorization|bearer ", headers.authorizations,
         ("Authorization: Bearer {a32}", 'curl -H "authorization: Basic {a20}=="',
          '{"Authorization": "token {a40}"}', r'{\"Authorization\": \"Bearer {a24}\"}',
          "Authorization: AWS4-HMAC-SHA256 Credential=x, Signature={h64}",
          "headers = {'Authorization': 'Bot {a30}'}", "Bearer {a40}", "Authorization=Bearer%20{a24}"),
         ("Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", '"Authorization": "Bearer " + token',
          "authorization: AuthorizationService", "Authorization: `Bearer ${token}`", "Bearer authentication",
          "authorization: required")),
    Rule("cookie", "cookie", headers.cookies,
         ("Cookie: session={a32}; theme=dark", "Set-Cookie: sid={a24}; Path=/; HttpOnly",
          r'\"cookie\": \"_x={a40}\"', "cookie: a=b; PHPSESSID={a26}"),
         ("Cookie: theme=dark; lang=en", "cookie: str = None", "cookies = requests.cookies",
          "Set-Cookie: sid=; Path=/", "cookie: CookieOptions = {}")),
    Rule("password", "pass|pwd|_pw|-pw", assignments.passwords,
         ("password={p}", 'password = "{a12}"', "DB_PASSWORD={w}", '{"password": "{a10}"}',
          r'{\"password\": \"{a10}\"}', r'{\\\"password\\\":\\\"{a10}\\\"}', r'export PGPASSWORD={w}\npsql',
          "password: {p}", "--password {p} x", "--password={w}", "?password={w}&x=1", "Server=x;Pwd={p};",
          "<password>{w}</password>", "- name: DB_PASSWORD\n  value: {w}", '{"name": "DB_PASSWORD", "value": "{w}"}',
          "the password is {p}", "machine h login u password {p}", 'password: str = "{a10}"',
          "ALTER USER u WITH PASSWORD '{w}'", "MYSQL_PASS='{w}'", 'const dbPassword: string = `{a12}`;',
          'password := "{p}"', r'"password": "a\"{a8}\"{a8}"', "\x1b[31mpassword\x1b[m=\x1b[1m{p}\x1b[m"),
         ("password: str", "password = get_password()", "password=password", 'password: "${DB_PASSWORD}"',
          "password=***", 'os.environ["DB_PASSWORD"]', "PASSWORD=<your-password>", "PWD=/home/u/project",
          "password_file=/run/secrets/db", "DB_PASSWORD=$(cat /run/secrets/db)", "password=self.password",
          "password: string;", "--password PASSWORD", 'input type="password" name="x"', "the password is required",
          "password: changeme", "bypass=12345678")),
    Rule("secret", "secret|token|credential|key", assignments.secrets,
         ('api_key = "{a32}"', "STRIPE_SECRET={a24}", 'clientSecret: "{a30}"', "access_token={a40}",
          "--api-key {a32}", "x-api-key: {a32}", '"private_key_id": "1", "secretKey": "{h40}"',
          'os.environ["API_KEY"] = "{a20}"', "TWILIO_AUTH_TOKEN={h32}", "https://x/?token={a20}&y=1",
          "SECRET_KEY_BASE={h64}", r'{\"env\": {\"API_TOKEN\": \"{a24}\"}}', 'token: Optional[str] = "{a24}"',
          "NPM_TOKEN: {h36}", "- name: API_KEY\n  value: {w}", "_authToken={h36}"),
         ("token = get_token()", 'os.environ["API_KEY"]', "${SECRET}", "api_key: <your-key>",
          "secret_key_base is documented", "max_tokens=4096", "token_count: 123456789",
          "token = request.headers.token", 'api_key="your-api-key-here"', 'key = "5f2b9c1d7e6a4c3b"',
          "cache_key=4f2b9c1d7e6a", "public_key: ssh-ed25519", "primary_key=True", "token: identifier",
          "secret: true", 'token == "abc123def456"', "API_KEY=your_api_key", "tokens: 12345678901")),
)

# The specific before the general, so that the kind shown is the most telling.
RULES: tuple[Rule, ...] = _SEARCHED[:1] + _PREFIXED + _SEARCHED[1:] + _IN_CONTEXT
