"""Parameters and results: objects with attributes that read the underlying JSON."""

from typing import Any, ClassVar, Dict, FrozenSet, Mapping, Optional, Tuple, Type, TypeVar

Self = TypeVar("Self", bound="Record")


class Record:
    """An object of the contract.

    `raw` is the underlying JSON, including members that this client does not know. `repr` hides secrets.
    """

    __slots__ = ("raw",)

    # The pairs of attribute and JSON member, and the members that `repr` hides.
    _members: ClassVar[Tuple[Tuple[str, str], ...]] = ()
    _secret: ClassVar[FrozenSet[str]] = frozenset()

    raw: Dict[str, Any]

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = {name: plain(value) for name, value in raw.items() if value is not None}

    @classmethod
    def of(cls: Type[Self], raw: Dict[str, Any]) -> Self:
        """Creates a record from `raw`, which is not copied."""
        record = cls.__new__(cls)
        record.raw = raw
        return record

    def _required(self, name: str) -> Any:
        try:
            return self.raw[name]
        except KeyError:
            raise AttributeError(
                f"this answer has no {name}: client and binary are of different versions; .raw holds what was answered"
            ) from None

    def _optional(self, name: str) -> Optional[Any]:
        return self.raw.get(name)

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Record) and type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = []
        for attribute, name in self._members:
            if name in self.raw:
                shown.append(f"{attribute}={'<secret>' if name in self._secret else repr(getattr(self, attribute))}")
        # An unknown member can be a secret.
        known = {name for _, name in self._members}
        shown += [f"{name}=<unknown>" for name in self.raw if name not in known]
        return f"{type(self).__name__}({', '.join(shown)})"


def plain(value: Any) -> Any:
    """Returns `value` with all records replaced by their JSON."""
    if isinstance(value, Record):
        return value.raw
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value
