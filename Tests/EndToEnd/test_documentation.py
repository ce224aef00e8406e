"""The documentation runner detects errors in documents."""

import os
import unittest

import documentation
from endtoend import EndToEnd


class Documents(EndToEnd):
    stores = ("sqlite",)

    def run_text(self, text):
        return documentation.run("guide.md", text, None)

    def refused(self, text, words):
        with self.assertRaises(documentation.Wrong) as caught:
            self.run_text(text)
        self.assertIn(words, caught.exception.text)

    def test_blocks_share_one_shell_and_see_files_of_earlier_blocks(self):
        ran, left = self.run_text(
            "```sh\nname=shop\n```\n\n```json file=pool.json\n{}\n```\n\n```sh\ncat pool.json\necho $name\n```\n\n```text\n{}\nshop\n```\n")
        self.assertEqual((ran, left), (3, []))

    def test_failing_block_is_reported(self):
        self.refused("```sh\nfalse\necho never\n```\n", "exit status 1")

    def test_expected_exit_status_is_compared(self):
        self.assertEqual(self.run_text("```sh exit=3\n(exit 3)\n```\n")[0], 1)
        self.refused("```sh exit=3\ntrue\n```\n", "in place of 3")

    def test_different_output_is_reported(self):
        self.refused("```sh\necho one\n```\n\n```text\ntwo\n```\n", "written is 'two'")
        self.refused("```sh\necho '{\"a\": 1}'\n```\n\n```json\n{\"a\": 2, …}\n```\n", "/a")
        self.refused("```sh\necho '{\"a\": 1}'\n```\n\n```json\n{\"b\": …}\n```\n", "not JSON")

    def test_placeholders_match_any_value(self):
        self.assertEqual(self.run_text(
            "```sh\necho '{\"id\": \"x-17\", \"at\": 1700000001, \"more\": [1, 2], \"n\": null}'\n```\n\n"
            "```json\n{\"id\": \"x-…\", \"at\": 1800000000, \"more\": [1, …], …}\n```\n")[0], 1)
        self.assertEqual(self.run_text("```sh\nseq 5\n```\n\n```text\n1\n…\n5\n```\n")[0], 1)

    def test_block_that_is_not_run_has_a_reason(self):
        ran, left = self.run_text("*Not run by the tests: it needs a network.*\n\n```sh\nfalse\n```\n\n```text\nanything\n```\n")
        self.assertEqual((ran, len(left)), (0, 1))

    def test_block_without_language_is_rejected(self):
        self.refused("```\nfalse\n```\n", "no language")

    def test_output_without_preceding_block_is_rejected(self):
        self.refused("```text\nfalse\n```\n", "no block before")
        self.assertEqual(self.run_text("```text shown\nfalse\n```\n")[0], 0)

    def test_each_document_runs_in_new_folder(self):
        for _ in range(2):
            self.assertEqual(self.run_text("```sh\n[ ! -e left ]; touch left\n```\n")[0], 1)


class Links(EndToEnd):
    stores = ("sqlite",)

    def dead(self, text):
        path = self.path("guide.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return list(documentation.dead_links(path))

    def test_broken_link_is_reported(self):
        self.assertEqual(len(self.dead("[a](missing.md) and [b](guide.md#no-heading)")), 2)

    def test_valid_links_are_accepted(self):
        os.mkdir(self.path("folder"))
        self.assertEqual(self.dead("# A `code` heading!\n[a](guide.md#a-code-heading) [b](folder) [c](https://example.com/x) `[d](x.md)`\n```\n[e](y.md)\n```\n"), [])

    def test_long_lines_outside_code_and_tables_are_reported(self):
        long = "x" * 121
        self.assertEqual(len(list(documentation.form("schemas/guides/glossary.md", f"{long}\n| {long} |\n```sh\n{long}\n```\n"))), 1)


if __name__ == "__main__":
    unittest.main()
