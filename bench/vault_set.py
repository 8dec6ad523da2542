"""The labelled set for secret detection: texts with one made-up secret each, and texts with none that look alike.

`§` stands for the secret. `tune` is what the rules were written with. It takes in two former hold-outs, of which
92.4 % and 93.5 % were found at first sight, with 0 of 41 and 1 of 40 false alarms, before what was wrong was mended.
Of the present `holdout`, written after that, 93.9 % were found at first sight, with 0 of 40 false alarms; three of the
four kinds that were missed are found now, so the table's figure for it is no longer one of a hold-out. Secrets and
look-alikes are filled in by `bench.secrets`, the same at every run.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from bench.secrets import MADE, _run, made

__all__ = ["Case", "cases"]


@dataclass(frozen=True, slots=True)
class Case:
    """A text; `secret` is what has to be found in it, None: nothing."""

    part: str
    """`tune` or `holdout`."""
    kind: str
    text: str
    secret: str | None


_TUNE = """
github|my token is §, please open the pull request
github-fine|export GITHUB_TOKEN=§
github-app|git clone https://x-access-token:§@github.com/acme/shop.git
gitlab|Токен для гитлаба: §
aws-id|[default]\\naws_access_key_id = §
aws-secret|aws_secret_access_key = §
google-api|https://maps.googleapis.com/maps/api/geocode/json?address=Riga&key=§
google-oauth|{"access_token": "§", "expires_in": 3599, "token_type": "Bearer"}
slack-bot|slack = WebClient(token="§")
slack-hook|curl -X POST https://hooks.slack.com/services/§ -d '{"text":"done"}'
anthropic|ANTHROPIC_API_KEY=§
openai|client = OpenAI(api_key="§")
openai-old|the old key § still works
stripe|stripe.api_key = '§'
npm|//registry.npmjs.org/:_authToken=§
pypi|[pypi]\\nusername = __token__\\npassword = §
docker|echo § | docker login -u acme --password-stdin
huggingface|huggingface-cli login --token §
sendgrid|SENDGRID_API_KEY: "§"
mailgun|curl -s --user 'api:§' https://api.mailgun.net/v3/acme/messages
telegram|бот отвечает по адресу https://api.telegram.org/bot§/getMe
shopify|X-Shopify-Access-Token: §
digitalocean|doctl auth init -t §
notion|Authorization: Bearer §
atlassian|почта anna@acme.test, токен §
databricks|DATABRICKS_TOKEN=§
hashicorp|vault login §
postman|{"headers": {"X-Api-Key": "§"}}
jwt|Authorization: Bearer §
jwt|localStorage.setItem("session", "§")
private-key|the deploy key:\\n§\\nkeep it safe
private-key|{"private_key_id": "1", "file": "§"}
password|My password is § and my login is anna
password|пароль от почты: §
password|Пароль § больше не подходит, новый пароль — §
password|{"user": "anna", "password": "§"}
password|DB_PASSWORD=§
password|postgresql://app:§@db.internal:5432/shop
password|curl -u deploy:§ https://ci.acme.test/job/7/build
password|spring.datasource.password=§
password|<user>anna</user><password>§</password>
password|mysql --host db1 -u root --password=§ shop
password|{\\"login\\": \\"anna\\", \\"passwd\\": \\"§\\"}
basic|Authorization: Basic §
opaque|Cookie: lang=en; sessionid=§; theme=dark
opaque|https://api.acme.test/v1/orders?access_token=§&page=2
opaque|{"clientSecret": "§", "clientId": "shop"}
opaque|x-api-key: §
opaque|auth_token: §
opaque|"refresh_token":"§"
hex|api_key = "§"
hex|Set-Cookie: PHPSESSID=§; Path=/; HttpOnly
heroku|HEROKU_API_KEY=§
otp|Your verification code is §. It expires in 10 minutes.
otp|код из смс: §
otp|§ is your Acme login code
pin|the PIN is §, don't tell anyone
azure-storage|DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=§;EndpointSuffix=core.windows.net
session|Cookie: connect.sid=§
aws-secret|{"SecretAccessKey": "§", "Version": 1}
""".strip().split("\n")

_SECOND = """
github|пуш не проходит, вот токен §, попробуй с ним
gitlab|curl --header "PRIVATE-TOKEN: §" https://gitlab.acme.test/api/v4/projects
aws-id|key pair § / see 1Password
aws-secret|AWS_SECRET_ACCESS_KEY="§"
google-client|"client_secret": "§"
google-api|const firebase = { apiKey: "§", projectId: "shop" }
slack-app|SLACK_APP_TOKEN='§'
discord-hook|https://discord.com/api/webhooks/112233445566778899/§
anthropic|headers = {"x-api-key": "§", "anthropic-version": "2023-06-01"}
deepseek|DEEPSEEK_KEY: §
openrouter|use § for the router
stripe-hook|STRIPE_WEBHOOK_SECRET=§
mailchimp|mailchimp = Client(§)
twilio|account key §
linear|linear --key §
figma|curl -H 'X-Figma-Token: §' https://api.figma.com/v1/me
terraform|credentials "app.terraform.io" { token = "§" }
pulumi|PULUMI_ACCESS_TOKEN=§
supabase|supabase login --token §
newrelic|newrelic key is §
grafana|grafana: §
square|square access § expires in May
age|# created: 2024-05-01\\n§
tailscale|sudo tailscale up --authkey §
groq|GROQ_API_KEY=§
replicate|replicate = Replicate("§")
langsmith|LANGCHAIN_API_KEY=§
airtable|Airtable: §
azure-client|AZURE_CLIENT_SECRET=§
yandex|Api-Key §
yandex-oauth|OAuth §
vk|токен сообщества §
jwt|{"id_token":"§"}
jwt|https://acme.test/callback#access_token=§&state=4
private-key|ssh key below\\n\\n§
password|the admin password for staging was changed to §
password|Логин anna, пароль §
password|логин/пароль: anna / §
password|os.environ["DB_PASS"] = "§"
password|"Password": "§",
password|redis://:§@cache.acme.test:6379/0
password|mongodb+srv://shop:§@cluster0.acme.test/shop?retryWrites=true
password|sshpass -p '§' ssh root@10.0.0.4
password|smtp_pass: §
password|machine ftp.acme.test login anna password §
password|--db-password §
password|PGPASSWORD=§ psql -h db shop
password|jdbc:postgresql://db/shop?user=app&password=§
basic|proxy-authorization: basic §
opaque|Authorization: §
opaque|{"name": "API_TOKEN", "value": "§"}
opaque|Authorization: token §
opaque|encryption_key = '§'
opaque|{\\"session_token\\": \\"§\\"}
opaque|<add key="ApiKey" value="§" />
hex|secret: §
hex|headers.set("X-Auth-Token", "§")
heroku|api key: §
otp|Ваш код подтверждения: §. Никому его не сообщайте.
otp|one-time password § (valid for 5 min)
otp|"otp": "§"
pin|пин-код §
session|Set-Cookie: __Host-session=§; Secure; SameSite=Lax
session|JSESSIONID=§
password|Wi-Fi: AcmeGuest, password: §
password|пароль для входа в личный кабинет — §
""".strip().split("\n")

# ~u uuid, ~h40 hex of a length, ~a24 letters and digits, ~d6 digits
_LIKE_TUNE = """
commit ~h40 fixes the build
git show ~h7
{"id": "~u", "status": "shipped"}
order ORD-~d6 and ticket RF-~d4
sha256:~h64
{"etag": "\\"~h32\\"", "size": 4096}
trace_id=~h32 span_id=~h16
data:image/png;base64,iVBORw0KGgo~a1200
ssh-rsa AAAAB3NzaC1yc2E~a300 anna@laptop
-----BEGIN PUBLIC KEY-----\\nMIIBIjANBgkqhkiG9w0B~a200\\n-----END PUBLIC KEY-----
password = get_password(user)
password: string, required
{"password": "<your password>"}
API_KEY=${API_KEY}
api_key = os.environ["API_KEY"]
export TOKEN=your-token-here
{"next_page_token": "~a40"}
{"nextCursor": "~a32"}
max_tokens: 4096, total_tokens=128
the token was rejected, ask for a new one
The password is required and must be at least 12 characters.
Пароль должен содержать не менее 8 символов
укажите ваш пароль и нажмите «Войти»
забыли пароль? код ошибки: ~d6
error code: ~d6
zip code ~d5
confirmation code is ~a6
tracking number ~d12
/static/js/main.~h8.chunk.js
"integrity": "sha512-~a86=="
publishable key pk_live_~a24
curl -H "Authorization: Bearer $TOKEN" https://api.acme.test
Authorization: Bearer <token>
postgresql://user:password@localhost:5432/db
redis://localhost:6379/0
primary_key=True, foreign_key="users.id"
{"key": "PROJ-~d4", "self": "https://jira.acme.test/rest/api/2/issue/~d5"}
token = tokenizer.encode(text)
self.password = password
const secret = await getSecretValue(name)
Cookie: theme=dark; lang=en-US; _ga=GA1.2.~d9.~d10
""".strip().split("\n")

_LIKE_SECOND = """
Merge branch 'fix' into main (~h40)
docker.io/library/nginx@sha256:~h64
request id ~u failed
{"run_id": "run_~a24", "thread_id": "thread_~a24"}
{"tool_call_id": "call_~a24"}
toolu_01~a22
arn:aws:iam::~d12:role/deploy
s3://bucket/~h32/part-0001.parquet
AC~h32 is the account
-----BEGIN CERTIFICATE-----\\nMIIDdzCCAl~a200\\n-----END CERTIFICATE-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA~a43 anna@laptop
"X-Request-Id": "~u"
def reset_password(self, token: str, password: str) -> bool:
password=None, token=None
{"type": "password", "name": "password", "placeholder": "Password"}
<input type="password" name="password" id="user_password">
if (password !== confirmPassword) throw new Error("passwords differ")
secrets.GITHUB_TOKEN is set by the runner
token: ${{ secrets.NPM_TOKEN }}
{"continuation_token": "~a44"}
"tokens": 5321, "token_count": 77
expected token ')' at line 12
CSRF token missing or incorrect
Код товара: ~d6
код города 495, индекс ~d6
ключ от квартиры лежит под ковриком
секрет успеха — терпение
Пароль неверный, попробуйте ещё раз
пароль: ********
password: [REDACTED]
PASSWORD=changeme
api key: see the wiki page
https://acme.test/reset?lang=en&step=2
https://www.youtube.com/watch?v=~a11
https://docs.google.com/document/d/1~a43/edit
{"hash": "~h64", "height": 812345}
0x~h40
npm package lodash@4.17.21 integrity sha1-~a27=
The key insight is that caching-by-prefix2 works
basic authentication is disabled
the bearer of this letter
""".strip().split("\n")

_THIRD = """
github|I pasted the PAT here: §
github-app|remote: https://oauth2:§@github.com/acme/infra.git
gitlab|CI_JOB_TOKEN_OVERRIDE: §
aws-id|  access key: §
aws-secret|"aws_secret_access_key": "§"
aws-secret|export AWS_SECRET_KEY='§'
google-api|GOOGLE_MAPS_KEY=§
slack-bot|бот в слаке подключён с §
slack-hook|webhook_url: https://hooks.slack.com/services/§
anthropic|anthropic.Anthropic(api_key='§')
openai|--openai-key §
stripe|Stripe ключ §, он боевой
sendgrid|smtp password for sendgrid: §
telegram|TELEGRAM_BOT_TOKEN="§"
digitalocean|token: '§'
linear|LINEAR_KEY=§
hashicorp|VAULT_TOKEN=§ vault kv get secret/app
npm|echo "//registry.npmjs.org/:_authToken=§" > ~/.npmrc
docker|auths: { "docker.io": { "auth": "§" } }
notion|NOTION_KEY §
figma|figma §
shopify|shop token §
groq|Groq(api_key="§")
huggingface|HF_TOKEN=§
yandex|"apiKey": "§"
vk|VK_ACCESS_TOKEN=§
jwt|curl -H 'authorization: bearer §' https://api.acme.test/me
jwt|ws://live.acme.test/socket?token=§
private-key|cat id_rsa\\n§
password|User: root, Pass: §
password|default_password => '§'
password|Поменял пароль на §, запишите
password|my pw is §, sorry for posting it here
password|ADMIN_PASSWORD: "§"
password|mongodb://root:§@10.1.2.3:27017/admin
password|amqp://guest:§@rabbit.acme.test//
password|ftp -u anna:§ ftp.acme.test
password|password=§;Database=shop;User Id=sa
password|$password = "§";
password|{"username":"anna","passphrase":"§"}
password|<password type="plain">§</password>
password|Пароль администратора: «§»
basic|"Authorization": "Basic §"
opaque|X-Auth-Token: §
opaque|headers={'Authorization': 'Bearer §'}
opaque|client_secret=§&grant_type=client_credentials
opaque|SECRET_KEY = "§"
opaque|"webhookSecret": "§"
opaque|"private_token": "§"
opaque|Cookie: _session_id=§
opaque|signing_secret: §
hex|auth-token=§
hex|DATADOG_API_KEY=§
session|set-cookie: sid=§; HttpOnly
otp|Код для входа: §
otp|Use § as your login code
otp|OTP: §
otp|the 2FA code is §
pin|PIN: §
azure-storage|azure_storage_key = "§"
azure-client|"clientSecret":"§"
heroku|X-Api-Key: §
""".strip().split("\n")

_LIKE_THIRD = """
HEAD is now at ~h7 Add login page
"sha": "~h40", "tree": "~h40"
Session ~u started
{"sessionId": "~u", "conversationId": "~u"}
msg_01~a22
chatcmpl-~a29
booking reference ~a6, confirmation number ~d10
ISBN 978-~d10
+371 ~d8
invoice INV-2024-~d5
card ending in ~d4
password: ""
password: null
password_hash_algorithm=bcrypt
PasswordField(label="Password", required=True)
def __init__(self, token=None, secret_key=None):
token_type = "Bearer"
"authorization_endpoint": "https://login.acme.test/oauth2/authorize"
API_TOKEN=<paste here>
api_key="YOUR_API_KEY"
use the --token flag to pass a token
password = input("Password: ")
const token = req.headers.authorization.split(" ")[1];
settings.SECRET_KEY
key: value
"keywords": ["agents", "context"]
PIN code of the area is ~d6
promo code SUMMER2024
код ответа 200, код страны 371
ключевые слова: агенты, контекст
токены закончились, лимит 100000 токенов
пароль и логин пришлю отдельно
secret santa is on 24.12.2024
ssh-rsa AAAAB3NzaC1yc2E~a300
integrity sha384-~a64
urn:uuid:~u
/home/anna/.cache/pip/~h2/~h56
W/"~h32"
pip install foo==1.2.3 --hash=sha256:~h64
font/woff2;base64,d09GMgABAAAAA~a400
""".strip().split("\n")

_HOLDOUT = """
github|error: failed to push to https://anna:§@github.com/acme/app
github-fine|set the secret in settings: §
gitlab|glab auth login --token §
aws-id|aws configure set aws_access_key_id §
aws-secret|aws configure set aws_secret_access_key §
aws-secret|accessKeyId: x, secretAccessKey: '§'
google-api|<script src="https://maps.googleapis.com/maps/api/js?key=§&callback=init"></script>
google-oauth|Bearer §
google-client|OAuth client secret: §
slack-bot|{"ok":true,"bot":{"bot_access_token":"§"}}
slack-hook|Slack-вебхук: https://hooks.slack.com/services/§
anthropic|добавь в .env ключ §
openai|OPENAI_API_KEY = '§'
deepseek|base_url=..., api_key=§
stripe|curl https://api.stripe.com/v1/charges -u §:
sendgrid|Your SendGrid key: §
telegram|bot = telebot.TeleBot("§")
digitalocean|DIGITALOCEAN_ACCESS_TOKEN=§
atlassian|jira = JIRA(basic_auth=("anna@acme.test", "§"))
databricks|host = https://acme.test\\ntoken = §
hashicorp|"client_token": "§"
npm|NPM_TOKEN: §
pypi|twine upload -u __token__ -p § dist/*
postman|postman api §
newrelic|new_relic_license: §
replicate|REPLICATE_API_TOKEN=§
supabase|SUPABASE_ACCESS_TOKEN=§
langsmith|LANGSMITH_API_KEY=§
age|identity: §
jwt|{"data":{"jwt":"§"}}
jwt|Set-Cookie: auth=§; Secure
private-key|ssh_private_key: |\\n§
password|new password: §
password|Ваш пароль: §
password|Логин: anna\\nПароль: §
password|set password '§' for user anna
password|{"login":{"email":"anna@acme.test","password":"§"}}
password|MYSQL_ROOT_PASSWORD: §
password|--from-literal=password=§
password|smtp://robot:§@mail.acme.test:587
password|Server=db;User=sa;Pwd=§;
password|auth=("anna", "§"),  # password
password|-e POSTGRES_PASSWORD=§
password|password for the archive is "§"
basic|-H "Authorization: Basic §"
opaque|"Authorization": "Token §"
opaque|api_secret=§
opaque|X-Access-Token: §
opaque|"accessToken" : "§"
opaque|webhook_secret: "§"
opaque|https://acme.test/invite?token=§
opaque|SESSION_SECRET=§
opaque|--api-key=§
opaque|apikey: §
opaque|секретный ключ: §
hex|"app_secret": "§"
hex|CLOUDFLARE_API_TOKEN=§
session|Cookie: sid=§; lang=en
session|document.cookie = "session_token=§"
otp|G-§ is your Google verification code.
otp|Одноразовый код: §
otp|Your one-time code is §
otp|Пароль из СМС: §
pin|Your PIN is §
azure-client|client secret value §
heroku|"api_key": "§"
""".strip().split("\n")

_LIKE_HOLDOUT = """
~h40 refs/heads/main
index ~h7..~h7 100644
"fingerprint": "~h64"
"checksum": "md5:~h32"
Deployment dpl_~a28 is ready
{"nonce": "~h16", "timestamp": 1700000000}
user_~a24 joined org_~a24
https://acme.test/share/~u
ETag: "~h40"
x-request-id: ~u
call_~a24
rs_~h48
"next_token": null
"sync_token": "~a40"
{"prompt_tokens": 812, "completion_tokens": 93}
Enter password:
Password must contain at least one digit and one of !@#$%
password_reset_url: https://acme.test/reset
"password": "********"
Пароль: ******
Пароль изменён 12.03.2024
введите код из письма
код заказа ~d8
артикул ~d6, размер 42
Invalid token: expected string, got number
SyntaxError: Unexpected token '<', "<!DOCTYPE" is not valid JSON
secretName: app-secrets
secretKeyRef: { name: db, key: password }
valueFrom: secretKeyRef
import { getToken } from "./auth/token-store"
const apiKey = process.env.STRIPE_API_KEY;
api_key: str = Field(..., description="API key")
os.getenv("SECRET_KEY")
git config --global credential.helper store
assert response.json()["token"] == token
ALTER TABLE users ADD COLUMN password_hash VARCHAR(255);
pk_test_~a24
G-~a10 is the measurement id
gene ~a6, sequence ACGTACGTACGTACGTACGT
tel:+1-~d3-~d3-~d4
""".strip().split("\n")


def cases(part: str | None = None) -> list[Case]:
    """All cases, or those of one part: the same at every call."""
    out: list[Case] = []
    for name, secrets, alike in (
        ("tune", _TUNE, _LIKE_TUNE),
        ("tune", _SECOND, _LIKE_SECOND),
        ("tune", _THIRD, _LIKE_THIRD),
        ("holdout", _HOLDOUT, _LIKE_HOLDOUT),
    ):
        for line in secrets:
            kind, _, template = line.partition("|")
            value = made(kind, f"{len(out)}")
            if kind == "private-key" and template.startswith("{"):
                value = value.replace("\n", "\\n")
            out.append(Case(name, kind, template.replace("\\n", "\n").replace("§", value), value))
        for line in alike:
            out.append(Case(name, "look-alike", _filled(line, f"{len(out)}"), None))
    return [case for case in out if part in (None, case.part)]


def _filled(line: str, seed: str) -> str:
    rng = random.Random(seed)
    pieces = line.replace("\\n", "\n").split("~")
    text = pieces[0]
    for piece in pieces[1:]:
        kind, rest = piece[0], piece[1:]
        if kind == "u":
            text += MADE["heroku"](rng) + rest
            continue
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        letters = {"h": "0123456789abcdef", "d": "0123456789"}.get(kind)
        size = int(digits)
        letters = letters or "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        text += _run(rng, letters, size) + rest[len(digits) :]
    return text
