"""Converts JSON to the types that the contract declares, for methods and notifications that are known only by name."""

import sys
from typing import Any, Callable, Optional

from ._record import Record, of
from .generated import types
from .generated.contract import METHODS, NOTIFICATIONS, PROGRESS


def result_of(method: str, value: Any) -> Any:
    """Converts the result of a method. The result of an unknown method becomes a `Record`, so that `repr` hides its secrets."""
    return converted(METHODS.get(method), value)


def params_of(notification: str, value: Any) -> Any:
    """Converts the parameters of a notification."""
    return converted(NOTIFICATIONS.get(notification), value)


def telling(method: str, progress: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns a callback that converts the progress values of a method."""
    name = PROGRESS.get(method)
    return lambda value: progress(converted(name, value))


def converted(name: Optional[str], value: Any) -> Any:
    # The types of testing methods exist only if mintmark.testing is imported.
    for module in (types, sys.modules.get(f"{__package__}.generated.testing.types")):
        found: Any = getattr(module, name, None) if name else None
        if isinstance(found, type) and issubclass(found, Record):
            return found._of(value)
        if callable(found):
            return found(value)
    return of(value)
