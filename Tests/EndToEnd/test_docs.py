"""`mintmark help TOPIC`, and the website and the manual page of `mintmark docs`."""

import html
import html.parser
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

from endtoend import EndToEnd
from examples import methods
from sidecar import ROOT, binary, clean_environment, run

GUIDES = os.path.join(ROOT, "schemas", "guides")
LANGUAGES = {"JSON", "Command line", "bash", "Python", "Node", "Go", "Java", "Ruby", "Swift"}
EMPTY_ELEMENTS = {"meta", "link", "br", "hr", "img", "input", "wbr"}


def guides():
    """Returns the names of the guides with their titles."""
    names = sorted(name[:-3] for name in os.listdir(GUIDES) if name.endswith(".md"))
    return {name: open(os.path.join(GUIDES, name + ".md"), encoding="utf-8").readline()[2:].strip() for name in names}


def errors():
    with open(os.path.join(ROOT, "schemas", "errors.json"), encoding="utf-8") as file:
        return json.load(file)["errors"]


class Page(html.parser.HTMLParser):
    """Reads a page and records whether its elements are balanced, its anchors, its links and its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.resources, self.words, self.wrong, self.attributes = [], [], [], [], [], [], []
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.wrong.append(f"{tag} has an attribute twice at {self.getpos()}")
        attributes = dict(attributes)
        self.attributes += [(tag, name) for name in attributes]
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes.get("href", ""))
        else:
            self.resources += [attributes[name] for name in ("src", "href") if name in attributes]
        if tag not in EMPTY_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


class Topics(EndToEnd):
    stores = ("sqlite",)

    def help(self, *arguments, **more):
        return run("help", *arguments, home=self.folder, **more)

    def topic(self, *arguments):
        done = self.help(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        return done.stdout.decode()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The list of guides is not a topic. console and mcp are commands, too, so their guides have only their titles.
        cls.titles = {name: title for name, title in guides().items() if name != "README"}
        with tempfile.TemporaryDirectory() as home:
            cls.texts = {name: run("help", title if name in ("console", "mcp") else name, home=home).stdout.decode() for name, title in cls.titles.items()}

    def test_every_guide_is_a_topic(self):
        for name, title in self.titles.items():
            self.assertEqual(self.texts[name].split("\n")[0], title)
        for name in ("mfa", "glossary", "testing-your-service"):
            self.assertEqual(self.topic(self.titles[name]), self.texts[name])

    def test_topic_has_the_text_of_its_guide_without_markdown(self):
        text = self.topic("mfa")
        for line in ("1. Choose the policy of the tenant", "    mintmark call mfa.enroll - >enroll.json", "secondFactorsOff"):
            self.assertIn(line.strip(), text)
        for name, text in self.texts.items():
            with self.subTest(name):
                prose = "\n".join(line for line in text.split("\n") if not line.startswith("    "))
                self.assertNotRegex(prose, r"```|\]\(|\*\*[A-Za-z]|\|---|\n#")
                self.assertNotIn("Not run by the tests", text)
                self.assertNotIn("\033", text)

    def test_lines_of_text_fit_80_columns(self):
        for name, text in self.texts.items():
            for line in text.split("\n"):
                if not line.startswith("    ") and " " in line.strip():
                    self.assertLessEqual(len(line), 80, (name, line))

    def test_colors_mark_headings_and_code(self):
        colored = run("--color", "always", "help", "mfa", home=self.folder).stdout.decode()
        self.assertTrue(colored.startswith("\033[1mSecond factors\033[0m"), colored[:80])
        self.assertEqual(re.sub("\033\\[[0-9]*m", "", colored), self.topic("mfa"))

    def test_unique_prefix_is_enough(self):
        self.assertEqual(self.topic("gloss"), self.topic("glossary"))
        self.assertEqual(self.topic("SECOND", "factors"), self.topic("mfa"))
        done = self.help("migrating")
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        for name in (b"migrating-from-cognito", b"migrating-from-entra", b"migrating-from-firebase"):
            self.assertIn(name, done.stderr)

    def test_glossary_prints_terms(self):
        text = self.topic("glossary")
        self.assertIn("continuation token", text)
        self.assertIn("The opaque token that carries a flow to its next step.", " ".join(text.split()))

    def test_help_of_commands_is_unchanged(self):
        self.assertEqual(self.topic("serve"), run("serve", "--help", home=self.folder).stdout.decode())
        text = self.topic("mcp")
        self.assertIn("USAGE: mintmark mcp", text)
        self.assertIn("mintmark help 'Language models: Model Context Protocol'", text)

    def test_help_lists_commands_and_topics(self):
        text = self.topic()
        for word in ["USAGE", "serve", "docs", *(name for name in guides() if name != "README")]:
            self.assertIn(word, text)

    def test_methods_and_errors_are_topics(self):
        self.assertEqual(self.topic("pool.create"), run("describe", "pool.create", home=self.folder).stdout.decode())
        text = self.topic("poolNotFound")
        for word in ("2001", "poolId", "pool.get", "Message"):
            self.assertIn(word, text)

    def test_search_finds_guides_methods_and_errors(self):
        text = self.topic("-k", "Recovery CODES")
        for heading in ("Guides", "Methods", "Errors"):
            self.assertIn(f"{heading}\n", self.topic("-k", "lock"))
        self.assertRegex(text, r"(?m)^  mfa +\S")
        self.assertRegex(text, r"(?m)^  mfa\.recoveryCodes +\S")
        self.assertIn("recovery codes", text.lower())
        self.assertRegex(self.topic("-k", "GetOpenIdTokenForDeveloperIdentity"), r"token\.mintForDeveloper")

    def test_search_without_match_or_word_fails(self):
        done = self.help("-k", "xyzzyplugh")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"xyzzyplugh", done.stderr)
        for arguments in (("-k",), ("-k", ""), ("-k", "  ")):
            done = self.help(*arguments)
            self.assertEqual((done.returncode, done.stdout), (64, b""))

    def test_unknown_topic_names_the_nearest(self):
        for given, near in (("glosary", "glossary"), ("postgre", ""), ("trubleshooting", "troubleshooting"), ("poolNotFond", "poolNotFound"),
                            ("sevre", "serve"), ("pool.crate", "pool.create")):
            done = self.help(given)
            if not near:
                self.assertEqual(done.returncode, 0)
                continue
            self.assertEqual((done.returncode, done.stdout), (64, b""), given)
            self.assertIn(near, done.stderr.decode())
        done = self.help("frobnicate")
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"mintmark help", done.stderr)


class Website(EndToEnd):
    stores = ("sqlite",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = os.path.join(tempfile.mkdtemp(prefix="mintmark-"), "site")
        cls.addClassCleanup(shutil.rmtree, os.path.dirname(cls.site), ignore_errors=True)
        cls.done = run("docs", "--out", cls.site, home=os.path.dirname(cls.site))
        cls.pages = {}
        for folder, _, names in os.walk(cls.site):
            for name in names:
                if name.endswith(".html"):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        cls.pages[os.path.relpath(path, cls.site)] = Page(file.read())

    def read(self, name):
        with open(os.path.join(self.site, name), encoding="utf-8") as file:
            return file.read()

    def test_site_is_written(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, b""))
        self.assertIn(b"files written", self.done.stdout)

    def test_pages_are_well_formed(self):
        for path, page in self.pages.items():
            self.assertEqual(page.wrong, [], path)
            self.assertEqual(sorted(set(page.ids)), sorted(page.ids), path)
            self.assertTrue(self.read(path).startswith("<!DOCTYPE html>\n<html lang=\"en\">"), path)

    def test_site_has_every_guide_method_and_error(self):
        for name, title in guides().items():
            page = {"README": "guides/index.html", "glossary": "glossary.html"}.get(name, f"guides/{name}.html")
            self.assertIn(title, self.pages[page].text)
        for method in methods():
            text = self.pages[f"methods/{method['name']}.html"].text
            for word in [method["summary"].replace("`", ""), *method["params"]["properties"], *method["errors"]]:
                self.assertIn(word, text, method["name"])
        self.assertEqual(len([path for path in self.pages if path.startswith("methods/")]), len(methods()) + 1)
        page = self.pages["errors.html"]
        for error in errors():
            self.assertIn(error["type"], page.ids)
            self.assertIn(error["message"], page.text)

    def test_guides_keep_all_their_words(self):
        """The program has the guides compressed. Their text comes back unchanged."""
        for name in guides():
            page = {"README": "guides/index.html", "glossary": "glossary.html"}.get(name, f"guides/{name}.html")
            with open(os.path.join(GUIDES, name + ".md"), encoding="utf-8") as file:
                source = re.sub(r"(?m)^\*Not run by the tests.*?\*$|^<!--.*-->$|^```.*$|^\|[-|]+$|^\| term \|.*$", "", file.read())
            shown = re.sub(r"\s+", "", self.pages[page].text)
            for word in re.findall(r"[A-Za-z]{4,}", re.sub(r"\]\([^)]*\)", "", source)):
                self.assertIn(word, shown, name)

    def test_every_link_leads_to_a_page_and_an_anchor_of_the_site(self):
        for path, page in self.pages.items():
            for link in page.links:
                place, _, anchor = link.partition("#")
                self.assertFalse(urllib.parse.urlsplit(link).scheme or link.startswith("/"), (path, link))
                target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(place))) if place else path
                self.assertTrue(os.path.isfile(os.path.join(self.site, target)), (path, link))
                if anchor:
                    self.assertIn(urllib.parse.unquote(anchor), self.pages[target].ids, (path, link))

    def test_nothing_is_loaded_from_elsewhere(self):
        for path, page in self.pages.items():
            for resource in page.resources:
                if resource == "data:,":   # An empty icon, so that the browser does not ask for one.
                    continue
                self.assertFalse(urllib.parse.urlsplit(resource).scheme or resource.startswith("/"), (path, resource))
                self.assertTrue(os.path.isfile(os.path.join(self.site, os.path.dirname(path), resource)), (path, resource))
            self.assertFalse([each for each in page.attributes if each[1].startswith("on") or each[1] == "style"], path)
        for name in ("style.css", "site.js"):
            self.assertNotRegex(self.read(name), r"https?://|@import|fetch\(|XMLHttpRequest|innerHTML|eval\(")

    def test_text_of_the_contract_is_escaped(self):
        page = self.read("errors.html")
        self.assertNotRegex(page, r"<(token|store|app|issuer|path|name|method)>")
        self.assertIn("&lt;", self.read("commands.html"))

    def test_calls_in_every_language(self):
        page = self.read("methods/pool.create.html")
        self.assertEqual(set(re.findall(r'<section data-name="([^"]+)"', page)), LANGUAGES)
        text = self.pages["methods/pool.create.html"].text
        for call in ("mintmark_call pool.create name=shop developerProvider=login.shop", 'm.pool.create(name="shop", developer_provider="login.shop")',
                     'await m.pool.create({ name: "shop", developerProvider: "login.shop" });', "mintmark.PoolCreateParams{",
                     'm.pool().create(p -> p.name("shop").developerProvider("login.shop"));', 'm.pool.create(name: "shop", developer_provider: "login.shop")',
                     'try await m.pool.create(name: "shop", developerProvider: "login.shop")'):
            self.assertIn(call, text)

    def calls(self, language):
        """Returns the calls of all methods in a language, in the order of the methods."""
        found = []
        for method in methods():
            page = self.read(f"methods/{method['name']}.html")
            calls = dict(re.findall(r'<section data-name="([^"]+)"><h3>[^<]*</h3>\n<figure class="code"><pre tabindex="0"><code>(.*?)</code>', page, re.S))
            self.assertEqual(set(calls), LANGUAGES, method["name"])
            found.append(html.unescape(calls[language]))
        return found

    def checked(self, *command, **more):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def source(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def test_calls_in_json_are_requests(self):
        self.assertEqual([json.loads(call)["method"] for call in self.calls("JSON")], [method["name"] for method in methods()])

    def test_calls_of_scripts_can_be_parsed(self):
        for call in self.calls("Python"):
            compile(call, "call.py", "exec")
        self.checked("bash", "-n", self.source("commands.bash", "\n".join(self.calls("Command line"))))
        self.checked("bash", "-n", self.source("calls.bash", "\n".join(self.calls("bash"))))
        if shutil.which("node"):
            self.checked("node", "--check", self.source("calls.mjs", "async (m) => {\n" + "\n".join(self.calls("Node")) + "\n};\n"))
        if shutil.which("ruby"):
            self.checked("ruby", "-c", self.source("calls.rb", "\n".join(self.calls("Ruby"))))

    def test_calls_in_go_compile(self):
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        calls = "\n".join(f"func _(ctx context.Context, m *mintmark.Client) {{ _, _ = {call} }}" for call in self.calls("Go"))
        self.source("calls.go", 'package calls\n\nimport (\n"context"\n"mintmark.localhost/mintmark"\n"mintmark.localhost/mintmark/mintmarktest"\n)\n' + calls)
        self.source("go.mod", "module calls\ngo 1.19\nrequire mintmark.localhost/mintmark v0.0.0\n"
                              f"replace mintmark.localhost/mintmark => {ROOT}/clients/go\n")
        self.checked("go", "vet", ".", env={**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off"})

    def test_calls_in_java_compile(self):
        if not shutil.which("javac"):
            self.skipTest("javac is not installed")
        calls = "\n".join(f"static void call{number}(TestingMintmark m) {{ {call} }}" for number, call in enumerate(self.calls("Java")))
        path = self.source("Calls.java", f"import mintmark.*; import mintmark.contract.*; import mintmark.testing.*; import java.time.Instant; import java.util.*;\nclass Calls {{\n{calls}\n}}\n")
        client = subprocess.run([os.path.join(ROOT, "clients", "java", "build")], check=True, capture_output=True, text=True).stdout.strip()
        self.checked("javac", "-encoding", "UTF-8", "-proc:none", "-d", self.path("classes"), "-classpath", f"{client}/mintmark.jar", path)

    def test_guides_have_the_calls_of_their_scripts_in_all_languages(self):
        page = self.read("guides/identity-pools.html")
        self.assertIn('<details class="languages">', page)
        self.assertIn('mintmark.PoolCreateParams{', self.pages["guides/identity-pools.html"].text)
        with open(os.path.join(GUIDES, "identity-pools.md"), encoding="utf-8") as file:
            scripts = re.findall(r"(?ms)^```sh[^\n]*\n(.*?)^```", file.read())
        self.assertEqual(page.count('<details class="languages">'), len([each for each in scripts if "mintmark call " in each]))

    def test_diagrams_are_pictures(self):
        """Every diagram of the guides is drawn: with all its names, without scripts and external resources."""
        for name in guides():
            with open(os.path.join(GUIDES, name + ".md"), encoding="utf-8") as file:
                diagrams = re.findall(r"(?ms)^```mermaid\n(.*?)^```", file.read())
            page = {"README": "guides/index.html", "glossary": "glossary.html"}.get(name, f"guides/{name}.html")
            pictures = re.findall(r"(?s)<svg class=\"diagram\".*?</svg>", self.read(page))
            self.assertEqual(len(pictures), len(diagrams), name)
            for diagram, picture in zip(diagrams, pictures):
                root = xml.etree.ElementTree.fromstring(picture)
                words = " ".join(each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")).split()
                labels = re.findall(r"[\[{|]\(?([^\[\]{}|()*]+)\)?[\]}|]", diagram) + re.findall(r"(?m)^ +\w+ --> \w+: (.*)$", diagram)
                self.assertTrue(labels)
                for label in labels:
                    self.assertLessEqual(set(label.split()), set(words), name)
                self.assertNotRegex(picture, r"<script|href|style=|url\(")
                width, height = float(root.get("width")), float(root.get("height"))
                left, top, *_ = map(float, root.get("viewBox").split())
                for shape in root.iter("{http://www.w3.org/2000/svg}rect"):
                    self.assertGreaterEqual(float(shape.get("x")), left, name)
                    self.assertGreaterEqual(float(shape.get("y")), top, name)
                    self.assertLessEqual(float(shape.get("x")) + float(shape.get("width")), left + width, name)
                    self.assertLessEqual(float(shape.get("y")) + float(shape.get("height")), top + height, name)

    def test_nodes_of_diagrams_do_not_overlap(self):
        for page in sorted(path for path in self.pages if path.startswith("guides/")):
            for picture in re.findall(r"(?s)<svg class=\"diagram\".*?</svg>", self.read(page)):
                boxes = [tuple(map(float, box)) for box in re.findall(
                    r'<g class="node"><rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"', picture)]
                boxes += [tuple(map(float, box)) for box in re.findall(
                    r'<rect class="back" x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"', picture)]
                for number, (x, y, width, height) in enumerate(boxes):
                    for a, b, wide, high in boxes[:number]:
                        self.assertTrue(x >= a + wide or a >= x + width or y >= b + high or b >= y + height, (page, boxes[number], (a, b, wide, high)))

    def test_website_is_served_on_the_loopback_address(self):
        process = subprocess.Popen(
            [binary(), "docs", "--serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(self.folder))
        try:
            url = process.stdout.readline().strip()
            self.assertRegex(url, r"^http://127\.0\.0\.1:\d+/$")
            for path, kind in (("", "text/html"), ("guides/", "text/html"), ("methods/pool.create.html", "text/html"), ("style.css", "text/css"),
                               ("site.js", "text/javascript"), ("openrpc.json", "application/json")):
                with urllib.request.urlopen(url + path, timeout=30) as answer:
                    self.assertTrue(answer.headers["content-type"].startswith(kind), path)
                    self.assertIn("default-src 'none'", answer.headers["content-security-policy"])
                    if not path.endswith("/"):
                        self.assertEqual(answer.read().decode(), self.read(path or "index.html"))
            for path, status in (("no-such-page.html", 404), ("../etc/passwd", 404)):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(url + path, timeout=30)
                self.assertEqual(refused.exception.code, status)
                refused.exception.close()
            done = self.docs("--serve", urllib.parse.urlsplit(url).netloc.partition(":")[2])
            self.assertEqual(done.returncode, 74)
            self.assertIn(b"cannot be served on port", done.stderr)
        finally:
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(30), 0)
            process.stdout.close()
            process.stderr.close()
        for arguments in (("--serve", "70000"), ("--serve", "--out", "x"), ("--no-browser",)):
            self.assertEqual(self.docs(*arguments).returncode, 64, arguments)

    def test_search_index_is_a_script_that_finds_words(self):
        script = self.read("search-index.js")
        self.assertTrue(script.startswith("window.mintmarkIndex = ["))
        entries = json.loads(script.removeprefix("window.mintmarkIndex = ").rstrip().removesuffix(";"))
        found = {place for _, title, place, text in entries if "recovery codes" in (title + " " + text).lower()}
        self.assertIn("methods/mfa.recoveryCodes.html", found)
        self.assertIn("guides/mfa.html#4-give-the-user-recovery-codes", found)
        self.assertEqual({kind for kind, *_ in entries}, {"guide", "method", "error", "type", "term", "option"})
        for _, _, place, _ in entries:
            page, _, anchor = place.partition("#")
            self.assertIn(page, self.pages)
            if anchor:
                self.assertIn(anchor, self.pages[page].ids)

    def test_openrpc_document_is_part_of_the_site(self):
        with open(os.path.join(ROOT, "schemas", "openrpc.json"), encoding="utf-8") as file:
            wanted = json.load(file)
        self.assertEqual({each["name"] for each in json.loads(self.read("openrpc.json"))["methods"]}, {each["name"] for each in wanted["methods"]})

    # Directories

    def docs(self, *arguments):
        return run("docs", *arguments, home=self.folder)

    def test_other_files_are_never_overwritten(self):
        os.mkdir(self.path("mine"))
        with open(self.path("mine", "index.html"), "w", encoding="utf-8") as file:
            file.write("mine")
        done = self.docs("--out", self.path("mine"))
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        self.assertIn(b"is not empty", done.stderr)
        self.assertEqual(os.listdir(self.path("mine")), ["index.html"])
        for place in (self.path("mine", "index.html"), self.path("no", "such", "folder"), ""):
            done = self.docs("--out", place)
            self.assertEqual((done.returncode, done.stdout), (64, b""), place)

    def test_site_is_written_again_without_old_pages(self):
        site = self.path("site")
        self.assertEqual(self.docs("--out", site).returncode, 0)
        with open(os.path.join(site, ".mintmark-docs"), "a", encoding="utf-8") as file:
            file.write("methods/gone.html\n../outside\n")
        for name in ("methods/gone.html", "../outside", "CNAME"):
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write("old")
        done = self.docs("--out", site)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(os.path.join(site, "methods", "gone.html")))
        self.assertTrue(os.path.exists(self.path("outside")))
        self.assertTrue(os.path.exists(os.path.join(site, "CNAME")))
        self.assertFalse([name for name in os.listdir(site) if name.endswith(".part")])

    def test_docs_without_target_is_wrong_usage(self):
        done = self.docs()
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        self.assertIn(b"--out", done.stderr)


class ManPage(EndToEnd):
    stores = ("sqlite",)

    def test_man_page_has_commands_options_and_statuses(self):
        done = run("docs", "--man", home=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = done.stdout.decode().replace("\\-", "-")
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "ENVIRONMENT", "EXIT STATUS", "FILES", "SEE ALSO"):
            self.assertIn(f"\n.SH {section}\n", text)
        with open(os.path.join(ROOT, "schemas", "options.json"), encoding="utf-8") as file:
            for option in json.load(file)["options"]:
                self.assertIn(f"\\fB{option['flag']}\\fR", text)
                self.assertIn(f"\\fBMINTMARK_{option['flag'][2:].upper().replace('-', '_')}\\fR", text)
        commands = re.findall(r"(?m)^  ([a-z-]+)(?: \(default\))?  +\S", run("--help", home=self.folder).stdout.decode().partition("SUBCOMMANDS:")[2])
        self.assertIn("docs", commands)
        for command in commands:
            self.assertRegex(text, rf"(?m)^\.SS mintmark {command}\b")
        for status in (0, 1, 2, 3, 64, 74):
            self.assertIn(f"\n.TP\n\\fB{status}\\fR\n", text)

    def test_man_page_is_written_next_to_other_files(self):
        os.mkdir(self.path("man1"))
        with open(self.path("man1", "other.1"), "w", encoding="utf-8") as file:
            file.write("other")
        for _ in range(2):
            done = run("docs", "--man", "--out", self.path("man1"), home=self.folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        with open(self.path("man1", "mintmark.1"), "rb") as file:
            self.assertEqual(file.read(), run("docs", "--man", home=self.folder).stdout)
        with open(self.path("man1", "mintmark.1"), "w", encoding="utf-8") as file:
            file.write("mine")
        self.assertEqual(run("docs", "--man", "--out", self.path("man1"), home=self.folder).returncode, 64)

    def test_groff_has_no_warnings(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        page = run("docs", "--man", home=self.folder).stdout
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-z"], input=page, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
