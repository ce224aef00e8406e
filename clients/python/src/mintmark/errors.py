"""Every exception: `MintmarkError` is the base of all, `AnsweredError` of those that a call is answered with."""

from ._errors import AnsweredError, BinaryNotFound, CallTimeout, ClientClosed, ConnectionLost, MintmarkError
from .generated import errors as _generated
from .generated.errors import *  # noqa: F403
from .generated.errors import MethodNotFound


class BinaryTooOld(MethodNotFound):
    """The binary does not know a method of this client; the message says what to do."""


__all__ = [
    "AnsweredError", "BinaryNotFound", "BinaryTooOld", "CallTimeout", "ClientClosed", "ConnectionLost", "MintmarkError",
]
__all__ += _generated.__all__
