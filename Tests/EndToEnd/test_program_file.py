"""The program as the linker made it, and its start."""

import glob
import os
import re
import struct

from endtoend import EndToEnd
from sidecar import ROOT, binary

RELRO = 0x6474E552


def program_headers(path):
    """Returns the type, address and size in memory of each segment of an ELF file of 64 bits."""
    with open(path, "rb") as file:
        data = file.read(1 << 16)
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for place in range(offset, offset + size * count, size):
        kind, _, _, address, _, _, length = struct.unpack_from("<IIQQQQQ", data, place)
        yield kind, address, length


class ProgramFile(EndToEnd):
    stores = ("sqlite",)

    def test_relocated_constants_are_read_only(self):
        """The program applies its own relocations in release builds; afterwards no pointer of its constants can be overwritten."""
        sidecar = self.spawn("--allow-core-dumps", testing=True)
        sidecar.call("system.ping")
        with open(f"/proc/{sidecar.process.pid}/maps", encoding="utf-8") as maps:
            parts = [line.split() for line in maps if line.rstrip().endswith(os.path.realpath(binary()))]
        base = int(parts[0][0].split("-")[0], 16)
        places = [(base + address, base + address + length) for kind, address, length in program_headers(binary()) if kind == RELRO]
        self.assertEqual(len(places), 1)
        start, end = places[0][0] & ~4095, places[0][1] & ~4095
        self.assertLess(start, end)
        for span, rights, *_ in parts:
            first, last = (int(each, 16) for each in span.split("-"))
            if first < end and start < last:
                self.assertNotIn("w", rights, f"{span} of {start:x}-{end:x}")

    def test_listed_properties_are_all_properties_with_a_wrapper(self):
        """The parser reads the properties that a command lists. An option that is missing in the list would be unknown."""
        checked = 0
        for path in glob.glob(os.path.join(ROOT, "Sources", "CLI", "**", "*.swift"), recursive=True):
            with open(path, encoding="utf-8") as file:
                source = file.read()
            for name, body in re.findall(r"^struct (\w+): Parsable\w+ \{\n(.*?)\n\}$", source, re.M | re.S):
                listed = re.search(r"var properties: \[\(name: String, property: CommandProperty\)\]\? \{(.*?)\n    \}", body, re.S)
                if not listed:
                    continue
                pairs = re.findall(r'\("(\w+)", _(\w+)\)', listed[1])
                # The attribute is on the line of the property, or begins on a line before it.
                declared = re.findall(r"^    @(?:Option|Flag|Argument|OptionGroup)\b(?:.*?\n?)*?.*?\bvar (\w+)", body, re.M)
                self.assertEqual(pairs, [(each, each) for each in declared], name)
                checked += 1
        self.assertEqual(checked, 5)
