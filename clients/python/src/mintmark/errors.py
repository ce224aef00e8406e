"""All exceptions: `MintmarkError` is the base class, and `APIError` is the base class of the errors that Mintmark returns."""

# `as` marks a name as public for type checkers.
from ._errors import (
    APIError as APIError,
    BinaryNotFoundError as BinaryNotFoundError,
    BinaryTooOldError as BinaryTooOldError,
    CallTimeoutError as CallTimeoutError,
    ClientClosedError as ClientClosedError,
    MintmarkError as MintmarkError,
    ProcessEndedError as ProcessEndedError,
    ProtocolError as ProtocolError,
)
from .generated.errors import *  # noqa: F403
