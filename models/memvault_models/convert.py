"""Writes a container as GGUF. Owns the mapping of names and keys; must not know where files come from or go.

The weights are ggml Q4_0 blocks already, so this is a repack: no number changes. The output depends on the
container alone (fixed order of keys and tensors, no dates, no versions of this package), so its sha256 is
fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gguf import GGMLQuantizationType, GGUFWriter, PoolingType, TokenType

from memvault_models.container import F32, Q4_0_BLOCK, Q4_0_BLOCK_BYTES, Container, Pieces, Shape, Tensor
from memvault_models.errors import ModelDamaged
from memvault_models.port import Progress

_UNUSED_SCORE = -1000.0  # far below any piece of a Unigram vocabulary, so that padding is never chosen
_MASK = b"<mask>"


def write_gguf(
    container: Container, path: Path, name: str, licence: str, progress: Progress | None = None
) -> None:
    """Write the model to `path`, reporting (bytes done, bytes in all). Raises ModelDamaged, OSError."""
    tensors = list(_tensors(container))
    writer = GGUFWriter(path, "bert")
    try:
        _add_keys(writer, container.shape, name, licence)
        _add_tokenizer(writer, container.pieces, container.shape.vocab)
        for label, array, kind in tensors:
            writer.add_tensor_info(label, array.shape, array.dtype, array.nbytes, raw_dtype=kind)
        writer.write_header_to_file(path)
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        done, total = 0, sum(array.nbytes for _, array, _ in tensors)
        for _, array, _ in tensors:
            writer.write_tensor_data(array)
            done += array.nbytes
            if progress is not None:
                progress(done, total)
    finally:
        writer.close()


def _add_keys(writer: GGUFWriter, shape: Shape, name: str, licence: str) -> None:
    writer.add_name(name)
    writer.add_license(licence.lower())
    writer.add_vocab_size(shape.vocab)
    writer.add_context_length(shape.positions)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_block_count(shape.layers)
    writer.add_head_count(shape.heads)
    writer.add_layer_norm_eps(shape.epsilon)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.MEAN)
    writer.add_token_type_count(shape.token_types)
    writer.add_quantization_version(2)
    writer.add_file_type(2)  # mostly Q4_0


def _add_tokenizer(writer: GGUFWriter, pieces: Pieces, vocab: int) -> None:
    """Unigram vocabulary, padded to the rows of the embedding with tokens that are never chosen."""
    unused = vocab - len(pieces.texts)
    kinds = [TokenType.NORMAL] * len(pieces.texts)
    for mark in (pieces.bos, pieces.eos, pieces.pad):
        kinds[mark] = TokenType.CONTROL
    kinds[pieces.unk] = TokenType.UNKNOWN
    if pieces.texts[-1] == _MASK:
        kinds[-1] = TokenType.CONTROL
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([*pieces.texts, *(f"[PAD{i}]".encode() for i in range(unused))])
    writer.add_token_scores([*pieces.scores.tolist(), *([_UNUSED_SCORE] * unused)])
    writer.add_token_types([*kinds, *([TokenType.UNUSED] * unused)])
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_bos_token_id(pieces.bos)
    writer.add_eos_token_id(pieces.eos)
    writer.add_unk_token_id(pieces.unk)
    writer.add_sep_token_id(pieces.eos)
    writer.add_pad_token_id(pieces.pad)
    writer.add_uint32("tokenizer.ggml.cls_token_id", pieces.bos)


def _tensors(container: Container) -> Iterator[tuple[str, npt.NDArray[np.generic], GGMLQuantizationType]]:
    """Name, array and type of every tensor, in the order of the file."""
    shape = container.shape
    hidden, ffn = shape.hidden, shape.ffn
    plan: list[tuple[str, str, tuple[int, ...]]] = [
        ("token_embd.weight", "emb.word", (shape.vocab, hidden)),
        ("position_embd.weight", "emb.pos", (shape.positions, hidden)),
        ("token_types.weight", "emb.type", (shape.token_types, hidden)),
        ("token_embd_norm.weight", "emb.ln.w", (hidden,)),
        ("token_embd_norm.bias", "emb.ln.b", (hidden,)),
    ]
    matrices = [
        ("attn_q", "q", hidden, hidden),
        ("attn_k", "k", hidden, hidden),
        ("attn_v", "v", hidden, hidden),
    ]
    matrices += [
        ("attn_output", "ao", hidden, hidden),
        ("ffn_up", "fi", ffn, hidden),
        ("ffn_down", "fo", hidden, ffn),
    ]
    for layer in range(shape.layers):
        for theirs, ours, rows, columns in matrices:
            plan.append((f"blk.{layer}.{theirs}.weight", f"l{layer}.{ours}.w", (rows, columns)))
            plan.append((f"blk.{layer}.{theirs}.bias", f"l{layer}.{ours}.b", (rows,)))
        for theirs, ours in (("attn_output_norm", "aln"), ("layer_output_norm", "oln")):
            plan.append((f"blk.{layer}.{theirs}.weight", f"l{layer}.{ours}.w", (hidden,)))
            plan.append((f"blk.{layer}.{theirs}.bias", f"l{layer}.{ours}.b", (hidden,)))
    for label, source, dimensions in plan:
        tensor = container.tensors.get(source)
        if tensor is None or tensor.elements != int(np.prod(dimensions)):
            raise ModelDamaged(f"container: tensor {source} is missing or has another size")
        yield label, *_array(tensor, dimensions)


def _array(
    tensor: Tensor, dimensions: tuple[int, ...]
) -> tuple[npt.NDArray[np.generic], GGMLQuantizationType]:
    """Plain floats as they are; Q4_0 as rows of bytes, which is how the writer learns the shape."""
    if tensor.kind == F32:
        return np.ascontiguousarray(tensor.data).view("<f4").reshape(dimensions), GGMLQuantizationType.F32
    if dimensions[-1] % Q4_0_BLOCK:
        raise ModelDamaged(f"container: rows of {dimensions[-1]} weights do not fill whole blocks")
    row_bytes = dimensions[-1] // Q4_0_BLOCK * Q4_0_BLOCK_BYTES
    return np.ascontiguousarray(tensor.data).reshape(*dimensions[:-1], row_bytes), GGMLQuantizationType.Q4_0
