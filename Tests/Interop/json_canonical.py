"""Reads JSON texts from a file, one per line, and prints one line for each: the value it read and the value it wrote.

    <value read> <value written> <written text in hexadecimal>

The value read is exact: a number is its decimal digits without trailing zeros, and its exponent. The value written uses Python's
int and float: a number is its digits, or the bits of the double.
"""

import json
import struct
import sys
from decimal import Decimal


def canonical(value, number):
    if value is None:
        return "n"
    if value is True or value is False:
        return "t" if value else "f"
    if isinstance(value, str):
        return "s" + value.encode().hex()
    if isinstance(value, list):
        return "[" + "".join(canonical(each, number) + "," for each in value) + "]"
    if isinstance(value, Members):
        return "{" + "".join(f"s{name.encode().hex()}:{canonical(each, number)}," for name, each in value.pairs) + "}"
    return number(value)


class Members:
    """The members of an object in the order of the text, including duplicate names."""

    def __init__(self, pairs):
        self.pairs = pairs


def exact(value):
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    plain = text.rstrip("0")
    exponent = exponent + len(text) - len(plain) if plain else 0
    return f"{'-' if sign else ''}{plain or '0'}e{exponent}"


def own(value):
    return f"i{value}" if isinstance(value, int) else "d" + struct.pack(">d", value).hex()


def finite(text):
    """A float, or the text of a number outside of the range of floats."""
    value = float(text)
    return text if value in (float("inf"), float("-inf")) else value


def plain(value):
    """The value with dictionaries instead of `Members`, for `json.dumps`."""
    if isinstance(value, Members):
        return {name: plain(each) for name, each in value.pairs}
    return [plain(each) for each in value] if isinstance(value, list) else value


with open(sys.argv[1], "rb") as file:
    lines = file.read().split(b"\n")[:-1]
styles = [{}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"indent": 1, "ensure_ascii": False}, {"indent": "\t"}]
for place, line in enumerate(lines):
    text = line.decode()
    read = json.loads(text, parse_float=Decimal, parse_int=Decimal, object_pairs_hook=Members)
    value = json.loads(text, parse_float=finite, object_pairs_hook=Members)
    written = json.dumps(plain(value), **styles[place % len(styles)])
    print(canonical(read, exact), canonical(value, own), written.encode().hex())
