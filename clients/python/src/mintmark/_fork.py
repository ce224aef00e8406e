"""What a forked child must not share with its parent: pipes, and locks that may be held."""

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    def abandon(self) -> None:
        """Called in a forked child, where only the forking thread lives."""


_all: "weakref.WeakSet[Forked]" = weakref.WeakSet()


def abandon_after_fork(owner: Forked) -> None:
    """Has `owner.abandon()` called in every child that is forked while `owner` lives."""
    _all.add(owner)


def _after_fork() -> None:
    for owner in [*_all]:
        owner.abandon()


os.register_at_fork(after_in_child=_after_fork)
