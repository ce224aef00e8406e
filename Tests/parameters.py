#!/usr/bin/env python3
"""Counts the Swift functions with too many parameters: more than five, or four or more without labels.

A memberwise initializer does not count as having more than five. It has the shape of the initializer that Swift makes for a struct: one
parameter for each property, with the label of the property, except that the first one can have no label. Its body assigns every parameter
to the property of the same name. At most three further assignments can compute other properties, without `try` and closures. Any other
statement, or a parameter that is only used in a computation, makes it count.

Exits with 1 if there are more of them than LIMITS, or fewer: then the limit must be lowered, so that the figure cannot grow again.
With --list, prints each of them.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS = {"four or more parameters without labels": 0, "more than five parameters": 0}
# The maximum number of computed properties in a memberwise initializer.
COMPUTED = 3
# Functions with more than five parameters that are better for their callers than a function with fewer.
EXCEPTIONS = {
    # Public interfaces whose parameters have defaults: programs name the few that they need, in one call.
    "clients/swift/Sources/MintmarkClient/Mintmark.swift: start",
    "clients/swift/Sources/MintmarkInProcess/InProcess.swift: inProcess",
    # The memberwise initializer of the settings of the library, but the default of `realm` depends on `testing`.
    "Sources/Mintmark/Opening/Configuration.swift: init",
}
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
    """Yields the offset, the name, the parameters and the body of each function. The body is None if the function has none or can throw."""
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
        opening = re.compile(r"\s*\{").match(text, end)
        body = text[opening.end():closing(text, opening.end() - 1, "{}") - 1] if opening else None
        yield found.start(), found["name"] or found["init"] or found["subscript"], parameters(text[start + 1:end - 1]), body


def statements(body):
    """Splits a body at the ends of lines. Joins the lines of a statement that continues within brackets or with an operator."""
    found, depth = [], 0
    for line in filter(None, map(str.strip, body.splitlines())):
        if found and (depth > 0 or line[0] in ".?:+-*/&|<>=" or found[-1][-1] in "=+-*/&|<>?:,"):
            found[-1] += " " + line
        else:
            found.append(line)
        depth += sum(line.count(bracket) for bracket in "([{") - sum(line.count(bracket) for bracket in ")]}")
    return found


def is_memberwise(given, body):
    """Returns whether the body of an initializer with these parameters only assigns them to the properties of the same names."""
    if body is None:
        return False
    names = [each.split(":")[0].split() for each in given]
    if any(len(each) > 1 and (index > 0 or each[0] != "_") for index, each in enumerate(names)):
        return False
    missing, computed = {each[-1] for each in names}, 0
    for statement in statements(body):
        assignment = re.fullmatch(r"(\((?:self\.)?\w+(?:, (?:self\.)?\w+)*\)|(?:self\.)?\w+) = ([^{}]+)", statement)
        if not assignment or re.search(r"\b(?:try|await|if|switch)\b", assignment[2]):
            return False
        targets = [each.strip() for each in assignment[1].strip("()").split(",")]
        values = parameters(assignment[2].strip()[1:-1]) if assignment[1].startswith("(") else [assignment[2].strip()]
        if len(targets) == len(values) and all(target == f"self.{value}" and value in missing for target, value in zip(targets, values)):
            missing -= set(values)
        else:
            computed += 1
    return not missing and computed <= COMPUTED


def is_exempt(path, function, given, body):
    return f"{path}: {function}" in EXCEPTIONS or function == "init" and is_memberwise(given, body)


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
                for offset, function, given, body in declarations(text):
                    unlabeled = sum(each.startswith("_ ") for each in given)
                    line = f"{os.path.relpath(path, ROOT)}:{text.count(chr(10), 0, offset) + 1}: {function} has {len(given)} parameters"
                    if unlabeled >= 4:
                        found[unlabeled_kind].append(f"{line}, {unlabeled} without labels")
                    if len(given) > 5 and not is_exempt(os.path.relpath(path, ROOT), function, given, body):
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
