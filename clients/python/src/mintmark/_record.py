"""The base class of parameters and results: immutable objects with attributes that read the underlying JSON."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Tuple, Type, TypeVar

from .generated.contract import SECRETS

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:
    def dataclass_transform(**_: Any) -> Any:
        return lambda decorated: decorated

Self = TypeVar("Self", bound="Record")
Value = TypeVar("Value")

# The default of a required member.
REQUIRED = object()


class Member:
    """A descriptor that reads a member of the JSON."""

    __slots__ = ("name", "read", "is_secret", "is_required", "attribute")

    def __init__(self, name: str, read: Callable[[Any], Any] | None, is_secret: bool, is_required: bool) -> None:
        self.name, self.read, self.is_secret, self.is_required = name, read, is_secret, is_required
        self.attribute = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute = name

    def __get__(self, record: Any, owner: Any = None) -> Any:
        if record is None:
            return self
        value = record._json.get(self.name)
        if value is None:
            if self.is_required and self.name not in record._json:
                raise AttributeError(f"this {type(record).__name__} has no {self.name}: client and program are of different versions")
            return None
        return self.read(value) if self.read is not None else copied(value)


def member(name: str, read: Callable[[Any], Any] | None = None, *, secret: bool = False, default: Any = REQUIRED) -> Any:
    """Declares a member of a record. `name` is its name in JSON; `read` converts its value."""
    return Member(name, read, secret, default is REQUIRED)


def list_of(read: Callable[[Any], Value]) -> Callable[[Any], List[Value]]:
    """Returns a function that converts the elements of a list."""
    return lambda value: [read(each) for each in value] if isinstance(value, list) else value


def map_of(read: Callable[[Any], Value]) -> Callable[[Any], Dict[str, Value]]:
    """Returns a function that converts the values of an object."""
    return lambda value: {name: read(each) for name, each in value.items()} if isinstance(value, dict) else value


def utc(value: Any) -> datetime:
    """Converts seconds since 1970. Any other value is returned unchanged."""
    try:
        return datetime.fromtimestamp(value, timezone.utc)
    except (TypeError, ValueError, OverflowError, OSError):
        return value  # type: ignore[no-any-return]


def other(_: Any) -> str:
    """Returns the discriminator of a variant that this client does not know."""
    return "other"


def union(discriminator: str, unknown: type, variants: Mapping[str, type]) -> Callable[[Any], Any]:
    """Returns a function that reads an object as the class that the value of its discriminator determines."""
    def read(json: Any) -> Any:
        if type(json) is not dict:
            return json
        value = json.get(discriminator)
        return (variants.get(value, unknown) if type(value) is str else unknown)._of(json)  # type: ignore[attr-defined]
    return read


class RecordType(type):
    """The type of record classes. Collects the members of a class."""

    _members: Dict[str, Member]
    _by_name: Dict[str, Member]

    def __new__(cls, name: str, bases: Tuple[type, ...], namespace: Dict[str, Any]) -> RecordType:
        namespace.setdefault("__slots__", ())
        made = super().__new__(cls, name, bases, namespace)
        made._members = {attribute: each for attribute, each in namespace.items() if isinstance(each, Member)}
        made._by_name = {each.name: each for each in made._members.values()}
        return made


@dataclass_transform(eq_default=True, frozen_default=True, kw_only_default=True, field_specifiers=(member,))
class Record(metaclass=RecordType):
    """An object of the contract. Records are immutable and hashable, and are equal if they have the same type and the same members.

    `record["poolId"]` reads a member by its name in JSON, including members that this client does not know. `to_dict()` returns a copy
    of the JSON. `repr` hides secrets.
    """

    __slots__ = ("_json",)
    __iter__ = None

    def __init__(self, **members: Any) -> None:
        known = type(self)._members
        json: Dict[str, Any] = {}
        for attribute, value in members.items():
            if attribute not in known:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {attribute!r}")
            if value is not None:
                json[known[attribute].name] = plain(value)
        missing = [attribute for attribute, each in known.items() if each.is_required and attribute not in members]
        if missing:
            raise TypeError(f"{type(self).__name__}() requires the keyword arguments {', '.join(missing)}")
        self._json = json

    @classmethod
    def _of(cls: Type[Self], json: Any) -> Self:
        """Creates a record of `json`, which is not copied. Returns any value other than an object unchanged."""
        if type(json) is not dict:
            return json  # type: ignore[no-any-return]
        record = cls.__new__(cls)
        record._json = json
        return record

    @classmethod
    def from_dict(cls: Type[Self], json: Mapping[str, Any]) -> Self:
        """Creates a record from JSON, for example of `to_dict()`."""
        return cls._of(plain(json))

    def to_dict(self) -> Dict[str, Any]:
        """Returns a copy of the JSON, including secrets and members that this client does not know."""
        return {name: copied(each) for name, each in self._json.items()}

    def __getitem__(self, name: str) -> Any:
        known = type(self)._by_name.get(name)
        return of(self._json[name]) if known is None or name not in self._json else known.__get__(self)

    def __contains__(self, name: object) -> bool:
        return name in self._json

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Record) and type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), frozen(self._json)))

    def __copy__(self: Self) -> Self:
        return self

    def __deepcopy__(self: Self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Tuple[Callable[[Any], Any], Tuple[Any, ...]]:
        return (type(self)._of, (self._json,))

    def __repr__(self) -> str:
        shown = [
            f"{attribute}={'[secret]' if each.is_secret else repr(each.__get__(self))}"
            for attribute, each in type(self)._members.items() if each.name in self._json
        ]
        for name, value in self._json.items():
            if name not in type(self)._by_name:
                # A member that a class does not know can be a secret.
                is_hidden = type(self) is not Record or name in SECRETS
                shown.append(f"{name}={('[unknown]' if type(self) is not Record else '[secret]') if is_hidden else repr(of(value))}")
        return f"{type(self).__name__}({', '.join(shown)})"


def of(value: Any) -> Any:
    """Converts JSON of an unknown type: objects become records, also in lists."""
    return [of(each) for each in value] if type(value) is list else Record._of(value)


def copied(value: Any) -> Any:
    """Returns a copy of the lists and objects in JSON."""
    if type(value) is dict:
        return {name: copied(each) for name, each in value.items()}
    return [copied(each) for each in value] if type(value) is list else value


def frozen(value: Any) -> Any:
    """Converts JSON to a hashable value."""
    if type(value) is dict:
        return frozenset((name, frozen(each)) for name, each in value.items())
    return tuple(frozen(each) for each in value) if type(value) is list else value


def plain(value: Any) -> Any:
    """Converts a parameter to JSON: records become objects, and times become seconds since 1970."""
    if isinstance(value, Record):
        return value._json
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return seconds(value) if isinstance(value, datetime) else value


def seconds(time: datetime | int) -> int:
    """Converts a time to seconds since 1970."""
    if not isinstance(time, datetime):
        return time
    if time.tzinfo is None:
        raise ValueError("a datetime without a time zone is ambiguous; add one, such as datetime.timezone.utc")
    return int(time.timestamp())
