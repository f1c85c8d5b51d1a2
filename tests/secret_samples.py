"""Secrets of every form that is known, made up, with what stands around them.

They are put together here, so that no line of this file looks like a real one to the scanners of git hosts.
"""

from base64 import b64encode

A = "AbCdEfGh0123456789IjKlMnOpQrStUvWxYz"  # 36
X = "0123456789abcdef"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


def _of(*heads: str, tail: str) -> list[tuple[str, str]]:
    return [(head + "{}", tail) for head in heads]


FORMS: list[tuple[str, str]] = [
    # models
    *_of("sk-ant-api03-", "sk-proj-", "sk-or-v1-", "sk-", "sk-svcacct-", "gsk_", "xai-", "hf_", "r8_", tail=A),
    *_of("pplx-", "nvapi-", "csk-", "tgp_v1_", "jina_", "lsv2_pt_", "tvly-dev-", "pcsk_", "apify_api_", tail=A),
    *_of("AIza", tail=A[:35]), *_of("AQ.Ab8R", tail=A),
    # git hosts
    *_of("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_11ABCDEFG0", "ATBB", tail=A),
    *_of("glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-64_", "glft-", "glimt-", "glagent-", "gloas-",
         "glsoat-", "glwt-", "GR1348941", tail=A[:22]),
    *_of("ATCTT3xFfG", "ATATT3xFfG", tail=A + A),
    # registries
    *_of("npm_", "pypi-AgEIcHlwaS5vcmc", "dckr_pat_", "dckr_oat_", "cio", tail=A), *_of("rubygems_", tail=X * 3),
    *_of("oy2", tail=(X * 3)[:43]),
    # clouds
    *_of("AKIA", "ASIA", tail="IOSFODNN7EXAMPLE"), *_of("ya29.a0", "GOCSPX-", "hvs.", "tskey-auth-", "sbp_AbCd", tail=A),
    *_of("IQoJb3JpZ2lu", "FwoGZXIvYXdz", tail=A + A), *_of("dop_v1_", "doo_v1_", tail=X * 4), *_of("dapi", tail=X * 2),
    ("1//0{}", A), ("abc8Q~{}", A[:34]), ("qqqqqqqqqqqqqq.atlasv1.{}", A + A),
    ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("AKIAIOSFODNN7EXAMPLE,{}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("AWS_SESSION_TOKEN={}", A + A), ('"SecretAccessKey": "{}"', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core.windows.net", A + A + "ab=="),
    ("Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey={}", A + "ab="),
    ("https://x.blob.core.windows.net/c?sv=2022&se=2030&sig={}&sp=r", A + "%3D"),
    ('"private_key_id": "{}"', X * 2 + "01234567"),
    # payment
    *_of("sk_live_", "sk_test_", "rk_live_", "whsec_", "sq0atp-", "sq0csp-", "rzp_live_", "FLWSECK-", tail=A),
    *_of("access_token$production$", tail=X + "$" + X * 2), *_of("shpat_", tail=X * 2),
    *_of("access-sandbox-", tail="12345678-1234-1234-1234-123456789012"),
    # chat and mail
    *_of("xoxb-", "xoxp-123-", "xoxe.xoxp-1-", "xapp-1-", tail=A), *_of("SK", "key-", tail=X * 2),
    ("https://hooks.slack.com/services/{}", "T00000000/B00000000/" + A[:24]),
    ("https://discord.com/api/webhooks/{}", "123456789012345678/" + A + A),
    ("MTAqqqqqqqqqqqqqqqqqqqqq.qqqqqq.{}", A), ("918273645:AA{}", A[:33]), ("{}", "SG." + A[:22] + "." + A + "abcdefg"),
    ("TWILIO_AUTH_TOKEN={}", X * 2),
    # the general ones
    ("{}", "eyJ" + A[:17] + ".eyJ" + A + "." + A), ("Authorization: Bearer {}", "abcdefgh.ijklmnop1/x"),
    ("Authorization: Basic {}", b64encode(b"alice:wonderland1").decode()),
    ("curl -H 'Authorization: token {}' https://x", X * 2), ("curl -u alice:{} https://example.com/x", "w0nderland"),
    ("postgres://alice:{}@db.example.com:5432/app", "w0nderl@nd"), ("redis://:{}@cache:6379/0", "w0nderland"),
    ("git clone https://oauth2:{}@git.example.com/a/b.git", "w0nderland-w0nderland"),
    ("https://{}@git.example.com/a.git", "w0nderlandw0nderland"),
    ("machine example.com login alice password {}", "w0nderland"), ("sshpass -p {} ssh host", "w0nderland"),
    ("mysql -u root -p{} app", "w0nderland"), ("Set-Cookie: session={}", "w0nderland; HttpOnly"),
    ('{{"auths": {{"x": {{"auth": "{}"}}}}}}', b64encode(b"alice:wonderland1").decode()),
    ("openssl rsa -passin pass:{} -in k", "w0nderland"), ("docker login -u a -p {} r.example.com", "w0nderland"),
    ("<password>{}</password>", "w0nderland"), ("client-key-data: {}", A + A), ("fw_{}", A),
    ("mongodb+srv://a:{}@c.example.com/x", "w0nderland"), ("jdbc:postgresql://h/db?user=a&password={}", "w0nderland"),
    ("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t{}", A + A), ("X-Vault-Token: {}", A[:24]), ("wget --password={} u", "w0nderland"),
    ("'password' => '{}',", "w0nderland"), ('password="{}"', "w0nderland"), ("refresh_token={}", A),
    ("HEROKU_API_KEY={}", "12345678-1234-1234-1234-123456789012"), ("MYSQL_PWD={}", "w0nderland"),
    # beside names
    ("X_PASSWORD={}", "w0nderland"), ("export DB_PASSWORD='{}'", "w0nder land"), ("PGPASSWORD={} psql", "w0nderland"),
    ("password={}&user=alice", "w0nderland"), ("API_KEY: {}", "abcdef0123456789"), ("api_key = \"{}\"", "abcdef0123456789"),
    ("client_secret: {}", "abcdef0123456789"), ('{{"client_secret": "{}"}}', "abcdef0123456789"),
    ('{{"password":"{}"}}', "w0nderland"), ("x-api-key: {}", "abcdef0123456789"), ("clientSecret: '{}',", "abcdef0123456789"),
    ("--token {}", "abcdef0123456789"), ("--api-key={}", "abcdef0123456789"), ("password: {}", "w0nderland"),
    ("SECRET_KEY_BASE={}", X * 4), ("//registry.example.com/:_authToken={}", "12345678-1234-1234-1234-123456789012"),
    ("ENCRYPTION_KEY={}", X * 2), ("MISTRAL_API_KEY={}", A[:32]), ("Server=x;Uid=a;Pwd={};", "w0nderland"),
    ("Ocp-Apim-Subscription-Key: {}", X * 2), ("GITHUB_PAT={}", X * 2), ("passphrase = '{}'", "correct horse battery"),
]  # fmt: skip
"""What stands around a secret, and the secret."""

KEY_TYPES = ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "]
KEYS = [
    f"-----BEGIN {kind}PRIVATE KEY-----\n{BODY}\n{BODY}\nAb0=\n-----END {kind}PRIVATE KEY-----"
    for kind in KEY_TYPES
]
KEYS += [
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{BODY}\n{BODY}\n=AbC0\n-----END PGP PRIVATE KEY BLOCK-----",
    f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n{BODY}\n{BODY}\n-----END RSA PRIVATE KEY-----",
]


def whole(form: tuple[str, str]) -> str:
    template, secret = form
    return template.format(secret) if "{{" in template else template.replace("{}", secret)


def longest_left(secret: str, text: str) -> int:
    """How many characters in a row of a secret are in a text."""
    longest = 0
    for start in range(len(secret)):
        while start + longest < len(secret) and secret[start : start + longest + 1] in text:
            longest += 1
    return longest
