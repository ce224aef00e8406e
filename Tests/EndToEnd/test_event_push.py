"""Security Event Tokens that are pushed to receivers (RFC 8935): order, retries, refusals, dead receivers, addresses, several processes."""

import json
import threading
import time

import jwt
from endtoend import EndToEnd, make_pool
from sidecar import request_line
from websites import closed_port, Website

AUDIENCE = "https://crm.example.com"
VERIFICATION = "https://schemas.openid.net/secevent/ssf/event-type/verification"


class Receiver(Website):
    """Returns `status` and keeps the tokens that it has accepted, and all requests."""

    def __init__(self):
        super().__init__()
        self.status, self.headers, self.body = 202, {}, b""
        self.requests, self.paths, self.accepted, self.news = [], [], [], threading.Condition()
        self.pages["/events"] = self.take

    def take(self, request):
        token = request.rfile.read(int(request.headers["Content-Length"])).decode()
        with self.news:
            self.requests.append((dict(request.headers), token))
            self.paths.append(request.path)
            if self.status == 202:
                self.accepted.append(token)
            self.news.notify_all()
            return self.status, self.headers, self.body

    def wait(self, reached, timeout=120):
        with self.news:
            if not self.news.wait_for(lambda: reached(self), timeout):
                raise AssertionError(f"{len(self.requests)} requests, {len(self.accepted)} accepted")

    def kids(self):
        """Returns the keys in the events, in the order of their arrival."""
        claims = [jwt.decode(token, options={"verify_signature": False}) for token in self.accepted]
        return [each["sub_id"]["id"] for each in claims]


class Push(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("push.db")
        self.sidecar = self.begin()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.url = self.receiver.origin + "/events"

    def begin(self, seconds=10, **more):
        """Starts a process whose requests end after a time. A busy machine must not repeat a token because of it."""
        return self.spawn("--testing", store=self.store, environment={"MINTMARK_PROVIDER_TIMEOUT": str(seconds)}, **more)

    def restart(self, seconds):
        """Starts the process again. The time limit also decides how soon another process continues after a kill."""
        self.sidecar.close()
        self.sidecar = self.begin(seconds)

    def stream(self, name="crm", url=None, push=(), **more):
        owner = {} if "poolId" in more else {"tenantId": "default"}
        return self.sidecar.call("events.putStream", {
            "streamId": name, "audience": AUDIENCE, "push": {"url": url or self.url, "allowInsecure": True, **dict(push)}, **owner, **more})

    def shown(self, name="crm", sidecar=None):
        return next(each for each in (sidecar or self.sidecar).call("events.listStreams")["streams"] if each["streamId"] == name)

    def until(self, reached, name="crm", timeout=30):
        """Waits until a stream has a state."""
        deadline = time.monotonic() + timeout
        while not reached(self.shown(name)):
            self.assertLess(time.monotonic(), deadline, self.shown(name))
            time.sleep(0.02)
        return self.shown(name)

    def rotate(self, sidecar=None):
        return (sidecar or self.sidecar).call("key.rotate", {"tenantId": "default"})["kid"]

    def test_tokens_arrive_signed_and_in_order(self):
        stream = self.stream(push={"authorization": "Bearer s3cret of crm"})
        self.assertEqual(stream["push"], {"url": self.url, "allowInsecure": True, "allowPrivateNetwork": False, "hasAuthorization": True, "failures": 0})
        kids = [self.rotate() for _ in range(20)]
        self.receiver.wait(lambda r: len(r.accepted) == 20)
        self.assertEqual(self.receiver.kids(), kids)
        headers, token = self.receiver.requests[0]
        self.assertEqual(
            {name: headers[name] for name in ("Content-Type", "Accept", "Authorization")},
            {"Content-Type": "application/secevent+jwt", "Accept": "application/json", "Authorization": "Bearer s3cret of crm"})
        published = jwt.PyJWKSet(self.sidecar.call("token.jwks", {"issuer": stream["issuer"]})["keys"])
        header = jwt.get_unverified_header(token)
        key = next(each for each in published.keys if each.key_id == header["kid"])
        claims = jwt.decode(token, key, algorithms=["ES256"], audience=AUDIENCE, issuer=stream["issuer"], options={"verify_iat": False})
        self.assertEqual((header["typ"], len(claims["events"])), ("secevent+jwt", 1))
        self.assertEqual(len(self.receiver.requests), 20)

    def test_header_is_kept_encrypted_and_for_its_url_only(self):
        self.stream(push={"authorization": "Bearer s3cret of crm"})
        self.assertNotIn("s3cret", str(self.rows("SELECT push FROM event_stream")))
        self.assertTrue(self.stream()["push"]["hasAuthorization"])
        self.rotate()
        self.receiver.wait(lambda r: r.accepted)
        self.assertEqual(self.receiver.requests[-1][0]["Authorization"], "Bearer s3cret of crm")
        self.assertFalse(self.stream(url=self.url + "?other")["push"]["hasAuthorization"])
        self.rotate()
        self.receiver.wait(lambda r: "/events?other" in r.paths)   # also the first token, if its response came after the change
        headers = self.receiver.requests[self.receiver.paths.index("/events?other")][0]
        self.assertNotIn("Authorization", headers)

    def test_failed_tokens_are_repeated_with_growing_pauses_in_order(self):
        self.sidecar.call("test.clock", {"freeze": True})
        self.receiver.status = 503
        self.stream()
        kids = [self.rotate() for _ in range(3)]
        pauses = []
        for count in range(1, 6):
            shown = self.until(lambda s: s["push"]["failures"] == count)["push"]
            pauses.append(shown["nextAttemptAt"] - self.sidecar.call("system.ping")["now"])
            self.assertIn("status 503", shown["lastError"])
            if count < 5:
                self.sidecar.call("test.clock", {"advanceSeconds": pauses[-1]})
        self.assertEqual(pauses, [1, 2, 4, 8, 16])
        ids = {jwt.decode(token, options={"verify_signature": False})["jti"] for _, token in self.receiver.requests}
        self.assertEqual((len(self.receiver.requests), len(ids)), (5, 1))   # only the first token is tried
        self.receiver.status = 202
        self.sidecar.call("test.clock", {"advanceSeconds": 16})
        self.receiver.wait(lambda r: len(r.accepted) == 3)
        self.assertEqual(self.receiver.kids(), kids)
        self.assertEqual(self.until(lambda s: s["push"]["failures"] == 0)["push"].get("lastError"), None)

    def test_receiver_can_ask_for_a_longer_pause(self):
        self.sidecar.call("test.clock", {"freeze": True})
        self.receiver.status, self.receiver.headers = 429, {"Retry-After": "120"}
        self.stream()
        self.rotate()
        shown = self.until(lambda s: s["push"]["failures"] == 1)["push"]
        self.assertEqual(shown["nextAttemptAt"] - shown["failingSince"], 120)

    def test_token_that_the_receiver_rejects_permanently_is_skipped_and_audited(self):
        self.receiver.status, self.receiver.body = 400, b'{"err": "invalid_request", "description": "unknown event"}'
        self.stream()
        self.rotate()
        self.receiver.wait(lambda r: r.requests)
        def refusals():
            records = self.sidecar.call("audit.list", {"method": "events.putStream"})["records"]
            return [each["details"] for each in records if "err" in each["details"]]
        self.until(lambda s: refusals())
        details, = refusals()
        self.assertEqual((details["err"], details["description"]), ("invalid_request", "unknown event"))
        self.receiver.status = 202
        kid = self.rotate()
        self.receiver.wait(lambda r: r.accepted)
        self.assertEqual(self.receiver.kids(), [kid])

    def test_misconfigured_receivers_lose_nothing(self):
        self.sidecar.call("test.clock", {"freeze": True})
        self.stream()
        for count, (status, body) in enumerate(((400, b'{"err": "invalid_audience"}'), (400, b"no json"), (401, b""), (302, b""), (404, b"\xff" * 50000)), 1):
            self.receiver.status, self.receiver.body, self.receiver.headers = status, body, {"Location": "/other"} if status == 302 else {}
            if count == 1:
                kid = self.rotate()
            self.sidecar.call("test.clock", {"advanceSeconds": 4000})
            self.until(lambda s: s["push"]["failures"] == count)
        self.assertNotIn("/other", self.receiver.asked)
        self.receiver.status, self.receiver.headers = 202, {}
        self.sidecar.call("test.clock", {"advanceSeconds": 4000})
        self.receiver.wait(lambda r: r.accepted)
        self.assertEqual(self.receiver.kids(), [kid])

    def test_dead_receiver_pauses_its_stream_and_others_continue(self):
        self.sidecar.call("test.clock", {"freeze": True})
        self.stream("dead", url=f"http://127.0.0.1:{closed_port()}/events")
        self.stream()
        kid = self.rotate()
        self.receiver.wait(lambda r: r.accepted)
        self.assertIn("does not accept connections", self.until(lambda s: s["push"]["failures"] == 1, "dead")["push"]["lastError"])
        self.sidecar.call("test.clock", {"advanceSeconds": 3 * 86400})
        shown = self.until(lambda s: s["status"] == "paused", "dead")
        self.assertIn("3 days", shown["statusReason"])
        self.sidecar.call("events.putStream", {
            "streamId": "dead", "audience": AUDIENCE, "tenantId": "default", "push": {"url": self.url, "allowInsecure": True}})
        self.assertEqual(len(self.receiver.requests), 1)
        self.sidecar.call("events.setStreamStatus", {"streamId": "dead", "status": "enabled"})
        self.receiver.wait(lambda r: len(r.accepted) == 2)
        self.assertEqual(self.receiver.kids(), [kid, kid])

    def test_receiver_that_is_gone_pauses_its_stream_at_once(self):
        self.receiver.status = 410
        self.stream()
        self.rotate()
        self.assertIn("410", self.until(lambda s: s["status"] == "paused")["statusReason"])

    def test_receiver_that_hangs_does_not_delay_others_or_requests(self):
        self.restart(2)
        release = threading.Event()
        self.addCleanup(release.set)
        self.receiver.pages["/hangs"] = lambda _: (release.wait(60), (202, {}, b""))[1]
        self.stream("hangs", url=self.receiver.origin + "/hangs")
        self.stream()
        self.rotate()
        self.receiver.wait(lambda r: r.accepted)
        self.works(self.sidecar)
        self.assertIn("did not respond", self.until(lambda s: s["push"]["failures"] > 0, "hangs")["push"]["lastError"])

    def test_status_pauses_and_disables_a_stream(self):
        self.stream()
        set_status = lambda status: self.sidecar.call("events.setStreamStatus", {"streamId": "crm", "status": status, "reason": "test"})
        self.assertEqual((set_status("paused")["status"], self.shown()["statusReason"]), ("paused", "test"))
        kept = self.rotate()
        set_status("enabled")
        self.receiver.wait(lambda r: r.accepted)
        set_status("disabled")
        self.refused("eventStreamDisabled", self.sidecar, "events.verifyStream", {"streamId": "crm"})
        self.rotate()
        set_status("enabled")
        later = self.rotate()
        self.receiver.wait(lambda r: len(r.accepted) == 2)
        self.assertEqual(self.receiver.kids(), [kept, later])

    def test_verification_event_reaches_its_stream_only(self):
        self.stream()
        self.sidecar.call("events.putStream", {"streamId": "other", "audience": AUDIENCE, "tenantId": "default"})
        sent = self.sidecar.call("events.verifyStream", {"streamId": "crm", "state": "4711"})["eventId"]
        self.receiver.wait(lambda r: r.accepted)
        claims = jwt.decode(self.receiver.accepted[0], options={"verify_signature": False})
        self.assertEqual((claims["jti"], claims["events"]), (sent, {VERIFICATION: {"state": "4711"}}))
        self.assertEqual(claims["sub_id"], {"format": "opaque", "id": "crm"})
        self.assertEqual(self.sidecar.call("events.poll", {"streamId": "other"})["sets"], {})
        self.assertEqual(self.sidecar.call("events.list")["events"], [])
        self.refused("eventStreamPushes", self.sidecar, "events.poll", {"streamId": "crm"})
        self.sidecar.call("events.verifyStream", {"streamId": "other"})
        self.assertEqual(len(self.sidecar.call("events.poll", {"streamId": "other"})["sets"]), 1)

    def test_addresses_that_no_receiver_can_have_are_refused(self):
        for url, more in {
                "http://crm.example.com/events": {}, "https://10.0.0.1/events": {}, "https://169.254.169.254/latest": {"allowPrivateNetwork": True},
                "https://[fd00::1]/": {}, "https://localhost/": {}, "https://127.0.0.1/": {}, "https://[::ffff:192.168.1.1]/": {}, "https://user:pw@crm.example.com/": {},
                "https://crm.example.com/#x": {}, "ftp://crm.example.com": {}, "https://": {}, "https://crm.example.com:0/": {}, "https://crm example.com/": {},
                "http://10.0.0.1/events": {"allowInsecure": True, "allowPrivateNetwork": True}}.items():
            with self.subTest(url):
                self.refused("eventReceiverInvalid", self.sidecar, "events.putStream", {
                    "streamId": "x", "audience": AUDIENCE, "tenantId": "default", "push": {"url": url, **more}})
        self.refused("eventReceiverInvalid", self.sidecar, "events.putStream", {
            "streamId": "x", "audience": AUDIENCE, "tenantId": "default", "push": {"url": AUDIENCE, "authorization": "Bearer a\r\nX-Other: b"}})
        self.assertEqual(self.sidecar.call("events.listStreams")["streams"], [])

    def test_several_processes_send_each_token_once_and_in_order(self):
        self.stream()
        others = [self.begin() for _ in range(2)]
        for number, sidecar in enumerate([self.sidecar, *others]):
            sidecar.write(b"".join(request_line("key.rotate", {"tenantId": "default"}, id=f"r{number}.{each}") for each in range(20)))
        self.receiver.wait(lambda r: len(set(r.kids())) >= 60, 60)
        self.assertEqual(self.receiver.kids(), [each["kid"] for each in self.sidecar.call("events.list")["events"]])

    def test_another_process_continues_after_a_kill(self):
        self.restart(4)
        self.stream()
        kids = [self.rotate()]
        self.receiver.wait(lambda r: r.accepted)
        other = self.begin()
        self.receiver.status = 500
        kids.append(self.rotate())
        self.receiver.wait(lambda r: len(r.requests) > 1)
        self.sidecar.process.kill()
        self.receiver.status = 202
        kids.append(self.rotate(other))
        self.receiver.wait(lambda r: set(kids) <= set(r.kids()))
        # The receiver may accept a request that the killed process had sent before.
        self.assertEqual(list(dict.fromkeys(self.receiver.kids())), kids)
        self.assertLessEqual(len(self.receiver.kids()), len(kids) + 1)
        other.close()
        again = self.begin()   # a new process sends without any call
        last = self.rotate(again)
        self.receiver.wait(lambda r: last in r.kids())

    def test_kills_lose_no_token_and_repeat_at_most_one_each(self):
        self.stream()
        self.sidecar.close()
        kills, sent = 8, []
        for number in range(kills):
            sidecar = self.begin(4, checked=False)
            sent.append(self.rotate(sidecar))
            sent.append(self.rotate(sidecar))
            time.sleep(0.02 * number)   # not awaited: the moment of the kill is arbitrary
            sidecar.process.kill()
            sidecar.process.wait()
        last = self.begin()
        self.receiver.wait(lambda r: set(sent) <= set(r.kids()), 60)
        kids = self.receiver.kids()
        self.assertLessEqual(len(kids) - len(set(kids)), kills)
        self.assertEqual(list(dict.fromkeys(kids)), [each["kid"] for each in last.call("events.list")["events"]])

    def test_stream_of_a_pool_pushes_its_events(self):
        pool = make_pool(self.sidecar)["poolId"]
        self.stream(poolId=pool, types=["credentialsRevoked"])
        self.sidecar.call("credentials.revoke", {"poolId": pool, "issuedBefore": 5})
        self.receiver.wait(lambda r: r.accepted)


class LongPolls(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("polls.db")
        self.sidecar = self.spawn("--testing", store=self.store)
        self.sidecar.call("events.putStream", {"streamId": "crm", "audience": AUDIENCE, "tenantId": "default", "types": ["keysRotated"]})

    def begin(self, seconds=60, **more):
        return self.sidecar.send("events.poll", {"streamId": "crm", "returnImmediately": False, "timeoutSeconds": seconds, **more})

    def test_poll_returns_with_the_next_event_of_any_process(self):
        other = self.spawn("--testing", store=self.store)
        for sidecar in (self.sidecar, other):
            waiting = self.begin()
            self.works(self.sidecar)
            sidecar.call("account.create", {"username": f"a{id(sidecar)}@example.com"})   # no event of this stream
            sidecar.call("key.rotate", {"tenantId": "default"})
            sets = self.sidecar.answer(waiting)["sets"]
            self.assertEqual(len(sets), 1)
            self.sidecar.call("events.poll", {"streamId": "crm", "ack": list(sets), "maxEvents": 0})

    def test_poll_with_events_returns_immediately_and_acknowledges_once(self):
        self.sidecar.call("key.rotate", {"tenantId": "default"})
        (id,) = self.sidecar.answer(self.begin())["sets"]
        waiting = self.begin(ack=[id])
        self.sidecar.call("key.rotate", {"tenantId": "default"})
        self.assertNotIn(id, self.sidecar.answer(waiting)["sets"])

    def test_poll_ends_after_its_time(self):
        began = time.monotonic()
        self.assertEqual(self.sidecar.answer(self.begin(1)), {"sets": {}, "moreAvailable": False})
        self.assertGreaterEqual(time.monotonic() - began, 1)

    def test_paused_stream_lets_polls_wait(self):
        self.sidecar.call("events.setStreamStatus", {"streamId": "crm", "status": "paused"})
        self.sidecar.call("key.rotate", {"tenantId": "default"})
        self.assertEqual(self.sidecar.answer(self.begin(1))["sets"], {})
        self.sidecar.call("events.setStreamStatus", {"streamId": "crm", "status": "enabled"})
        self.assertEqual(len(self.sidecar.answer(self.begin(1))["sets"]), 1)

    def test_waiting_polls_are_limited_and_canceled_ones_make_room(self):
        waiting = [self.begin() for _ in range(101)]
        refused = self.sidecar.receive(lambda m: m.get("id") in waiting)
        self.assertEqual(refused["error"]["data"]["type"], "tooManyEventPolls")
        waiting.remove(refused["id"])
        self.works(self.sidecar)
        self.sidecar.write(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": waiting[0]}}).encode() + b"\n")
        self.assertEqual(self.sidecar.receive(lambda m: m.get("id") == waiting[0])["error"]["data"]["type"], "requestCancelled")
        extra = self.begin()
        self.sidecar.call("key.rotate", {"tenantId": "default"})
        for each in [*waiting[1:], extra]:
            self.assertEqual(len(self.sidecar.answer(each)["sets"]), 1)

    def test_waiting_poll_does_not_prevent_exit(self):
        waiting = self.begin(300)
        self.works(self.sidecar)
        self.sidecar.process.stdin.close()
        self.assertEqual(self.sidecar.receive(lambda m: m.get("id") == waiting)["error"]["data"]["type"], "shuttingDown")
        self.assertEqual(self.sidecar.process.wait(60), 0)

