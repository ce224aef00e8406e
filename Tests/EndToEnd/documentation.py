"""Runs the documentation: every fenced code block of README.md, schemas/guides and the README of each client, and every link in every Markdown file.

    documentation.py [-k NAME] [FILE…]    Without FILE, checks all documents. -k selects documents whose path contains NAME.

Each document gets a new folder, in which its blocks run in order; `sh` blocks share one bash. Tests/README.md describes the notation:
which blocks run, how output is compared, and how a block is marked that the tests cannot run. Ends with "N passed, N failed".
"""

import argparse
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.parse

import postgres
from sidecar import ROOT, binary, clean_environment

GUIDES = "schemas/guides"
TIMEOUT = 600   # In seconds, for one document. Compilers take most of the time.
NOT_RUN = re.compile(r"^(\*Not run by the tests: .+\.\*|<!-- Not run by the tests: .+\. -->)$")
SHOWN_LANGUAGES = {"mermaid", "yaml", "ini", "lua"}   # Diagrams and the configuration of other programs are never run.
OUTPUT_LANGUAGES = {"text", "json"}


class Wrong(Exception):
    """A failed check of a document: the line number and the reason."""

    def __init__(self, line, text):
        super().__init__(text)
        self.line, self.text = line, text


class Block:
    """A fenced code block. `reason` is the text of the line that says why the tests do not run it."""

    def __init__(self, line, info, text, reason):
        language, *words = info.split() or [""]
        self.line, self.language, self.text, self.reason = line, language, text, reason
        self.words = {word.partition("=")[0]: word.partition("=")[2] for word in words}
        self.file = self.words.get("file")
        self.exit = int(self.words.get("exit", 0))
        self.output = None   # The block with the expected output.


def blocks(text):
    """Returns the fenced code blocks of a Markdown text."""
    found, lines, number = [], text.split("\n"), 0
    while number < len(lines):
        fence = re.match(r"^( *)(```+|~~~+)(.*)$", lines[number])
        if not fence:
            number += 1
            continue
        indent, begin, body = len(fence[1]), number, []
        number += 1
        while number < len(lines) and lines[number].strip() != fence[2]:
            body.append(lines[number])
            number += 1
        if number == len(lines):
            raise Wrong(begin + 1, "this code block has no end")
        if any(line[:indent].strip() for line in body):
            raise Wrong(begin + 1, "the lines of this block are indented less than its fence")
        before = next((line.strip() for line in reversed(lines[:begin]) if line.strip()), "")
        found.append(Block(begin + 1, fence[3].strip(), "\n".join(line[indent:] for line in body) + "\n", before if NOT_RUN.match(before) else None))
        number += 1
    return found


# Comparison

ANYTHING = "…"


def matches(wanted, found):
    """Returns whether a text matches a pattern, in which … stands for any text."""
    return re.fullmatch(".*".join(re.escape(part) for part in wanted.split(ANYTHING)), found, re.DOTALL) is not None


def is_time(value):
    return isinstance(value, int) and not isinstance(value, bool) and 10**9 <= value < 10**10


def json_difference(wanted, found, path=""):
    """Returns the first place where a value differs from the expected value, or None. Members that are not expected, and times, are not compared."""
    if isinstance(wanted, str) and ANYTHING in wanted:
        same = wanted == ANYTHING or isinstance(found, str) and matches(wanted, found)
    elif isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            if key not in found:
                return f"{path}/{key} is absent"
            if difference := json_difference(value, found[key], f"{path}/{key}"):
                return difference
        return None
    elif isinstance(wanted, list) and isinstance(found, list):
        more = bool(wanted) and wanted[-1] == ANYTHING
        wanted = wanted[:-1] if more else wanted
        if len(found) < len(wanted) or len(found) > len(wanted) and not more:
            return f"{path}: {len(wanted)} elements are written, there are {len(found)}"
        return next(filter(None, (json_difference(each, found[i], f"{path}/{i}") for i, each in enumerate(wanted))), None)
    elif is_time(wanted):
        same = is_time(found)
    else:
        same = wanted == found and isinstance(wanted, bool) == isinstance(found, bool)
    return None if same else f"{path}: written is {json.dumps(wanted, ensure_ascii=False)}, found is {json.dumps(found, ensure_ascii=False)[:300]}"


def written_json(text):
    """Returns the JSON values of a block, in which a bare … stands for more members or elements. A block can contain one value per line."""
    text = re.sub(r"(,\s*)…(\s*})", r"\2", text)
    text = re.sub(r"{\s*…\s*}", "{}", text)
    text = re.sub(r"([\[,]\s*)…(\s*\])", r'\1"…"\2', text)
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def read_values(text):
    """Returns the consecutive JSON values of an output."""
    values, at, decoder = [], 0, json.JSONDecoder()
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        values.append(value)
    return values


def text_difference(wanted, found):
    """Returns the first line that differs from the expected text, or None. A line that consists of … stands for any number of lines."""
    wanted, found = wanted.rstrip().split("\n"), [line.rstrip() for line in found.rstrip().split("\n")]

    def fits(i, j):
        if i == len(wanted):
            return j == len(found)
        if wanted[i].strip() == ANYTHING:
            return any(fits(i + 1, k) for k in range(j, len(found) + 1))
        return j < len(found) and matches(wanted[i].rstrip(), found[j]) and fits(i + 1, j + 1)
    if fits(0, 0):
        return None
    for line, other in zip(wanted, found):
        if line.strip() == ANYTHING:
            break
        if not matches(line.rstrip(), other):
            return f"written is {line!r}, found is {other!r}"
    return "the lines differ"


def difference(block, found):
    if block.language == "json":
        try:
            wanted = written_json(block.text)
        except ValueError as error:
            raise Wrong(block.line, f"this is not JSON: {error}") from None
        try:
            values = read_values(found)
        except ValueError:
            return "the output is not JSON"
        if len(wanted) != len(values):
            return f"{len(wanted)} values are written, {len(values)} were found"
        return next(filter(None, (json_difference(each, value) for each, value in zip(wanted, values))), None)
    return text_difference(block.text, found)


# Execution

def arranged(document, text):
    """Returns the blocks of a document, each with the output that follows it. Raises `Wrong` for a block that a reader or a runner cannot use."""
    arranged, last = [], None
    for block in blocks(text):
        if "shown" in block.words or block.language in SHOWN_LANGUAGES and not block.file:
            last = None
        elif block.reason:
            last = "not run"
            arranged.append(block)
        elif block.file:
            arranged.append(block)
        elif block.language in OUTPUT_LANGUAGES:
            if last is None:
                raise Wrong(block.line, "there is no block before this one whose output it could be; `shown` behind the language says that it is none")
            if last != "not run":
                last.output = block
            last = None
        elif block.language in RUNNERS:
            last = block
            arranged.append(block)
        else:
            raise Wrong(block.line, f"no tests run code in {block.language or 'no language'}; known are {', '.join(sorted(RUNNERS))}")
        if block.language == "sh" and re.search(r"^\$ ", block.text, re.M):
            raise Wrong(block.line, "leave prompts out: the block is to be copied")
    return joined(arranged)


def program(command, suffix):
    """Returns a runner that writes a block to its own file and runs the file with a bash command."""
    return lambda block, number: (f"program-{number}{suffix}", command.format(file=f"program-{number}{suffix}"))


def first_program(language, suffix):
    """Returns a runner that uses the script for the first program of a client's README."""
    return program(f"(mkdir -p run-{{file}} && cd run-{{file}} && clients=$CHECKOUT/clients && $clients/{language}/conformance/first-program ../{{file}})", suffix)


# The code around the recipes in a client's README. A recipe uses `m`, a client with a testing store. Each entry has the text before all recipes,
# before and after one recipe, the indentation, and the text after all recipes. Recipes in a compiled language form one program.
RECIPES = {
    "python": ("import mintmark\nfrom mintmark.testing import TestingMintmark\n", "with TestingMintmark() as m:\n", "", 4, ""),
    "js": ("import { TestingClient as Client } from \"mintmark/testing\";\nconst m = await Client.start();\n", "", "await m.close();\n", 0, ""),
    "ruby": ("require \"mintmark\"\nrequire \"mintmark/testing\"\n", "Mintmark.testing do |m|\n", "end\n", 2, ""),
    "bash": ("set -e\nsource mintmark.bash\nmintmark_testing\n", "", "", 0, ""),
    "go": (
        "package main\n\nimport (\n\t\"context\"\n\t\"encoding/json\"\n\t\"errors\"\n\t\"fmt\"\n\t\"time\"\n\n\t\"mintmark.localhost/mintmark\"\n\t\"mintmark.localhost/mintmark/mintmarktest\"\n)\n\n"
        "var _, _, _, _, _ = json.Marshal, errors.As, fmt.Println, time.Second, mintmarktest.Methods\n\n",
        "func recipe{n}(ctx context.Context, m *mintmark.Client) error {{\n", "\treturn nil\n}}\n\n", 4,
        "func main() {{\n\tctx := context.Background()\n\tm, err := mintmark.Testing(ctx, mintmark.Options{{}})\n\tif err == nil {{\n\t\tdefer m.Close()\n\t\t"
        "for _, recipe := range []func(context.Context, *mintmark.Client) error{{{all}}} {{\n\t\t\tif err == nil {{\n\t\t\t\terr = recipe(ctx, m)\n\t\t\t}}\n\t\t}}\n\t}}\n"
        "\tif err != nil {{\n\t\tpanic(err)\n\t}}\n}}\n"),
    "java": (
        "import java.time.*;\nimport java.util.*;\nimport java.util.concurrent.*;\nimport mintmark.*;\nimport mintmark.contract.*;\nimport mintmark.testing.*;\n\n"
        "public class Recipes {{\n    public static void main(String[] arguments) throws Exception {{\n        try (var m = TestingMintmark.start()) {{ {calls} }}\n    }}\n",
        "    static void recipe{n}(TestingMintmark m) throws Exception {{\n", "    }}\n", 8, "}}\n"),
    "swift": (
        "import MintmarkClient\n\n", "func recipe{n}(_ m: TestingMintmark) async throws {{\n", "}}\n\n", 4,
        "let client = try await TestingMintmark.start()\nfor recipe in [{all}] {{ try await recipe(client) }}\nawait client.close()\n"),
}
COMPILED = {"go", "java", "swift"}


def recipes(language, blocks):
    """Returns the program that contains the recipes."""
    header, before, after, indent, footer = RECIPES[language]
    if language in COMPILED:
        names = [f"recipe{n}" for n in range(len(blocks))]
        values = {"all": ", ".join(names), "calls": " ".join(f"{name}(m);" for name in names)}
        header, footer = (header.format(**values) if language == "java" else header), footer.format(**values)
    else:
        before, after = before.replace("{", "{{").replace("}", "}}"), after.replace("{", "{{").replace("}", "}}")
    parts = [before.format(n=n) + textwrap.indent(block.text, " " * indent) + after.format(n=n) for n, block in enumerate(blocks)]
    return header + "".join(parts) + footer


def joined(arranged):
    """Returns the blocks, with all recipes in one compiled language combined into one program at the position of the last recipe."""
    result = []
    for block in arranged:
        if "recipe" not in block.words or block.reason:
            result.append(block)
        elif block.language not in COMPILED:
            block.text = recipes(block.language, [block])
            result.append(block)
        else:
            all = [each for each in arranged if each.language == block.language and "recipe" in each.words and not each.reason]
            if block is all[-1]:
                block.text = recipes(block.language, all)
                block.line = all[0].line
                result.append(block)
    return result


RUNNERS = {
    "sh": None, "bash": first_program("shell", ".bash"),
    "python": program("python3 {file}", ".py"), "js": program("node {file}", ".mjs"),
    "go": first_program("go", ".go"), "java": first_program("java", ".java"), "ruby": first_program("ruby", ".rb"), "swift": first_program("swift", ".swift"),
}


def script(folder, arranged):
    """Returns one bash program that runs all blocks and writes the output of each to files. The file `at` contains the number of the running
    block."""
    lines = ["set -e -o pipefail", "exec </dev/null"]
    for number, block in enumerate(arranged):
        if block.reason:
            continue
        if block.file:
            path = os.path.join(folder, block.file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # The file is copied when its block is reached, so that earlier blocks find the same folder as the reader.
            source = os.path.join(folder, ".blocks", str(number))
            with open(source, "w", encoding="utf-8") as file:
                file.write(block.text)
            lines.append(f"cp '{source}' '{path}'")
            continue
        text = block.text
        if RUNNERS[block.language]:
            name, text = RUNNERS[block.language](block, number)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(block.text)
        lines.append(f"echo {number} >.blocks/at; exec >.blocks/{number}.out 2>.blocks/{number}.err")
        if block.exit:
            lines.append(f"set +e; (set -e -o pipefail\n{text}\n); status=$?; set -e; [ $status -eq {block.exit} ] || {{ echo $status >.blocks/status; exit 1; }}")
        else:
            lines.append(text)
    lines.append("echo done >.blocks/at")
    return "\n".join(lines)


class Place:
    """The folder and the environment of one document, as a reader who has followed the README has them."""

    def __init__(self, server):
        self.folder = tempfile.mkdtemp(prefix="mintmark-documentation-")
        self.home = os.path.join(self.folder, "home")
        os.makedirs(os.path.join(self.folder, ".blocks"))
        os.makedirs(os.path.join(self.home, "bin"))
        for name in ("README.md", "clients", "schemas", "Tests"):
            os.symlink(os.path.join(ROOT, name), os.path.join(self.folder, name))
        os.symlink(os.path.realpath(binary()), os.path.join(self.home, "bin", "mintmark"))
        # The Python client as pip installs it, with the plugin that pytest discovers.
        packages = os.path.join(self.home, "packages")
        os.makedirs(os.path.join(packages, "mintmark-0.1.0.dist-info"))
        for name, text in {"METADATA": "Metadata-Version: 2.1\nName: mintmark\nVersion: 0.1.0\n", "entry_points.txt": "[pytest11]\nmintmark = mintmark.pytest_plugin\n"}.items():
            with open(os.path.join(packages, "mintmark-0.1.0.dist-info", name), "w", encoding="utf-8") as file:
                file.write(text)
        os.makedirs(os.path.join(self.folder, "node_modules"))
        os.symlink(os.path.join(ROOT, "clients", "node"), os.path.join(self.folder, "node_modules", "mintmark"))
        self.environment = clean_environment(self.home, {
            "PATH": os.pathsep.join([os.path.join(self.home, "bin"), os.path.dirname(sys.executable), *(server.programs() if server else []), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([packages, os.path.join(ROOT, "clients", "python", "src")]), "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": os.path.join(ROOT, ".build", "python-cache"),
            "MINTMARK_BINARY": os.path.realpath(binary()), "CHECKOUT": ROOT, "TMPDIR": self.home,
            "GOCACHE": os.environ.get("GOCACHE") or os.path.join(ROOT, ".build", "go-cache"),
            **(server.environment() if server else {})})

    def remove(self):
        subprocess.run(["chmod", "-R", "u+w", self.folder], check=False)   # Go's module cache is read-only
        shutil.rmtree(self.folder, ignore_errors=True)


class Database:
    """A PostgreSQL server for guides that need one, started on first use."""

    def __init__(self):
        self.server = None

    def environment(self):
        """Returns the environment with which libpq finds the server."""
        self.server = self.server or postgres.Server()
        return {"PGHOST": self.server.folder, "PGUSER": "mintmark"}

    def programs(self):
        """Returns the folder of createdb and pg_dump."""
        return sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:]

    def close(self):
        if self.server:
            self.server.close()


def run(document, text, database):
    """Runs a document. Raises `Wrong` on failure. Returns the number of blocks that ran, and the blocks that are marked as not run."""
    found = arranged(document, text)
    if not any(not block.reason for block in found):
        return 0, [block for block in found if block.reason]
    place = Place(database if any("createdb" in block.text for block in found) else None)
    turn = only_one() if any(re.search(r"127\.0\.0\.1\D{1,3}\d{4}", block.text) for block in found) else None
    try:
        source = os.path.join(place.folder, ".blocks", "script")
        with open(source, "w", encoding="utf-8") as file:
            file.write(script(place.folder, found))
        process = subprocess.Popen(["bash", source], cwd=place.folder, env=place.environment, start_new_session=True)
        try:
            status = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            status = f"no end within {TIMEOUT} s"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)   # Ends processes that a block has left running.
            except ProcessLookupError:
                pass
            process.wait()

        def read(name):
            try:
                with open(os.path.join(place.folder, ".blocks", name), encoding="utf-8", errors="replace") as file:
                    return file.read()
            except FileNotFoundError:
                return ""

        at = read("at").strip()
        for number, block in enumerate(found):
            if block.reason or block.file:
                continue
            out, err = read(f"{number}.out"), read(f"{number}.err")
            if at == str(number):
                ended = f"exit status {read('status').strip() or status}" + (f" in place of {block.exit}" if block.exit else "")
                raise Wrong(block.line, f"this block fails: {ended}\n{tail(out)}{tail(err)}")
            if block.output and (wrong := difference(block.output, out or err)):
                raise Wrong(block.output.line, f"the output is another one: {wrong}\nfound:\n{textwrap.indent(tail(out or err, 3000), '  ')}")
        if at != "done":
            raise Wrong(0, f"bash did not run it: {status}")
        return sum(not block.reason for block in found), [block for block in found if block.reason]
    finally:
        place.remove()
        if turn:
            turn.close()


def only_one():
    """Waits until no other process on this machine runs a document with fixed ports. Closing the socket releases the name."""
    turn = socket.socket(socket.AF_UNIX)
    while True:
        try:
            turn.bind("\0mintmark-documentation")
            return turn
        except OSError:
            time.sleep(0.2)


def tail(text, most=1500):
    return text if len(text) <= most else "…" + text[-most:]


# Links and lines

def prose(text):
    """Yields the lines of a document outside code blocks, with their numbers and without inline code."""
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"^ *(```+|~~~+)", line)
        if fence:
            fence = None if line.strip() == fence else fence
        elif mark:
            fence = mark[1]
        else:
            yield number, re.sub(r"(`+)[^`]+?\1(?!`)", "", line)


def anchors(text):
    """Returns the anchors that GitHub gives to the headings of a document."""
    found = set()
    fence = None
    for line in text.split("\n"):
        mark = re.match(r"^ *(```+|~~~+)", line)
        if fence or mark:
            fence = (None if line.strip() == fence else fence) if fence else mark[1]
            continue
        if heading := re.match(r"^#{1,6} +(.*?)\s*#*$", line):
            slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()).replace(" ", "-")
            number = 0
            while (each := slug + (f"-{number}" if number else "")) in found:
                number += 1
            found.add(each)
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def dead_links(path):
    """Yields one sentence for each broken link of a Markdown file within the repository. External links are not fetched."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for number, line in prose(text):
        targets = re.findall(r"\]\(<?([^)<>\s]+)>?(?: \"[^\"]*\")?\)", line) + re.findall(r"^ *\[[^\]]+\]: +(\S+)", line)
        for target in targets:
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            name, _, anchor = target.partition("#")
            other = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(name))) if name else path
            if not os.path.exists(other):
                yield f"{number}: the link {target} leads nowhere"
            elif anchor and other.endswith(".md"):
                with open(other, encoding="utf-8") as file:
                    if anchor not in anchors(file.read()):
                        yield f"{number}: the link {target} names a heading that {os.path.relpath(other, ROOT)} does not have"


def form(relative, text):
    """Yields one sentence for each violation of the rules for the form of the README or a guide."""
    lines = text.split("\n")
    for number, _ in prose(text):   # Only the numbers of lines outside code blocks are used. The length includes inline code.
        length = len(lines[number - 1])
        if length > 120 and not lines[number - 1].lstrip().startswith("|"):
            yield f"{number}: {length} characters; a line has at most 120"
    if relative == "README.md" and len(text.splitlines()) > 170:
        yield f"{len(text.splitlines())} lines; the README has at most 170"
    if relative.startswith(GUIDES) and os.path.basename(relative) not in REFERENCES and "\n## What can go wrong\n" not in text:
        yield "there is no section 'What can go wrong'"


# Reference documents, which do not teach a task.
REFERENCES = {"README.md", "errors.md", "exit-codes.md", "glossary.md", "guards.md", "security-model.md", "security-requirements.md",
              "troubleshooting.md"}


def markdown_files():
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True).stdout
    return sorted(name for name in set(names.split("\0")) - {""} if os.path.exists(os.path.join(ROOT, name)))


def is_run(name):
    return name == "README.md" or name.startswith(GUIDES + "/") or re.fullmatch(r"clients/(\w+/)?README\.md", name) and not re.search("conformance|swift/", name)


def check(name, database):
    """Checks one file. Returns the failures and a summary of the blocks that ran."""
    path = os.path.join(ROOT, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    wrong = [f"{name}:{each}" for each in dead_links(path)]
    said = ""
    if is_run(name):
        if name == "README.md" or name.startswith(GUIDES):
            wrong += [f"{name}:{each}" for each in form(name, text)]
        try:
            ran, left = run(name, text, database)
            said = f"{ran} blocks run" + "".join(f"\n        line {block.line} {block.reason}" for block in left)
        except Wrong as error:
            wrong.append(f"{name}:{error.line}: {error.text}")
    return wrong, said


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*")
    options.add_argument("-k", action="append", help="only documents whose path contains this")
    options = options.parse_args()
    names = [os.path.relpath(os.path.realpath(each), ROOT) for each in options.files] or markdown_files()
    names = [name for name in names if not options.k or any(word in name for word in options.k)]
    database, failed = Database(), 0
    try:
        for name in names:
            wrong, said = check(name, database)
            failed += bool(wrong)
            print(f"FAILED  {name}\n" + textwrap.indent("\n".join(wrong), "    ") if wrong else f"ok      {name}  {said}".rstrip(), flush=True)
    finally:
        database.close()
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
