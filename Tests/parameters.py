#!/usr/bin/env python3
"""Counts the Swift functions with too many parameters: more than five, or four or more without labels.

Exits with 1 if there are more of them than LIMITS, or fewer: then the limit must be lowered, so that the figure cannot grow again.
With --list, prints each of them.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS = {"four or more parameters without labels": 11, "more than five parameters": 70}
FOLDERS = ("Sources", os.path.join("clients", "swift", "Sources"))
GENERATED = re.compile(r"/generated/", re.IGNORECASE)
BEGINNING = re.compile(r"\b(?:func\s+(?P<name>[^\s(<]+|[^\w\s(]+)|(?P<init>init)[?!]?|(?P<subscript>subscript))\s*(?=[<(])")


def blanked(text):
    """Returns the text with spaces in place of comments and the contents of strings."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|#*"""(?:.*?)"""#*|#"(?:[^\n]*?)"#|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def closing(text, start, pair):
    """Returns the index after the bracket that closes the one at start."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == pair[0]:
            depth += 1
        elif text[index] == pair[1] and text[index - 1] != "-":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def parameters(text):
    """Splits the text between the parentheses at its outer commas."""
    parts, depth = [""], 0
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and text[index - 1] != "-":
            depth -= 1
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def declarations(text):
    """Yields the offset, the name and the parameters of each function."""
    text = blanked(text)
    for found in BEGINNING.finditer(text):
        start = found.end()
        # A call, such as self.init(…) or .init(…), is not a declaration.
        if found["init"] and re.search(r"[.\w]$", text[:found.start()]):
            continue
        if text[start] == "<":
            start = closing(text, start, "<>")
            start += len(text[start:]) - len(text[start:].lstrip())
            if start >= len(text) or text[start] != "(":
                continue
        end = closing(text, start, "()")
        yield found.start(), found["name"] or found["init"] or found["subscript"], parameters(text[start + 1:end - 1])


def offenders():
    """Returns the functions of each kind."""
    found = {kind: [] for kind in LIMITS}
    unlabeled_kind, many_kind = LIMITS
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                path = os.path.join(place, name)
                if not name.endswith(".swift") or GENERATED.search(path):
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                for offset, function, given in declarations(text):
                    unlabeled = sum(each.startswith("_ ") for each in given)
                    line = f"{os.path.relpath(path, ROOT)}:{text.count(chr(10), 0, offset) + 1}: {function} has {len(given)} parameters"
                    if unlabeled >= 4:
                        found[unlabeled_kind].append(f"{line}, {unlabeled} without labels")
                    if len(given) > 5:
                        found[many_kind].append(line)
    return found


def main():
    status = 0
    for kind, lines in offenders().items():
        limit = LIMITS[kind]
        if "--list" in sys.argv or len(lines) > limit:
            print("\n".join(lines))
        print(f"{len(lines)} functions have {kind}; the limit is {limit}")
        if len(lines) > limit:
            print("Give the new ones labels, or a type for parameters that belong together.")
        elif len(lines) < limit:
            print(f"Set the limit in Tests/parameters.py to {len(lines)}.")
        status = status or int(len(lines) != limit)
    return status


if __name__ == "__main__":
    sys.exit(main())
