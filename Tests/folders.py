#!/usr/bin/env python3
"""Checks that the folders of a module do not depend on each other in a circle, so that each can be read after the ones it uses.

A folder depends on another one of the same module if it names a type or a function that is declared there at the top level of a file.
Files beside the folders of a module count as a folder of their own, and so does a folder inside another. Generated code is not read.

Prints for each circle the names that close it, and exits with 1. With --uses MODULE, prints what each folder of the module uses.
"""

import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(ROOT, "Sources")

TYPE = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Za-z_]\w*)")
FUNCTION = re.compile(r"\bfunc\s+([A-Za-z_]\w*)")
OWN_NAME = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias|associatedtype|func|macro|case|let|var)\s+([A-Za-z_]\w*)")
GENERIC_NAMES = re.compile(r"\b(?:(?:struct|class|enum|actor|typealias|func)\s+[^\s<({]+|init[?!]?|subscript)\s*<([^<>]*(?:<[^<>]*>[^<>]*)*)>")
WORD = re.compile(r"[A-Za-z_]\w*")
PRIVATE = re.compile(r"\b(?:private|fileprivate)\b(?!\s*\()")


def code(text):
    """Returns the text with spaces in place of comments and of string literals, but with the code that is interpolated into them."""
    result, index, end = [], 0, len(text)
    strings = []   # of each open literal: its delimiter, its number signs, and the parentheses of its interpolation, or None

    def blank(count):
        nonlocal index
        result.append(re.sub(r"[^\n]", " ", text[index:index + count]))
        index += count

    opening = re.compile(r'(#*)("""|")')
    while index < end:
        if strings and strings[-1][2] is None:
            quotes, signs, _ = strings[-1]
            if text.startswith("\\" + signs + "(", index):
                blank(len(signs) + 2)
                strings[-1][2] = 0
            elif text[index] == "\\" and not signs:
                blank(2)
            elif text.startswith(quotes + signs, index):
                blank(len(quotes + signs))
                strings.pop()
            else:
                blank(1)
        elif text.startswith("//", index):
            line = text.find("\n", index)
            blank((end if line < 0 else line) - index)
        elif text.startswith("/*", index):
            depth = 0
            while index < end:
                if text.startswith("/*", index):
                    depth += 1
                    blank(2)
                elif text.startswith("*/", index):
                    depth -= 1
                    blank(2)
                    if depth == 0:
                        break
                else:
                    blank(1)
        elif found := opening.match(text, index):
            strings.append([found[2], found[1], None])
            blank(len(found[0]))
        else:
            character = text[index]
            if strings and character == "(":
                strings[-1][2] += 1
            elif strings and character == ")":
                if strings[-1][2] == 0:
                    strings[-1][2] = None
                    blank(1)
                    continue
                strings[-1][2] -= 1
            result.append(character)
            index += 1
    return "".join(result)


def top_level(text):
    """Returns the parts of code that are outside of all braces."""
    depth, parts, start = 0, [], 0
    for found in re.finditer(r"[{}]", text):
        if found[0] == "{":
            if depth == 0:
                parts.append(text[start:found.start()])
            depth += 1
        else:
            depth -= 1
            start = found.end()
    return "\n".join([*parts, text[start:]]) if depth == 0 else text


class File:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = code(file.read())
        self.name = os.path.basename(path)
        self.types, self.functions = set(), set()
        for line in top_level(text).splitlines():
            if not PRIVATE.search(line):
                self.types.update(TYPE.findall(line))
                self.functions.update(FUNCTION.findall(line))
        # A name that the file itself declares, also of a nested type or of a generic parameter, means that declaration.
        own = set(OWN_NAME.findall(text)) - self.types - self.functions
        for parameters in GENERIC_NAMES.findall(text):
            own.update(part.split(":")[0].replace("each ", "").strip() for part in parameters.split(","))
        self.used_types, self.called = set(), set()
        for found in WORD.finditer(text):
            if found[0] in own or text[found.start() - 1:found.start()] == "." or text[found.start() - 1:found.start()] == "`":
                continue
            # An argument label or a member of a literal, not a type.
            after = text[found.end():found.end() + 1]
            if after != ":" or found[0][0].isupper():
                self.used_types.add(found[0])
            if after == "(":
                self.called.add(found[0])


def folders(module):
    """Returns the files of each folder of a module."""
    found = collections.defaultdict(list)
    for place, below, names in os.walk(os.path.join(SOURCES, module)):
        below[:] = [name for name in below if name.lower() != "generated"]
        for name in sorted(names):
            if name.endswith(".swift"):
                found[os.path.relpath(place, os.path.join(SOURCES, module))].append(File(os.path.join(place, name)))
    return found


def references(files):
    """Returns for each folder the folders that it uses, each with a list of (file, name)."""
    declared = {}
    for folder, each in files.items():
        for file in each:
            for name in file.types | file.functions:
                declared[name] = folder
    types = set().union(*(file.types for each in files.values() for file in each)) if files else set()
    uses = {folder: collections.defaultdict(list) for folder in files}
    for folder, each in files.items():
        for file in each:
            for name in sorted((file.used_types & types) | (file.called & declared.keys())):
                if declared[name] != folder:
                    uses[folder][declared[name]].append((file.name, name))
    return uses


def shortest_circle(uses):
    """Returns the folders of the shortest circle, or None."""
    best = None
    for start in uses:
        reached, queue = {start: None}, collections.deque([start])
        while queue:
            folder = queue.popleft()
            if start in uses[folder]:
                path = [folder]
                while reached[path[-1]] is not None:
                    path.append(reached[path[-1]])
                if best is None or len(path) < len(best):
                    best = path[::-1]
                break
            for other in uses[folder]:
                if other not in reached:
                    reached[other] = folder
                    queue.append(other)
    return best


def described(uses, folder, other, most=6):
    names = uses[folder][other]
    shown = ", ".join(f"{name} in {file}" for file, name in names[:most])
    return f"    {folder} uses {other}: {shown}" + (f" and {len(names) - most} more" if len(names) > most else "")


def main(arguments):
    modules = sorted(name for name in os.listdir(SOURCES) if os.path.isdir(os.path.join(SOURCES, name)))
    if arguments[:1] == ["--uses"]:
        uses = references(folders(arguments[1]))
        for folder in uses:
            print(folder)
            for other in sorted(uses[folder]):
                print(described(uses, folder, other, 12))
        return 0
    circles = 0
    for module in modules:
        uses = references(folders(module))
        while circle := shortest_circle(uses):
            circles += 1
            print(f"{module}: a circle of folders")
            for folder, other in zip(circle, circle[1:] + circle[:1]):
                print(described(uses, folder, other))
            # The weakest reference of the circle is left out, to find the next one.
            weakest = min(zip(circle, circle[1:] + circle[:1]), key=lambda pair: len(uses[pair[0]][pair[1]]))
            del uses[weakest[0]][weakest[1]]
    print(f"{circles} circles of folders" if circles else "no module has a circle of folders")
    return 1 if circles else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
