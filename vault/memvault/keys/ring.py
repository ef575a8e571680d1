"""The key ring: making a vault's key, opening it, and changing who can open it. The public face of `keys`.

Every function that changes slots takes the folder and the vault key: it reads the present header, makes sure
that this key wrote it, and puts the changed one in its place whole; the vault itself is not rewritten. A
removed or replaced slot no longer opens this header, but whoever kept an old copy of the header together with
the old passphrase still knows the vault key: only a rotation (`rewrap_all`) shuts them out.

Blocking: a passphrase costs about half a second, the keychain up to five. Knows nothing of the database, the
daemon, or whether a person is there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from memvault.clock import Clock, SystemClock
from memvault.errors import HeaderDamaged, KeychainTrouble, MemvaultError, NotFound, Usage, WrongKey
from memvault.ids import new_id
from memvault.keys import header as codec
from memvault.keys import header_file, kdf, os_keyring, passphrase, recovery
from memvault.keys.envelope import Binding, VaultKey
from memvault.keys.header import VaultHeader
from memvault.keys.kdf import STANDARD, KdfProfile
from memvault.keys.os_keyring import Keychain
from memvault.keys.slots import KeychainSlot, PassphraseSlot, RecoverySlot, Slot, type_of

_CLOCK = SystemClock()
_KEYCHAIN = Keychain()


@dataclass(frozen=True, slots=True)
class Created:
    """A new vault's keys. The recovery code is to be shown once and forgotten."""

    header: VaultHeader
    key: VaultKey
    recovery_code: str = field(repr=False)
    warnings: tuple[str, ...]


def create(
    home: Path,
    *,
    passphrase: str | None,
    use_keychain: bool,
    profile: KdfProfile = STANDARD,
    keychain: Keychain = _KEYCHAIN,
    clock: Clock = _CLOCK,
) -> Created:
    """Make a vault's keys (see `draft`) and write its header into `home`, which is there, mode 0700.

    The caller makes sure beforehand that no database without a header lies there.
    Raises what `draft` does, Illegal (a vault is there), UnsafePath, DiskFull, ReadOnly.
    """
    made = draft(
        passphrase=passphrase, use_keychain=use_keychain, profile=profile, keychain=keychain, clock=clock
    )
    try:
        header_file.create(home, made.header)
    except MemvaultError:
        _forget_kept(made.header, keychain)
        raise
    return made


def draft(
    *,
    passphrase: str | None,
    use_keychain: bool,
    profile: KdfProfile = STANDARD,
    keychain: Keychain = _KEYCHAIN,
    clock: Clock = _CLOCK,
) -> Created:
    """Make a vault key, wrapped by a new recovery code, the passphrase and the keychain. Writes no file.

    A keychain that fails is a warning when there is a passphrase, else an error.
    Raises Usage (the passphrase is unfit), KeychainTrouble.
    """
    phrase = None if passphrase is None else kdf.accept_new(passphrase)
    vault_id, key, code, now = new_id(), VaultKey.random(), recovery.new_code(), clock.now()
    slots: list[Slot] = [recovery.make(vault_id, 1, key, code, now)]
    warnings: list[str] = []
    if phrase is not None:
        slots.append(_passphrase_slot(vault_id, 1, key, phrase, profile, clock))
    if use_keychain:
        try:
            slots.append(os_keyring.make(vault_id, 1, key, keychain, now))
        except KeychainTrouble as trouble:
            if phrase is None:
                raise
            warnings.append(f"{trouble.message}: this vault opens with its passphrase only")
    if len(slots) == 1:
        warnings.append("this vault opens with its recovery code only: add a passphrase for every day")
    return Created(codec.new(vault_id, key, slots, now), key, code, tuple(warnings))


def _passphrase_slot(
    vault_id: str, generation: int, key: VaultKey, text: str, profile: KdfProfile, clock: Clock
) -> PassphraseSlot:
    return passphrase.make(vault_id, generation, key, text, kdf.calibrate(profile), clock.now())


def open_with_passphrase(header: VaultHeader, text: str) -> VaultKey:
    """Raises WrongKey, HeaderDamaged, Busy (no memory for the derivation)."""
    return _proved(header, passphrase.find(header, text)[2])


def open_with_recovery(header: VaultHeader, code: str) -> VaultKey:
    """Raises WrongKey (it names the group with a typing mistake), HeaderDamaged."""
    return _proved(header, recovery.find(header, code)[2])


def open_with_keychain(header: VaultHeader, keychain: Keychain = _KEYCHAIN) -> VaultKey:
    """Raises WrongKey (no such slot), one of the five KeychainTrouble errors, HeaderDamaged."""
    return _proved(header, os_keyring.find(header, keychain)[2])


def _proved(header: VaultHeader, key: VaultKey) -> VaultKey:
    if not codec.proved_by(header, key):
        raise HeaderDamaged("the vault's header was changed by something that does not hold the vault's key")
    return key


def add_passphrase(
    home: Path, key: VaultKey, text: str, profile: KdfProfile = STANDARD, clock: Clock = _CLOCK
) -> VaultHeader:
    """One more passphrase. Raises Usage (unfit, or already four)."""
    return _change(
        home,
        key,
        lambda h: (*h.slots, _passphrase_slot(h.vault_id, h.generation, key, text, profile, clock)),
    )


def add_keychain(
    home: Path, key: VaultKey, keychain: Keychain = _KEYCHAIN, clock: Clock = _CLOCK
) -> VaultHeader:
    """Keep the vault in the system keychain, anew if it was reset. Raises KeychainTrouble."""

    def change(present: VaultHeader) -> tuple[Slot, ...]:
        others = tuple(slot for slot in present.slots if not isinstance(slot, KeychainSlot))
        return (*others, os_keyring.make(present.vault_id, present.generation, key, keychain, clock.now()))

    return _change(home, key, change)


def remove_slot(home: Path, key: VaultKey, slot_id: str, keychain: Keychain = _KEYCHAIN) -> VaultHeader:
    """Take one way of opening away; a keychain's entry is removed as well when the keychain answers.

    Raises NotFound, and Usage for the last slot that is not the keychain's.
    """

    def change(present: VaultHeader) -> tuple[Slot, ...]:
        rest = tuple(slot for slot in present.slots if slot.id != slot_id)
        if len(rest) == len(present.slots):
            raise NotFound("this vault has no such key slot", "`memvault keys` lists them.")
        return rest

    before = _present(home, key)
    after = _change(home, key, change)
    if len(_kept(before)) > len(_kept(after)):
        _forget_kept(before, keychain)
    return after


def change_passphrase(
    home: Path, key: VaultKey, old: str, new: str, profile: KdfProfile = STANDARD, clock: Clock = _CLOCK
) -> VaultHeader:
    """Put a new passphrase in the place of `old`. Raises WrongKey, Usage (the new one is unfit)."""
    phrase = kdf.accept_new(new)

    def change(present: VaultHeader) -> tuple[Slot, ...]:
        opened = passphrase.find(present, old)[0]
        fresh = _passphrase_slot(present.vault_id, present.generation, key, phrase, profile, clock)
        return tuple(fresh if slot.id == opened.id else slot for slot in present.slots)

    return _change(home, key, change)


def new_recovery_code(home: Path, key: VaultKey, clock: Clock = _CLOCK) -> tuple[VaultHeader, str]:
    """A new code to be shown once; the former one opens the vault no longer."""
    code = recovery.new_code()

    def change(present: VaultHeader) -> tuple[Slot, ...]:
        others = tuple(slot for slot in present.slots if not isinstance(slot, RecoverySlot))
        return (recovery.make(present.vault_id, present.generation, key, code, clock.now()), *others)

    return _change(home, key, change), code


@dataclass(frozen=True, slots=True)
class Rotation:
    """A new vault key and its header, not yet written. `recovery_code` is set when it is a new one."""

    header: VaultHeader
    key: VaultKey
    recovery_code: str | None = field(repr=False)
    dropped: tuple[tuple[str, str], ...]
    """(slot id, type) of slots that could not be carried over."""


def rewrap_all(
    header: VaultHeader,
    old: VaultKey,
    *,
    passphrase_text: str | None = None,
    recovery_code: str | None = None,
    keychain: Keychain = _KEYCHAIN,
    clock: Clock = _CLOCK,
) -> Rotation:
    """A new vault key in the same slots, as far as each slot's own key is at hand.

    A passphrase slot needs its passphrase, the keychain slot a keychain that answers: else they are dropped
    (and can be added again). The recovery slot keeps its code when that is given, else a new code is made.
    Nothing is written. The store encrypts a new file with `Rotation.key`, names it by `header.generation`,
    then calls `commit`: that write decides which of the two files is the vault, so that after a kill exactly
    one key opens. Raises WrongKey when a given passphrase or code is wrong, HeaderDamaged.
    """
    _proved(header, old)
    kept: dict[str, bytes] = {}
    if passphrase_text is not None:
        slot, kek, _ = passphrase.find(header, passphrase_text)
        kept[slot.id] = kek
    if recovery_code is not None:
        slot, kek, _ = recovery.find(header, recovery_code)
        kept[slot.id] = kek
    with contextlib.suppress(KeychainTrouble, WrongKey):
        slot, kek, _ = os_keyring.find(header, keychain)
        kept[slot.id] = kek
    key, generation = VaultKey.random(), header.generation + 1
    slots: list[Slot] = []
    for slot in header.slots:
        if slot.id in kept:
            binding = Binding(header.vault_id, slot.id, type_of(slot), generation)
            slots.append(replace(slot, seal=key.wrap(kept[slot.id], binding)))
    code = None
    if not any(isinstance(slot, RecoverySlot) for slot in slots):
        code = recovery.new_code()
        slots.insert(0, recovery.make(header.vault_id, generation, key, code, clock.now()))
    dropped = tuple(
        (slot.id, type_of(slot))
        for slot in header.slots
        if slot.id not in kept and not isinstance(slot, RecoverySlot)
    )
    fresh = codec.prove(replace(header, generation=generation, slots=tuple(slots)), key)
    return Rotation(fresh, key, code, dropped)


def commit(home: Path, rotation: Rotation) -> None:
    """Make a rotation's key the vault's. Raises what `header_file.replace` does."""
    header_file.replace(home, rotation.header)


def _present(home: Path, key: VaultKey) -> VaultHeader:
    header = header_file.read(home)
    _proved(header, key)
    return header


def _change(home: Path, key: VaultKey, change: Callable[[VaultHeader], Sequence[Slot]]) -> VaultHeader:
    """Read, prove, change, prove anew, write. Raises Usage when the slots may not stand alone."""
    present = _present(home, key)
    slots = tuple(change(present))
    refusal = codec.refusal(slots)
    if refusal:
        raise Usage(refusal)
    header = codec.prove(replace(present, slots=slots), key)
    header_file.replace(home, header)
    return header


def _kept(header: VaultHeader) -> list[KeychainSlot]:
    return [slot for slot in header.slots if isinstance(slot, KeychainSlot)]


def _forget_kept(header: VaultHeader, keychain: Keychain) -> None:
    """Remove the keychain's entry; one that stays behind opens nothing."""
    for slot in _kept(header):
        with contextlib.suppress(KeychainTrouble):
            keychain.erase(header.vault_id, slot.backend)
