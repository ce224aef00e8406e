"""The identity provider for tests and snapshots: restoring a snapshot makes its codes, tokens and settings valid again."""

import json

from test_snapshots import rewrite
from test_test_idp import BACK, PASSWORD, WithProvider
from test_test_idp_clients import DEVICE


class Snapshots(WithProvider):
    def setUp(self):
        super().setUp()
        self.sidecar.call("test.idp", {"issuers": [
            {"name": "staff", "tenantId": "default", "passwordless": True, "clients": [{"clientId": "desk", "clientSecret": "s", "redirectUris": [BACK]}]}]})
        self.staff = self.idp["baseUrl"] + "/staff"
        self.account()
        self.refresh_token = self.tokens(scope="openid offline_access")["refresh_token"]
        self.code = self.person.open(self.authorize_url(prompt="none")).back["code"]
        self.spent = self.person.open(self.authorize_url(prompt="none")).back["code"]
        self.redeem(self.spent)
        self.waiting, self.approved = (json.loads(self.person.open(self.issuer + "/device", {"client_id": "tv", "scope": "openid"}).body) for _ in range(2))
        self.person.send(self.person.open(self.approved["verification_uri_complete"]), email="alice@example.com", password=PASSWORD)
        form = {"grant_type": "client_credentials", "client_id": "job", "client_secret": "x"}
        self.good, self.revoked = (self.token(**form)[1]["access_token"] for _ in range(2))
        self.revoke(self.revoked)
        self.enqueue(claims={"roles": ["admin"]})
        self.marked = self.tokens(prompt="login")["access_token"]
        self.enqueue(claims={"roles": ["guest"]}, issuer="staff")
        self.enqueue(error={"code": "temporarily_unavailable", "description": "Not now.", "status": 503, "endpoint": "jwks"})

    def enqueue(self, sidecar=None, **params):
        return (sidecar or self.sidecar).call("test.enqueue", params)["waiting"]

    def revoke(self, token):
        self.assertEqual(self.person.open(self.issuer + "/revoke", {"client_id": "job", "token": token}).status, 200)

    def redeem(self, code, issuer=None):
        return self.token(issuer, grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop")[0]

    def device(self, device, issuer=None):
        return self.token(issuer, grant_type=DEVICE, device_code=device["device_code"], client_id="tv")[1]

    def ruin(self):
        """Uses the codes, revokes the tokens and rejects the waiting device."""
        self.redeem(self.code), self.device(self.approved), self.revoke(self.good)
        self.enqueue(clear=True), self.enqueue(clear=True, issuer="staff")
        self.person.send(page := self.person.open(self.waiting["verification_uri_complete"]), form=len(page.parsed.forms) - 1)
        self.sidecar.call("session.revokeAll", {"accountId": self.sidecar.call("account.list")["accounts"][0]["accountId"]})
        self.sidecar.call("test.idp", {"issuers": [{"name": "staff", "tenantId": "default"}, {"name": "later", "tenantId": "default"}]})
        self.no_token("invalid_grant", grant_type="refresh_token", client_id="shop", refresh_token=self.refresh_token)

    def is_as_it_was(self, sidecar, base):
        issuer = base + "/default"
        look = lambda token: json.loads(self.person.open(issuer + "/introspect", {"client_id": "job", "token": token}).body)
        self.assertEqual(self.enqueue(sidecar), [
            {"error": {"code": "temporarily_unavailable", "description": "Not now.", "status": 503, "endpoint": "jwks"}}])
        self.assertEqual(self.enqueue(sidecar, issuer="staff"), [{"claims": {"roles": ["guest"]}}])
        self.assertEqual(self.token(issuer, grant_type="refresh_token", client_id="shop", refresh_token=self.refresh_token)[0], 200)
        self.assertEqual(self.person.open(self.authorize_url(issuer, prompt="none")).status, 302)
        self.assertIn("code", self.person.open(self.authorize_url(issuer, prompt="none")).back)
        self.assertEqual([self.redeem(code, issuer) for code in (self.code, self.spent)], [200, 400])
        self.assertEqual(self.device(self.waiting, issuer)["error"], "authorization_pending")
        self.assertIn("id_token", self.device(self.approved, issuer))
        # A token contains its issuer, so that it is not valid at another base URL.
        if base == self.idp["baseUrl"]:
            self.assertEqual([look(token)["active"] for token in (self.good, self.revoked)], [True, False])
            told = self.person.open(issuer + "/userinfo", Authorization=f"Bearer {self.marked}")
            self.assertEqual(json.loads(told.body)["roles"], ["admin"])
        page = self.person.open(self.authorize_url(base + "/staff", client_id="desk", prompt="login"))
        self.assertNotIn("password", page.fields)
        self.assertEqual(self.person.open(self.authorize_url(base + "/staff", client_id="shop")).status, 400)

    def test_snapshot_in_memory_restores_the_provider_repeatedly(self):
        self.sidecar.call("test.snapshot", {"name": "furnished"})
        for _ in range(2):
            self.ruin()
            self.sidecar.call("test.restore", {"name": "furnished"})
            self.is_as_it_was(self.sidecar, self.idp["baseUrl"])
        # Issuers that were added after the snapshot remain.
        self.assertEqual([each["name"] for each in self.sidecar.call("test.idp")["issuers"]], ["default", "staff", "later"])

    def test_snapshot_file_restores_the_provider_in_this_and_in_another_process(self):
        self.sidecar.call("test.snapshot", {"file": self.path("one")})
        self.ruin()
        self.sidecar.call("test.reset")
        self.sidecar.call("test.restore", {"file": self.path("one")})
        self.sidecar.call("test.snapshot", {"file": self.path("two")})
        self.is_as_it_was(self.sidecar, self.idp["baseUrl"])
        other = self.spawn(testing=True)
        other.call("test.restore", {"file": self.path("two")})
        self.is_as_it_was(other, other.call("test.idp")["baseUrl"])

    def test_snapshot_with_times_out_of_range_fails_and_changes_nothing(self):
        changes = ({"expiresAt": 2**63 - 1}, {"expiresAt": -2**63}, {"interval": 2**63 - 1}, {"interval": -1})
        for path, change in zip(map(self.path, "abcd"), changes):
            with self.subTest(change):
                self.sidecar.call("test.snapshot", {"file": path})
                rewrite(path, lambda header: None, lambda record: record["value"].update(change) if record["provider"] == "device" else None)
                self.refused("snapshotUnusable", self.sidecar, "test.restore", {"file": path})
        self.is_as_it_was(self.sidecar, self.idp["baseUrl"])

    def test_snapshot_with_values_of_wrong_types_fails(self):
        """Replaces each value of the provider's state by a number. Claims are excluded, because they can have any value."""
        path = self.path("one")
        self.sidecar.call("test.snapshot", {"file": path})
        with open(path, "rb") as file:
            whole = file.read()

        def places(value, place=()):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
                if key != "claims":
                    yield (*place, key)
                    yield from places(inner, (*place, key))

        records = [json.loads(line) for line in whole.splitlines() if line.startswith(b'{"provider":')]
        self.assertEqual({each["provider"] for each in records}, {"issuer", "code", "login", "grant", "device", "answers", "claims", "revoked"})
        tried = 0
        for number, record in enumerate(records):
            for *outer, last in places(record):
                inside = record
                for key in outer:
                    inside = inside[key]
                if isinstance(inside[last], int) and not isinstance(inside[last], bool) or record["provider"] == "claims" and len(outer) > 0:
                    continue
                seen = iter(range(len(records)))

                def change(met):
                    if next(seen) == number:
                        for key in outer:
                            met = met[key]
                        met[last] = 7
                with open(path, "wb") as file:
                    file.write(whole)
                rewrite(path, lambda header: None, change)
                with self.subTest(record=number, place=(*outer, last)):
                    self.assertEqual(self.sidecar.refusal("test.restore", {"file": path}).type, "snapshotUnusable")
                tried += 1
        self.assertGreater(tried, 80)
        self.is_as_it_was(self.sidecar, self.idp["baseUrl"])

    def test_claims_with_the_maximum_nesting_are_restored(self):
        claims = {"a": 1}
        for _ in range(61):
            claims = {"a": claims}
        self.enqueue(claims=claims, clear=True)
        self.sidecar.call("test.snapshot", {"file": self.path("deep")})
        self.enqueue(clear=True)
        self.sidecar.call("test.restore", {"file": self.path("deep")})
        self.assertEqual(self.enqueue(), [{"claims": claims}])
