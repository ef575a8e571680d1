"""What time does to an open vault: when it is opened and once a day. Knows nothing of timers."""

from __future__ import annotations

from memvault.services.candidates import lapse_candidates
from memvault.services.compiling import lapse_sessions
from memvault.services.forgetting import forget
from memvault.services.tasks import lapse_tasks
from memvault.services.vault import Vault


def tidy(vault: Vault) -> None:
    """Let what is due expire or lapse; nothing does while the clock cannot be trusted."""
    if not forget(vault).held:
        lapse_candidates(vault)
        lapse_tasks(vault)
        lapse_sessions(vault)
        with vault.writer.transaction():
            vault.told.roll_off(vault.writer, vault.now())
