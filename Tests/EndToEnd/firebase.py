"""Shared by the tests of the Firebase API: a project at a loopback address, the Admin SDK on it, and the client's requests."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

import firebase_admin
import firebase_admin.auth
import firebase_admin.credentials
import google.auth.credentials

from endtoend import EndToEnd

PROJECT = "demo"


class NoCredential(firebase_admin.credentials.Base):
    """Management of tenants needs a credential, even if no request uses it."""

    def get_credential(self):
        return google.auth.credentials.AnonymousCredentials()


class FirebaseRequests:
    """The requests to the address `base` of a test."""

    def request(self, path, body=None, *, method=None, headers=(), raw=None):
        """Sends a request and returns the status and the JSON answer."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data=data, method=method or ("GET" if data is None else "POST"),
            headers={"content-type": "application/json", **dict(headers)})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def client(self, name, version="v1", /, **body):
        """Sends a request of a client and returns its answer."""
        status, answer = self.request(f"/identitytoolkit.googleapis.com/{version}/{name}?key=any", body)
        self.assertEqual(status, 200, answer)
        return answer

    def refused(self, code, name, version="v1", /, **body):
        """Sends a request of a client that fails with a code."""
        status, answer = self.request(f"/identitytoolkit.googleapis.com/{version}/{name}?key=any", body)
        self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, code), answer)

    def admin(self, path, body=None, **more):
        """Sends a request of an administrator and returns its answer."""
        status, answer = self.request(f"/identitytoolkit.googleapis.com/{path}", body, headers={"authorization": "Bearer owner"}, **more)
        self.assertEqual(status, 200, answer)
        return answer

    def refresh(self, token):
        form = urllib.parse.urlencode({"grant_type": "refresh_token", "refresh_token": token}).encode()
        return self.request(
            "/securetoken.googleapis.com/v1/token?key=any", raw=form, headers={"content-type": "application/x-www-form-urlencoded"})

    def advance(self, seconds):
        self.sidecar.call("test.clock", {"advanceSeconds": seconds})


class FirebaseProject(FirebaseRequests, EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--testing", "--clock", "1700000000")
        answer = self.sidecar.call("test.http", {"firebase": {"projectId": PROJECT}})
        self.base = answer["baseUrl"]
        before = {name: os.environ.get(name) for name in answer["environment"]}
        os.environ.update(answer["environment"])
        self.addCleanup(self.restore, before)
        self.app = firebase_admin.initialize_app(NoCredential(), options={"projectId": PROJECT}, name=self.id())
        self.addCleanup(firebase_admin.delete_app, self.app)

    @staticmethod
    def restore(before):
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
