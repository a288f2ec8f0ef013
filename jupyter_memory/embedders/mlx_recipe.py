"""Read how a model makes one vector of a text from its sentence-transformers files: pooling, prefixes, sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from jupyter_memory.errors import EmbedderUnavailable

# The errors of reading files that mlx-embeddings does not check.
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RuntimeError, OSError)
# A chunk has a few hundred tokens, and attention needs memory for the square of their number.
MOST_TOKENS = 2_048

# The keys of a Pooling module, in the order in which sentence-transformers joins their results.
_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt",
    "pooling_mode_weightedmean_tokens": "weighted",
    "pooling_mode_lasttoken": "last",
}
_SHORT = {"mean_sqrt_len_tokens": "mean_sqrt", "weightedmean": "weighted", "lasttoken": "last"}
# The pooling of models without a Pooling module; sentence-transformers takes the mean by default.
_USUAL = {"qwen3": "last"}
# Dense layers that are part of the architecture.
DENSE_INSIDE = ("gemma3_text",)
_DOCUMENT = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What happens to a text before and after the transformer.

    ``pooling`` names what is joined to one vector, ``dense`` the folders of the layers after it; ``width`` is the
    vector's size then, and ``sizes`` are those that it may be cut to: None where the model does not say, () for any.
    """

    kind: str
    pooling: tuple[str, ...]
    dense: tuple[str, ...]
    query_prefix: str
    document_prefix: str
    max_tokens: int
    lower: bool
    padding: int
    width: int
    sizes: tuple[int, ...] | None


def read_recipe(folder: Path) -> Recipe:
    """Return the recipe of a model's folder; no weights are read.

    Raises:
        EmbedderUnavailable: a file is missing or broken, or requires something that is not supported here.
    """
    config = _json(folder / "config.json", needed=True)
    kind = str(config.get("model_type", "")).replace("-", "_")
    pooling, dense, width = _modules(folder, config, kind)
    query, document = _prefixes(_json(folder / "config_sentence_transformers.json"))
    sentence = _json(folder / "sentence_bert_config.json")
    tokenizer = _json(folder / "tokenizer_config.json")
    return Recipe(
        kind=kind,
        pooling=pooling,
        dense=dense,
        query_prefix=query,
        document_prefix=document,
        max_tokens=_max_tokens(sentence, tokenizer, config, kind),
        lower=bool(sentence.get("do_lower_case")),
        padding=int(config.get("pad_token_id") or 0),
        width=width,
        sizes=_sizes(config),
    )


def first_line(error: BaseException) -> str:
    """Return what an error says first, without its full stop."""
    said = str(error).strip().splitlines()
    return said[0].rstrip(".") if said else type(error).__name__


def _modules(folder: Path, config: Mapping[str, Any], kind: str) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    try:
        width = int(config["hidden_size"])
    except (KeyError, TypeError, ValueError):
        _refuse(folder, "its config.json has no hidden_size")
    modes: tuple[str, ...] = ()
    dense: list[str] = []
    normal = False
    for module in _listed(folder):
        name, path = str(module.get("type", "")).rpartition(".")[2], str(module.get("path", ""))
        if normal and name in ("Pooling", "Dense"):
            _refuse(folder, f"its modules.json has {name} after Normalize")
        if name == "Pooling":
            modes = _modes(folder, _json(folder / path / "config.json", needed=True))
            width *= len(modes)
        elif name == "Dense":
            dense.append(path)
            width = int(_json(folder / path / "config.json", needed=True).get("out_features", width))
        elif name == "Normalize":
            normal = True
        elif name not in ("Transformer", "Dropout"):
            _refuse(folder, f"its modules.json asks for {name or 'a module without a name'}")
    return modes or (_USUAL.get(kind, "mean"),), tuple(dense), width


def _listed(folder: Path) -> list[Mapping[str, Any]]:
    file = folder / "modules.json"
    try:
        modules = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except ValueError as broken:
        raise EmbedderUnavailable(f"{file} cannot be read: {broken}. Fetch it again.") from broken
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise EmbedderUnavailable(f"{file} is not a list of modules. Fetch it again.")
    return modules


def _modes(folder: Path, config: Mapping[str, Any]) -> tuple[str, ...]:
    named = config.get("pooling_mode")
    if named:
        given = [named] if isinstance(named, str) else list(named)
        found = tuple(_SHORT.get(mode, mode) for mode in given)
    else:
        found = tuple(mode for key, mode in _MODES.items() if config.get(key))
    if not found or set(found) - set(_MODES.values()):
        _refuse(folder, f"its pooling is {', '.join(found) or 'not said'}")
    if not config.get("include_prompt", True):
        _refuse(folder, "its pooling leaves out the prompt")
    return found


def _prefixes(config: Mapping[str, Any]) -> tuple[str, str]:
    prompts = config.get("prompts") or {}
    usual = prompts.get(config.get("default_prompt_name"), "")
    document = next((prompts[name] for name in _DOCUMENT if name in prompts), usual)
    return str(prompts.get("query", usual) or ""), str(document or "")


def _max_tokens(sentence: Mapping[str, Any], tokenizer: Mapping[str, Any], config: Mapping[str, Any], kind: str) -> int:
    known = [MOST_TOKENS]
    if isinstance(config.get("max_position_embeddings"), int):
        # RoBERTa's positions begin after the padding's.
        unused = 1 + int(config.get("pad_token_id") or 0) if kind == "xlm_roberta" else 0
        known.append(config["max_position_embeddings"] - unused)
    known += [
        said
        for said in (sentence.get("max_seq_length"), tokenizer.get("model_max_length"))
        if isinstance(said, int) and said > 0
    ]
    return min(known)


def _sizes(config: Mapping[str, Any]) -> tuple[int, ...] | None:
    listed = config.get("matryoshka_dimensions")
    if listed:
        return tuple(int(size) for size in listed)
    return () if config.get("is_matryoshka") else None


def _json(file: Path, *, needed: bool = False) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        if needed:
            raise EmbedderUnavailable(
                f"There is no model in {file.parent}: {file.name} is missing. Fetch it again."
            ) from missing
        return {}
    except ValueError as broken:
        raise EmbedderUnavailable(f"{file} cannot be read: {broken}. Fetch it again.") from broken
    if not isinstance(content, dict):
        raise EmbedderUnavailable(f"{file} must contain a JSON object. Fetch it again.")
    return content


def _refuse(folder: Path, why: str) -> NoReturn:
    raise EmbedderUnavailable(f"The model in {folder} cannot run here: {why}. Take another model.")
