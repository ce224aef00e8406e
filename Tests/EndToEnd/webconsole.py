"""The web console over HTTP, as a browser uses it."""

import html
import http.client
import re
from html.parser import HTMLParser
from urllib.parse import quote, urlencode, urlsplit


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def result(self):
        """The text of the element that holds the answer of a method."""
        found = re.search(r"<pre data-result[^>]*>(.*?)</pre>", self.text, re.S)
        return html.unescape(found[1]) if found else None

    @property
    def words(self):
        """The text of the page without tags."""
        return html.unescape(re.sub(r"<[^>]*>", " ", self.text))


class Console:
    """A browser with one session."""

    def __init__(self, url):
        self.url = urlsplit(url)
        self.port = self.url.port
        self.cookie = None

    def send(self, method, path, body=None, headers=None, timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.putrequest(method, path, skip_host="Host" in (headers or {}))
            for name, value in {**({"Cookie": self.cookie} if self.cookie else {}), **(headers or {})}.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def enter(self):
        """Exchanges the token for a cookie. Returns the redirect."""
        answer = self.send("GET", f"/?{self.url.query}")
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        return answer

    def get(self, path, **headers):
        return self.send("GET", path, headers=headers)

    def token(self, path="/methods/system.ping"):
        return re.search(r'name="_token" value="([^"]+)"', self.get(path).text)[1]

    def post(self, path, fields, headers=None, token=None):
        fields = [*(fields.items() if isinstance(fields, dict) else fields), ("_token", token or self.token())]
        return self.send("POST", path, urlencode(fields).encode(), {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})})

    def call(self, method, **fields):
        return self.post(f"/methods/{method}", fields)


class Elements(HTMLParser):
    """The start tags of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    handle_startendtag = handle_starttag

    def with_attribute(self, name):
        return [attributes for _, attributes in self.found if name in attributes]


def path(*parts):
    return "/" + "/".join(quote(part, safe="") for part in parts)
