"""Other names of technical things that everybody writes in more than one way. Owns the table only.

A line belongs here when both names mean the same thing wherever software is talked about, and neither is an
everyday word with another meaning ("cd", "app", "dev" are not here). A name may stand in two lines: names of
one line are each other's, those of different lines are not. A person can switch any of it off.
"""

from __future__ import annotations

_TABLE = """
k8s = Kubernetes
i18n = internationalization = internationalisation
l10n = localization = localisation
a11y = accessibility
o11y = observability
pg = postgres = PostgreSQL
js = JavaScript
ts = TypeScript
py = Python
gql = GraphQL
wasm = WebAssembly
mongo = MongoDB
repo = repository
db = database
env = environment
config = configuration
auth = authentication
auth = authorization = authorisation
prod = production
admin = administrator
docs = documentation
regex = regular expression
CI = continuous integration
PR = pull request
MR = merge request
VM = virtual machine
OS = operating system
UI = user interface
e2e = end to end
SSO = single sign-on
2fa = two-factor authentication
MFA = multi-factor authentication
LLM = large language model
vscode = VS Code = Visual Studio Code
"""

KNOWN_NAMES: tuple[tuple[str, ...], ...] = tuple(
    tuple(name.strip() for name in line.split("=")) for line in _TABLE.strip().splitlines()
)
