"""The types of parameters and results."""

from ._record import Record as Record
from .generated.types import *  # noqa: F403
