"""Releases resources that a forked child must not share with its parent: pipes, and locks that can be held."""

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    def abandon(self) -> None:
        """Called in a forked child, in which only the forking thread exists."""


_all: "weakref.WeakSet[Forked]" = weakref.WeakSet()


def abandon_after_fork(owner: Forked) -> None:
    """Registers `owner`. Its `abandon()` is called in every forked child while `owner` exists."""
    _all.add(owner)


def _after_fork() -> None:
    for owner in [*_all]:
        owner.abandon()


os.register_at_fork(after_in_child=_after_fork)
