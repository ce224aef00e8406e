"""A user at a login page, without a browser. Forms are parsed and submitted as by a browser without scripts."""

import html.parser
import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Forms(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.forms, self.words, self.title = [], [], ""
        self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self._inside = tag
        if tag == "form":
            self.forms.append({"action": attributes.get("action", ""), "fields": {}, "buttons": []})
        elif tag == "input":
            self.forms[-1]["fields"][attributes["name"]] = attributes.get("value", "")
        elif tag == "button":
            self.forms[-1]["buttons"].append((attributes.get("name"), attributes.get("value")))

    def handle_data(self, data):
        if self._inside not in ("style", "script"):
            self.words.append(data.strip())
        if self._inside == "title":
            self.title += data.strip()
            self._inside = None


class Page:
    def __init__(self, url, status, headers, body):
        self.url, self.status, self.headers, self.body = url, status, headers, body
        self.parsed = Forms(body)
        self.text = " ".join(filter(None, self.parsed.words))

    @property
    def fields(self):
        return self.parsed.forms[0]["fields"]

    @property
    def back(self):
        """The query parameters of the redirect to the client."""
        place = self.headers["Location"]
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))


class Person:
    """A user with a cookie jar."""

    def __init__(self):
        self.cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies), NoRedirect())

    def open(self, url, fields=None, **headers):
        data = urllib.parse.urlencode(fields).encode() if fields is not None else None
        try:
            answer = self._opener.open(urllib.request.Request(url, data, headers), timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return Page(url, answer.status, answer.headers, answer.read().decode())

    def send(self, page, form=0, **values):
        """Fills in a form of a page and submits it."""
        chosen = page.parsed.forms[form]
        return self.open(urllib.parse.urljoin(page.url, chosen["action"]), {**chosen["fields"], **values}, Origin="http://" + urllib.parse.urlsplit(page.url).netloc)
