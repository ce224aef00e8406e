"""The table of security requirements names tests that exist."""

import json
import os
import re
import unittest

from sidecar import ROOT


class AssuranceTable(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(ROOT, "schemas", "assurance.json"), encoding="utf-8") as file:
            self.requirements = json.load(file)["requirements"]

    def exists(self, test):
        """Returns whether a transcript, a unit test, a file of end-to-end tests or one of its tests has this name."""
        if "/" in test or test.endswith("Tests"):
            return any(os.path.exists(os.path.join(ROOT, "Tests", test + ending)) for ending in ("", ".swift"))
        file, _, name = test.partition(".")
        path = os.path.join(ROOT, "Tests", "EndToEnd", file + ".py")
        if not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as source:
            return not name or re.search(rf"def {re.escape(name)}\(", source.read()) is not None

    def test_every_test_of_the_table_exists(self):
        missing = [(each["number"], test) for each in self.requirements for test in each.get("tests", []) if not self.exists(test)]
        self.assertEqual(missing, [])

    def test_table_has_every_requirement_of_the_chapters(self):
        counts = {}
        for each in self.requirements:
            if each["number"].startswith("asvs "):
                section = each["number"].split(" ")[1].rsplit(".", 1)[0]
                counts[section] = counts.get(section, 0) + 1
        self.assertEqual(counts, {
            "6.1": 3, "6.2": 12, "6.3": 8, "6.4": 6, "6.5": 8, "6.6": 4, "6.7": 2, "6.8": 4, "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 3,
            "7.6": 2, "8.1": 4, "8.2": 4, "8.3": 3, "8.4": 2, "9.1": 3, "9.2": 4, "10.1": 2, "10.2": 3, "10.3": 5, "10.4": 16, "10.5": 5,
            "10.6": 2, "10.7": 3})
