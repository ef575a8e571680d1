"""The one error tree: every failure a caller can meet, with its code, exit status and hint.

Owns the mapping failure -> (code, exit status, retryable, hint). Knows nothing of where errors are
raised. Messages never contain memory text, passphrases or secrets: they name rules, ids and sizes.

    MemvaultError                 1  failure
    |- Usage                      2  usage            a request that can never succeed as written
    |  |- TextUnusable            2  text_unusable    empty, too long, NUL bytes, lone surrogates
    |  `- ScopeMissing, ...       2
    |- LimitReached               1  limit_reached    as many as there may be
    |- NotFound                   3  not_found        absent, or not granted: the same answer
    |- Closed                     4  (no vault can be read right now)
    |  |- Locked                  4  locked
    |  |- VaultAbsent             4  absent
    |  |- WrongKey                4  wrong_key        this passphrase or code opens no slot
    |  |- TooManyMistakes         4  too_many_mistakes
    |  |- DaemonDown              4  daemon_down
    |  |  `- ProtocolMismatch     4  protocol_mismatch
    |  |- KeychainTrouble         4  keychain_*       locked, hung, empty, refused, changed
    |  `- PresenceRequired        4  presence_required
    |- WaitsForPerson             5  pending
    |- Refused                    6  refused          gate, scan or tombstone
    |- Illegal                    7  illegal_transition
    |  `- DependentChanges        7  dependent_changes
    `- Damaged                    8  (vault or key damaged)
       |- HeaderDamaged           8  header_damaged
       |- ForeignFile             8  foreign_file     the file is not a memvault vault
       |- VaultDamaged            8  vault_damaged
       |- VaultMissing            8  vault_missing    a header is there, the database is not
       |- BackupDamaged           8  backup_damaged   a backup is not as it was written
       `- SchemaNewer             8  schema_newer
"""

from __future__ import annotations

from typing import ClassVar


class MemvaultError(Exception):
    """Root of the tree. `code` is stable, `exit_status` follows SPEC 14, `hint` says what to do next."""

    code: ClassVar[str] = "failure"
    exit_status: ClassVar[int] = 1
    retryable: ClassVar[bool] = False
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint


class Busy(MemvaultError):
    """The daemon is at a limit; the client waits and asks again."""

    code = "busy"
    retryable = True
    default_hint = "Try again in a moment."


class RateLimited(Busy):
    """Too many calls a second; `retry_after_ms` says when the next one is taken."""

    code = "rate_limited"
    default_hint = "Wait as long as retry_after_ms says, then go on more slowly."

    def __init__(self, message: str, hint: str | None = None, retry_after_ms: int = 0) -> None:
        super().__init__(message, hint)
        self.retry_after_ms = retry_after_ms


class Cancelled(MemvaultError):
    """The caller took the call back before it was answered; a write may have happened."""

    code = "cancelled"


class LimitReached(MemvaultError):
    """There are as many as there may be; something of the same sort must go first."""

    code = "limit_reached"


class DiskFull(MemvaultError):
    code = "disk_full"
    default_hint = "Nothing was changed. Free some space; deleting memories still works."


class ReadOnly(MemvaultError):
    code = "read_only"
    default_hint = "The vault's folder cannot be written; memories can be read, not changed."


class UnsafePath(MemvaultError):
    """A link, a foreign owner or loose permissions where memvault keeps its files."""

    code = "unsafe_path"
    default_hint = "Make the folder yours alone (chmod 700) and remove links from it."


class ModelUnavailable(MemvaultError):
    code = "model_unavailable"
    default_hint = "Recall goes on by keywords. `memvault models pull` fetches the model."


class Usage(MemvaultError):
    code = "usage"
    exit_status = 2


class TextUnusable(Usage):
    """Text that cannot become a memory: empty, too long, NUL bytes, lone surrogates."""

    code = "text_unusable"


class ConfigInvalid(Usage):
    code = "config_invalid"


class FrameInvalid(Usage):
    """A request that breaks the wire format or a limit."""

    code = "frame_invalid"


class UnknownMethod(Usage):
    code = "unknown_method"


class AnswerTooLarge(Usage):
    """What was asked for does not fit into one answer."""

    code = "answer_too_large"
    default_hint = "Ask for fewer at once."


class TooSlow(Usage):
    """A connection kept the daemon waiting; it is closed."""

    code = "too_slow"


class NotFound(MemvaultError):
    code = "not_found"
    exit_status = 3
    default_hint = "`memvault list` shows what is there."


class NotGranted(NotFound):
    """Outside the caller's grant: the same answer as for what is not there."""

    code = "not_found"
    default_hint = "`memvault agents` shows a person what each agent was granted."


class Closed(MemvaultError):
    """No vault can be read right now."""

    code = "closed"
    exit_status = 4


class Locked(Closed):
    code = "locked"
    default_hint = "`memvault unlock` opens it."


class VaultAbsent(Closed):
    code = "absent"
    default_hint = "`memvault init` makes a vault."


class WrongKey(Closed):
    """The passphrase or recovery code opens no key slot; nothing was changed."""

    code = "wrong_key"
    default_hint = "Check the passphrase, or use the recovery code: `memvault unlock --recovery`."


class DaemonDown(Closed):
    code = "daemon_down"
    default_hint = "`memvault doctor` says why the daemon does not start."


class ProtocolMismatch(DaemonDown):
    """Client and daemon have no version of the protocol in common; the message names who is behind."""

    code = "protocol_mismatch"


class TooManyMistakes(Closed):
    """Several wrong passphrases within a minute: the next one is not looked at before it has passed."""

    code = "too_many_mistakes"
    default_hint = "Wait a minute, then try again."


class KeychainTrouble(Closed):
    """The system keychain did not give the key; `code` tells which of the five ways it failed."""

    code = "keychain"
    default_hint = "Use the passphrase or the recovery code: `memvault unlock`."


class KeychainLocked(KeychainTrouble):
    code = "keychain_locked"


class KeychainHung(KeychainTrouble):
    code = "keychain_hung"


class KeychainUnsafe(KeychainTrouble):
    """No keychain, or one that stores nothing or stores in the clear."""

    code = "keychain_unsafe"


class KeychainEmpty(KeychainTrouble):
    """The keychain was reset: it no longer holds this vault's key."""

    code = "keychain_empty"


class KeychainChanged(KeychainTrouble):
    """The keychain holds another key, or another backend answers than the one that was used."""

    code = "keychain_changed"


class PresenceRequired(Closed):
    """Only a person may do this, and nobody has shown to be there in the last five minutes."""

    code = "presence_required"
    default_hint = "Give the passphrase when asked, or --passphrase-file in scripts."


class WaitsForPerson(MemvaultError):
    code = "pending"
    exit_status = 5
    default_hint = "A person confirms it: `memvault inbox`."


class Refused(MemvaultError):
    """Refused by gate, scan or tombstone; the message names the test that failed, never the text."""

    code = "refused"
    exit_status = 6


class Illegal(MemvaultError):
    """A transition that SPEC 4 does not have; the message names both states."""

    code = "illegal_transition"
    exit_status = 7


class DependentChanges(Illegal):
    code = "dependent_changes"
    default_hint = "Repeat with --with-dependents to take those back as well."


class Damaged(MemvaultError):
    code = "damaged"
    exit_status = 8
    default_hint = (
        "Nothing was written. `memvault recover` looks closer; `memvault restore` brings back a backup."
    )


class HeaderDamaged(Damaged):
    code = "header_damaged"


class ForeignFile(Damaged):
    code = "foreign_file"


class VaultDamaged(Damaged):
    code = "vault_damaged"


class VaultMissing(Damaged):
    code = "vault_missing"


class BackupDamaged(Damaged):
    """A backup is cut off or changed; what it was to replace is untouched."""

    code = "backup_damaged"
    default_hint = "Nothing was changed. `memvault backups` lists the others."


class SchemaNewer(Damaged):
    code = "schema_newer"
    default_hint = "This vault was written by a newer memvault. Upgrade the program."


def _tree(root: type[MemvaultError]) -> dict[str, type[MemvaultError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found = _tree(child) | found
    return found


BY_CODE: dict[str, type[MemvaultError]] = _tree(MemvaultError)
"""Every code to its class, so that a client raises what the daemon raised."""


def from_wire(code: str, message: str, hint: str) -> MemvaultError:
    """Rebuild the daemon's error; a code this program does not know becomes the root class."""
    return BY_CODE.get(code, MemvaultError)(message, hint)
