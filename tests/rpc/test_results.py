"""Every method answers what its declared result type says, no field more and none less."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from memvault.daemon.handlers import table
from memvault.rpc.contract import CONTRACTS
from memvault.rpc.results import Result

METHODS = sorted(table().table)
NOT_ANSWERED_HERE = {"keys.add_keychain", "models.use", "mcp.attach"}
"""Need a system keychain, a second real model, or end the conversation."""


def test_every_method_has_a_contract_and_no_contract_is_without_method() -> None:
    assert set(METHODS) == set(CONTRACTS)


@pytest.mark.parametrize("method", METHODS)
def test_a_real_answer_is_what_the_contract_says(asked: dict[str, list[Any]], method: str) -> None:
    if method in NOT_ANSWERED_HERE:
        pytest.skip("needs a keychain or a second model, or ends the conversation")
    assert asked.get(method), "the scenario asks every method"
    for answer in asked[method]:
        msgspec.convert(answer, CONTRACTS[method].result)


@pytest.mark.parametrize("method", METHODS)
def test_results_that_are_not_as_declared_would_be_noticed(method: str) -> None:
    declared = CONTRACTS[method].result
    wrong: Any = [{"surprise": 1}] if not isinstance(declared, type) else {"surprise": 1}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, declared)


def test_result_types_share_one_base_and_say_something() -> None:
    for contract in CONTRACTS.values():
        assert contract.says.endswith(".")
        if isinstance(contract.result, type):
            assert issubclass(contract.result, Result)
