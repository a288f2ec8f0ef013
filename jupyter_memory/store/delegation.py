"""Delegation: methods of the store that call those of its parts, and signatures that show every keyword."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, Concatenate, ForwardRef, ParamSpec, TypeVar

Part = TypeVar("Part")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


def delegated(
    part: str, method: Callable[Concatenate[Part, Parameters], Result]
) -> Callable[Concatenate[Any, Parameters], Result]:
    """Return a method of the store that calls one of a part, with its signature and docstring."""
    of_store = attrgetter(part)

    @wraps(method)
    def call(store: Any, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return method(of_store(store), *args, **kwargs)

    return call


def keywords(known: type[Any]) -> Callable[[Function], Function]:
    """Show these keywords one by one in a function's signature, where completion and help look for them."""

    def decorate(function: Function) -> Function:
        written = inspect.signature(function)
        own = [one for one in written.parameters.values() if one.kind is not one.VAR_KEYWORD]
        shown = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=() if name == "tags" else None,
                # What is written in the class, not the reference that it was made.
                annotation=of.__forward_arg__ if isinstance(of, ForwardRef) else of,
            )
            for name, of in known.__annotations__.items()
        ]
        shown = sorted([*own, *shown], key=lambda one: one.kind)
        function.__signature__ = written.replace(parameters=shown)  # type: ignore[attr-defined]
        return function

    return decorate
