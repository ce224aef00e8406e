"""What calls take and answer."""

from ._record import Record as Record
from .generated.types import *  # noqa: F403
