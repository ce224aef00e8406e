"""The names in the documents exist: types, functions, files and methods. No process is started."""

import glob
import os
import re
import unittest

from sidecar import ROOT

# Wire names, standards and examples, which are not part of the source text.
EXAMPLES = {"test_refresh_with_used_token_revokes_session"}
# Paths with a part that the reader replaces, such as `methods/<namespace>.<method>.json`.
PLACEHOLDER = re.compile(r"<\w+>")


def identifiers(path):
    """Returns the texts in backticks outside of code blocks, each with its line number."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), file.read(), flags=re.S | re.M)
    return [(text.count("\n", 0, found.start()) + 1, found[1]) for found in re.finditer(r"`([^`\n]+)`", text)]


class Readmes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.words, cls.names = set(), set()
        for folder in ("Sources", "Tests", "schemas", "clients"):
            for place, folders, files in os.walk(os.path.join(ROOT, folder)):
                folders[:] = [name for name in folders if not name.startswith(".") and name not in ("node_modules", "__pycache__")]
                cls.names.update(folders, files, (os.path.splitext(name)[0] for name in files))
                if "Generated" in place or "generated" in place:
                    continue
                for name in files:
                    if os.path.splitext(name)[1] in (".swift", ".c", ".h", ".py", ".json", ".js"):
                        with open(os.path.join(place, name), encoding="utf-8") as file:
                            cls.words.update(re.findall(r"[A-Za-z_]\w*", file.read()))

    def check(self, paths, problem):
        found = []
        for path in paths:
            for line, text in identifiers(path):
                if reason := problem(path, text):
                    found.append(f"{os.path.relpath(path, ROOT)}:{line}: `{text}` {reason}")
        self.assertEqual(found, [])

    def readmes(self):
        found = glob.glob(os.path.join(ROOT, "Sources/**/README.md"), recursive=True)
        self.assertGreater(len(found), 20)
        return sorted(found) + [os.path.join(ROOT, "Tests/README.md"), os.path.join(ROOT, "schemas/README.md")]

    def test_every_name_in_a_module_readme_is_in_the_source_text(self):
        def problem(path, text):
            if not re.fullmatch(r"[A-Za-z_][\w.]*(\(.*\))?", text):
                return None
            unknown = set(re.findall(r"[A-Za-z_]\w*", text.partition("(")[0])) - self.words - self.names - EXAMPLES
            return "is not in the source text" if unknown else None
        self.check(self.readmes(), problem)

    def test_every_source_file_in_a_module_readme_exists(self):
        def problem(path, text):
            if not re.fullmatch(r"[\w./+-]+\.(swift|py|json|md|c|h|txt)|(Sources|Tests|schemas|clients)/[\w./+-]+", text) or PLACEHOLDER.search(text):
                return None
            places = [os.path.join(ROOT, base, text) for base in ("", "Sources", "Tests", "schemas", os.path.dirname(path))]
            exists = any(map(os.path.exists, places)) or glob.glob(os.path.join(ROOT, "[STsc]*", "**", text), recursive=True)
            return None if exists else "does not exist"
        self.check(self.readmes(), problem)

    def test_every_method_in_a_document_exists(self):
        methods = {os.path.basename(path)[:-len(".json")] for path in glob.glob(os.path.join(ROOT, "schemas/methods/*.json"))}
        self.assertGreater(len(methods), 150)
        namespaces = {name.partition(".")[0] for name in methods}
        # Members of objects, and files, whose names begin like a namespace.
        others = {"mfa.state", "hooks.py"}

        def problem(path, text):
            name = re.fullmatch(r"(([a-z]\w*)\.[a-z]\w*)( .*)?", text)
            return "is not a method" if name and name[2] in namespaces and name[1] not in methods | others else None
        # The documents of the clients have the names of their languages, and the changelog has former names.
        documents = [path for folder in ("Sources", "schemas") for path in glob.glob(os.path.join(ROOT, folder, "**/*.md"), recursive=True)]
        self.assertGreater(len(documents), 50)
        self.check([os.path.join(ROOT, "README.md"), *(path for path in documents if not path.endswith("CHANGELOG.md"))], problem)


if __name__ == "__main__":
    unittest.main()
