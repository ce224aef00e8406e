"""Attacks on the redirect to a provider and back (RFC 9700, sections 4.4 to 4.8), and providers with slow, invalid or very large responses."""

import base64
import hashlib
import urllib.parse

from endtoend import EndToEnd
from test_whole_flow import parameters
from websites import DISCOVERY, KEYS, OpenIDWebsite, html, page, redirect

BACK = "https://shop.example.com/back"


class CodeSite(OpenIDWebsite):
    """A provider with a code flow. `document` and `answer` are its discovery document and its token response. `forms` are the requests to its token
    endpoint."""

    def __init__(self):
        super().__init__()
        self.document = {
            "issuer": self.issuer, "jwks_uri": self.issuer + KEYS, "authorization_endpoint": self.issuer + "/authorize", "token_endpoint": self.issuer + "/token"}
        self.answer, self.forms, self.proofs, self.nonce = None, [], [], None
        self.pages[DISCOVERY] = lambda _: page(self.document)
        self.pages["/token"] = self._token

    def _token(self, request):
        self.forms.append(dict(urllib.parse.parse_qsl(request.rfile.read(int(request.headers["Content-Length"])).decode())))
        self.proofs.append(request.headers["Authorization"])
        if callable(self.answer):
            return self.answer(request)
        return self.answer or self.tokens()

    def tokens(self, **more):
        return page({"id_token": self.token("carol", nonce=self.nonce), "access_token": "a", "token_type": "Bearer", **more})


class Hostile(EndToEnd):
    def setUp(self):
        super().setUp()
        self.site, self.evil = self.serve(), self.serve()
        self.open()

    def open(self, **environment):
        self.sidecar = self.spawn(testing=True, environment=environment)
        for name, site in (("oidc.good", self.site), ("oidc.evil", self.evil)):
            self.sidecar.call("idp.create", {"providerId": name, "clientId": "shop", "clientSecret": f"secret of {name}", "issuer": site.issuer, "responseType": "code"})

    def serve(self):
        site = CodeSite()
        self.addCleanup(site.close)
        return site

    def begin(self, provider="oidc.good", **more):
        """Begins a flow. Returns its continuation token and the parameters of the authorization URL."""
        flow = self.sidecar.call("idp.authorize", {"providerId": provider, **({} if "listen" in more else {"redirectUri": BACK}), **more})
        sent = parameters(flow["authorizationUrl"])
        (self.site if provider == "oidc.good" else self.evil).nonce = sent["nonce"]
        return flow["continuationToken"], sent

    def credential(self, token, **answer):
        return {"credential": {"continuationToken": token, "url": f"{BACK}?{urllib.parse.urlencode(answer)}"}}

    def signs_in(self, token, sent):
        self.assertEqual(self.sidecar.call("signIn.withCredential", self.credential(token, code="c", state=sent["state"]))["state"], "completed")

    def callback_refused(self, check, token, **answer):
        error = self.refused("callbackInvalid", self.sidecar, "signIn.withCredential", self.credential(token, **answer))
        self.assertEqual(error.data["check"], check, error)

    def nobody(self):
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])


class Attacks(Hostile):
    def test_code_is_sent_only_to_provider_of_flow_with_its_verifier(self):
        token, sent = self.begin()
        self.signs_in(token, sent)
        form = self.site.forms[0]
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        self.assertEqual((challenge, sent["code_challenge_method"]), (sent["code_challenge"], "S256"))
        self.assertEqual({name: form[name] for name in ("grant_type", "code", "redirect_uri")}, {"grant_type": "authorization_code", "code": "c", "redirect_uri": BACK})
        self.assertEqual(base64.b64decode(self.site.proofs[0].split()[1]).decode(), "shop:secret%20of%20oidc.good")
        self.assertEqual(self.evil.forms, [])

    def test_mix_up_attack_is_rejected(self):
        """In a mix-up attack, the malicious provider redirects the user to the honest one with the state of its own flow, to receive the code of the
        honest one."""
        token, sent = self.begin("oidc.evil")
        self.callback_refused("issuer", token, code="of the good one", state=sent["state"], iss=self.site.issuer)
        # If the provider announces `iss`, an omitted or repeated `iss` is rejected too.
        self.evil.document["authorization_response_iss_parameter_supported"] = True
        self.sidecar.call("idp.test", {"providerId": "oidc.evil"})  # refetches the discovery document
        token, sent = self.begin("oidc.evil")
        self.callback_refused("issuer", token, code="of the good one", state=sent["state"])
        url = f"{BACK}?code=c&state={sent['state']}&iss={self.evil.issuer}&iss={self.site.issuer}"
        error = self.refused("callbackInvalid", self.sidecar, "signIn.withCredential", {"credential": {"continuationToken": token, "url": url}})
        self.assertEqual(error.data["check"], "malformed")
        self.assertEqual(self.evil.forms, [])
        self.nobody()

    def test_fixation_attack_is_rejected(self):
        """The attacker begins a flow that the victim completes, or the application of the victim accepts the callback of the attacker."""
        mine, sent = self.begin()
        theirs, other = self.begin()
        self.callback_refused("state", mine, code="of mallory", state=other["state"])
        self.callback_refused("state", theirs, code="of the victim", state=sent["state"])
        self.callback_refused("state", mine, code="of mallory")
        error = self.refused("callbackInvalid", self.sidecar, "signIn.withCredential", {"credential": {
            "continuationToken": mine, "url": f"{BACK}?code=c&state={sent['state']}&state={other['state']}"}})
        self.assertEqual(error.data["check"], "malformed")
        self.assertEqual(self.site.forms, [])
        # If the attacker's code is used with the victim's state, the ID token belongs to another flow.
        self.site.nonce = other["nonce"]
        error = self.refused("invalidNonce", self.sidecar, "signIn.withCredential", self.credential(mine, code="of mallory", state=sent["state"]))
        self.assertEqual(error.data["check"], "mismatch")
        self.nobody()

    def test_id_token_of_other_issuer_audience_or_code_is_rejected(self):
        def of(check, answer):
            token, sent = self.begin()
            self.site.answer = answer(sent["nonce"])
            error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
            self.assertEqual(error.data["check"], check, error)
        evil, site = self.evil, self.site
        of("issuer", lambda nonce: page({"id_token": evil.token("carol", nonce=nonce)}))
        of("signature", lambda nonce: page({"id_token": evil.token("carol", nonce=nonce, iss=site.issuer)}))
        of("issuer", lambda nonce: page({"id_token": site.token("carol", nonce=nonce, iss=site.issuer + "/")}))
        of("audience", lambda nonce: page({"id_token": site.token("carol", nonce=nonce, aud="another")}))
        of("codeHash", lambda nonce: page({"id_token": site.token("carol", nonce=nonce, c_hash="A" * 22)}))
        of("accessTokenHash", lambda nonce: page({"id_token": site.token("carol", nonce=nonce, at_hash="A" * 22), "access_token": "a"}))
        self.nobody()

    def test_endpoints_changed_during_flow_are_not_used(self):
        """The flow uses the endpoints from the time of its start. A new endpoint receives neither the code nor the client secret."""
        token, sent = self.begin()
        self.site.document["token_endpoint"] = self.evil.issuer + "/token"
        self.signs_in(token, sent)
        self.assertEqual((len(self.site.forms), self.evil.forms), (1, []))

    def test_issuer_changed_during_flow_receives_no_code(self):
        token, sent = self.begin()
        self.sidecar.call("idp.update", {"providerId": "oidc.good", "issuer": self.evil.issuer, "clientSecret": "for the new one alone"})
        error = self.sidecar.refusal("signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
        self.assertIn(error.type, ("flowEnded", "flowUsed", "continuationTokenExpired", "callbackInvalid", "invalidCredential"), error)
        secrets = [base64.b64decode(each.split()[1]).decode() for each in self.site.proofs]
        self.assertNotIn("for+the+new+one+alone", str(secrets))
        self.assertEqual(self.evil.forms, [])
        self.nobody()

    def test_discovery_documents_with_unsafe_endpoints_are_rejected(self):
        for name, places in {
            "authorization_endpoint": ["javascript:alert(1)", "data:text/html,x", "/authorize", "http://login.example.com/authorize", "https://u:p@login.example.com/", "file:///etc/passwd", "", 7],
            "token_endpoint": ["javascript:alert(1)", "http://login.example.com/token", "/token", "file:///etc/passwd", "https://u:p@login.example.com/", 7],
        }.items():
            for place in places:
                with self.subTest(name, place=place):
                    site = self.serve()
                    site.document[name] = place
                    provider = f"oidc.p{site.port}"
                    self.sidecar.call("idp.create", {"providerId": provider, "clientId": "shop", "clientSecret": "s", "issuer": site.issuer, "responseType": "code"})
                    self.refused("providerUnusable", self.sidecar, "idp.authorize", {"providerId": provider, "redirectUri": BACK})
        site = self.serve()
        site.document["issuer"] = self.site.issuer
        self.sidecar.call("idp.create", {"providerId": "oidc.impostor", "clientId": "shop", "clientSecret": "s", "issuer": site.issuer, "responseType": "code"})
        self.refused("providerUnusable", self.sidecar, "idp.authorize", {"providerId": "oidc.impostor", "redirectUri": BACK})


class Answers(Hostile):
    """A token endpoint with invalid responses."""

    def test_invalid_token_responses_leave_flow_unchanged(self):
        token, sent = self.begin()
        huge = 200, {"Content-Type": "application/json"}, b'{"id_token":"' + b"x" * (3 << 20) + b'"}'
        def breaks_off(request):
            request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
            request.close_connection = True
            request.connection.shutdown(2)
            return 200, {}, b""
        for answer, wanted in [
                (html(), "providerUnusable"), (page([1]), "providerUnusable"), (huge, "providerUnusable"), (page({}, 500), "providerUnavailable"),
                (page({}, 429), "providerUnavailable"), (redirect(self.evil.issuer + "/token"), "providerUnusable"), (breaks_off, "providerUnavailable"),
                ((200, {"Content-Type": "application/json"}, b'{"id_token":"a","id_token":"b"}'), "providerUnusable"), ((200, {}, b"\xff\xfe"), "providerUnusable")]:
            with self.subTest(str(answer)[:60]):
                self.site.answer = answer
                error = self.refused(wanted, self.sidecar, "signIn.withCredential", self.credential(token, code="sEcret-c0de", state=sent["state"]))
                self.assertNotIn("sEcret-c0de", str(error))
        self.assertEqual(self.evil.forms, [])
        self.site.answer = None
        self.signs_in(token, sent)
        self.assertNotIn("sEcret-c0de", self.sidecar.stderr_text())

    def test_error_responses_and_missing_tokens_end_flow(self):
        for answer in (page({"error": "invalid_grant"}, 400), page({"error": "invalid_client", "error_description": "<b>\nno</b>"}, 401), page({}), page({"error": "x", "id_token": "y"}), page({"id_token": None})):
            with self.subTest(answer):
                token, sent = self.begin()
                self.site.answer = answer
                self.refused("invalidCredential", self.sidecar, "signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
                self.site.answer = None
                self.refused("flowUsed", self.sidecar, "signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
        self.nobody()

    def test_malformed_id_tokens_are_rejected(self):
        for token_text in ("x", 7, "a.b.c", {"a": 1}, "e30.e30.", "x" * 100_000):
            with self.subTest(str(token_text)[:20]):
                token, sent = self.begin()
                self.site.answer = page({"id_token": token_text})
                error = self.sidecar.refusal("signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
                self.assertIn(error.type, ("invalidCredential", "providerUnusable"), error)
                self.works(self.sidecar)
        self.nobody()

    def test_slow_provider_does_not_delay_others(self):
        token, sent = self.begin()
        self.site.answer = held = self.site.held(lambda _: self.site.tokens())
        waiting = self.sidecar.send("signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
        self.site.wait_until_asked("/token")
        # In the meantime, a repeated request fails, and a sign-in with another provider succeeds.
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
        other, there = self.begin("oidc.evil")
        self.signs_in(other, there)
        self.assertEqual(self.sidecar.arrived(), 0)
        held.release()
        self.assertEqual(self.sidecar.answer(waiting)["state"], "completed")

    def test_slow_provider_times_out_and_is_not_contacted_again_soon(self):
        self.open(MINTMARK_PROVIDER_TIMEOUT="1")
        token, sent = self.begin()
        self.site.answer = self.site.held()
        error = self.refused("providerUnavailable", self.sidecar, "signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
        self.assertIn("did not respond within 1 s", error.message)
        # The flow is unchanged.
        error = self.refused("providerUnavailable", self.sidecar, "signIn.withCredential", self.credential(token, code="c", state=sent["state"]))
        self.assertIn("retryAfterSeconds", error.data)
        self.assertEqual(len(self.site.forms), 1)
