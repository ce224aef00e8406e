"""Loopback callbacks that never arrive, arrive twice, belong to another flow, or compete with other connections."""

import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from sidecar import RpcError
from test_hostile_providers import Hostile


class Callbacks(Hostile):

    def listen(self):
        token, sent = self.begin(listen={})
        waiting = self.sidecar.send("signIn.withCredential", {"credential": {"continuationToken": token}})
        self.works(self.sidecar)
        return token, sent, waiting

    def ended(self, waiting):
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting)
        return caught.exception.type

    def visit(self, sent, **answer):
        try:
            with urllib.request.urlopen(f"{sent['redirect_uri']}?{urllib.parse.urlencode(answer)}", timeout=60) as response:
                return response.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def test_missing_callback_expires(self):
        self.sidecar.call("test.clock", {"freeze": True})
        token, _, waiting = self.listen()
        self.sidecar.call("test.clock", {"advanceSeconds": 599})
        self.assertEqual(self.sidecar.arrived(), 0)
        self.sidecar.call("test.clock", {"advanceSeconds": 1})
        self.assertEqual(self.ended(waiting), "continuationTokenExpired")
        self.refused("continuationTokenExpired", self.sidecar, "signIn.withCredential", {"credential": {"continuationToken": token}})

    def test_callback_for_other_flow_changes_neither_flow(self):
        _, sent, waiting = self.listen()
        _, other, and_waiting = self.listen()
        self.assertEqual(self.visit(sent, code="c", state=other["state"]), 400)
        self.assertEqual(self.visit({"redirect_uri": other["redirect_uri"].rsplit("/", 1)[0] + "/" + sent["redirect_uri"].rsplit("/", 1)[1]}, code="c", state=sent["state"]), 404)
        self.assertEqual(self.sidecar.arrived(), 0)
        for each, answer in ((sent, waiting), (other, and_waiting)):
            self.site.nonce = each["nonce"]
            self.assertEqual(self.visit(each, code="c", state=each["state"]), 200)
            self.assertEqual(self.sidecar.answer(answer)["state"], "completed")

    def test_concurrent_duplicate_callbacks_redeem_code_once(self):
        _, sent, waiting = self.listen()
        seen = []
        def visit():
            try:
                seen.append(self.visit(sent, code="c", state=sent["state"]))
            except OSError:   # The page is closed by then.
                seen.append(None)
        threads = [threading.Thread(target=visit) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.sidecar.answer(waiting)["state"], "completed")
        self.assertIn(200, seen)
        self.assertLessEqual(set(seen), {200, None})
        self.assertEqual(len(self.site.forms), 1)

    def test_callback_with_other_issuer_ends_flow_and_sends_no_code(self):
        _, sent, waiting = self.listen()
        self.visit(sent, code="c", state=sent["state"], iss=self.evil.issuer)
        self.assertEqual(self.ended(waiting), "callbackInvalid")
        self.assertEqual((self.site.forms, self.evil.forms), ([], []))

    def test_callback_succeeds_while_other_connections_are_open(self):
        _, sent, waiting = self.listen()
        port = int(sent["redirect_uri"].split(":")[2].split("/")[0])
        strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    status = self.visit(sent, code="c", state=sent["state"])
                except OSError:
                    status = None
                if status == 200:
                    break
                self.assertLess(time.monotonic(), deadline, status)
                time.sleep(0.2)
        finally:
            for each in strangers:
                each.close()
        self.assertEqual(self.sidecar.answer(waiting)["state"], "completed")
