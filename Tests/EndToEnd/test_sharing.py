"""Processes that share a store: who meets whom, and how soon one knows what another has done."""

import concurrent.futures
import itertools
import json
import time

from endtoend import EndToEnd, make_pool, mint, only, pool_with_role
from sidecar import request_line
from test_logins import Provider


class Sharing(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")

    def together(self, count, *options):
        """Processes on one store that have opened it."""
        sidecars = [self.spawn(*options, store=self.store) for _ in range(count)]
        for sidecar in sidecars:
            sidecar.call("pool.list", timeout=60)
        return sidecars

    def at_once(self, sidecars, requests):
        """Writes to every process its requests, [(id, method, params)], all at the same time: their answers, [{id: message}]."""
        with concurrent.futures.ThreadPoolExecutor(len(sidecars)) as threads:
            list(threads.map(lambda each: each[0].write(b"".join(request_line(method, params, id=id) for id, method, params in each[1])), zip(sidecars, requests)))
        return [{message["id"]: message for message in map(json.loads, sidecar.lines(len(mine), timeout=120))} for sidecar, mine in zip(sidecars, requests)]

    def test_ten_processes_mint_for_the_same_new_users(self):
        """Overlapping users, each met by several processes first: one identity each, one answer that says it is new, and no error."""
        sidecars = self.together(10)
        pool = make_pool(sidecars[0])["poolId"]
        requests = [[(f"user {number}", "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {number}"}})
                     for number in range(place * 10, place * 10 + 60)] for place in range(10)]
        identities, new = {}, {}
        for answers in self.at_once(sidecars, requests):
            for user, message in answers.items():
                self.assertIn("result", message)
                identities.setdefault(user, set()).add(message["result"]["identityId"])
                new[user] = new.get(user, 0) + message["result"]["isNewIdentity"]
        self.assertEqual(len(identities), 150)
        self.assertEqual({len(each) for each in identities.values()}, {1})
        self.assertEqual(set(new.values()), {1})
        self.assertEqual(self.rows("SELECT count(*) FROM identity"), [(150,)])
        self.assertTrue(sidecars[3].call("audit.verify", timeout=60)["intact"])

    def test_two_processes_that_link_one_login_at_once(self):
        """One login, two identities that want it: exactly one gets it, the other is told, whoever is first."""
        provider = Provider()
        sidecars = self.together(2)
        pool = make_pool(sidecars[0], providers=[provider.settings()], allowUnauthenticated=True)["poolId"]
        for round in range(25):
            guests = [sidecars[0].call("identity.resolve", {"poolId": pool})["identityId"] for _ in range(2)]
            login = {"login.example.com": provider.token(f"carol {round}")}
            answers = self.at_once(sidecars, [
                [(user, "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"{user} {round}", **login}, "identityId": guest})]
                for user, guest in zip("ab", guests)])
            results = [answers[0]["a"], answers[1]["b"]]
            for each in results:
                self.assertIn("result", each)
            # Whoever came second met an owner of the login already, and joined it.
            self.assertEqual(len({each["result"]["identityId"] for each in results}), 1)
            owner = results[0]["result"]["identityId"]
            self.assertEqual(self.rows("SELECT identity_id FROM login WHERE subject = ?", f"carol {round}"), [(owner,)])
            self.assertEqual(sorted(self.rows("SELECT state FROM identity WHERE id = ? OR id = ?", *guests)), [("authenticated",), ("disabled",)])
        self.assertTrue(sidecars[0].call("audit.verify", timeout=60)["intact"])

    def test_two_identities_that_want_one_login(self):
        """Both are signed in with another provider already, so that the second is in conflict and changes nothing."""
        first, second = Provider("https://a.example"), Provider("https://b.example")
        sidecars = self.together(2)
        pool, _ = pool_with_role(sidecars[0], providers=[first.settings(), second.settings()])
        for round in range(25):
            requests = []
            for number, sidecar in enumerate(sidecars):
                own = {"a.example": first.token(f"{number} of {round}")}
                identity = sidecar.call("identity.resolve", {"poolId": pool, "logins": own})["identityId"]
                requests.append([(identity, "credentials.get", {"identityId": identity, "logins": {**own, "b.example": second.token(f"wanted {round}")}})])
            answers = self.at_once(sidecars, requests)
            winners = [id for each in answers for id, message in each.items() if "result" in message]
            types = [message["error"]["data"]["type"] for each in answers for message in each.values() if "error" in message]
            self.assertEqual((len(winners), types), (1, ["loginConflict"]))
            winner = winners[0]
            self.assertEqual(self.rows("SELECT identity_id FROM login WHERE subject = ?", f"wanted {round}"), [(winner,)])

    def test_merging_in_a_ring(self):
        """Every process merges the same users in another order: one identity is left, and nobody hears of the others."""
        sidecars = self.together(4)
        pool = make_pool(sidecars[0])["poolId"]
        users = [f"user {number}" for number in range(8)]
        for user in users:
            mint(sidecars[0], pool, user)
        requests = [[(f"{source}>{destination}", "identity.mergeDevelopers", {
            "poolId": pool, "developerProvider": "login.shop", "sourceUserIdentifier": source, "destinationUserIdentifier": destination})
            for source, destination in zip(users[place:] + users[:place], users[place + 1:] + users[:place + 1])] for place in range(0, 8, 2)]
        for answers in self.at_once(sidecars, requests):
            for id, message in answers.items():
                self.assertIn("result", message, id)
        self.assertEqual(len({mint(sidecar, pool, user)["identityId"] for sidecar, user in zip(itertools.cycle(sidecars), users)}), 1)
        self.assertEqual(sorted(self.rows("SELECT state, count(*) FROM identity GROUP BY state")), [("authenticated", 1), ("disabled", 7)])
        self.assertTrue(sidecars[0].call("audit.verify", timeout=60)["intact"])

    def test_a_revocation_in_one_holds_in_all(self):
        sidecars = self.together(10)
        pool, _ = pool_with_role(sidecars[0])
        for round in range(3):
            minted = mint(sidecars[round], pool, f"user {round}")
            session = {"sessionToken": sidecars[round].call("credentials.get", {"token": minted["token"]})["credentials"]["sessionToken"]}
            for sidecar in sidecars:
                sidecar.call("credentials.verify", session)   # and so remembers that nothing is revoked
            sidecars[9 - round].call("credentials.revoke", {"identityId": minted["identityId"]})
            revoked = time.monotonic()
            for sidecar in sidecars:
                self.soon_refused("credentialsRevoked", sidecar, "credentials.verify", session)
            self.assertLess(time.monotonic() - revoked, 1)

    @only("postgres")
    def test_processes_are_told_and_do_not_ask(self):
        """What is kept in memory is dropped by a notification: long before it would be asked for again, and without a question per request."""
        one, other = self.together(2)
        pool, _ = pool_with_role(one)
        waits = []
        for round in range(8):
            minted = mint(one, pool, f"user {round}")
            session = {"sessionToken": one.call("credentials.get", {"token": minted["token"]})["credentials"]["sessionToken"]}
            time.sleep(0.05)
            other.call("credentials.verify", session)
            one.call("credentials.revoke", {"identityId": minted["identityId"]})
            began = time.monotonic()
            self.soon_refused("credentialsRevoked", other, "credentials.verify", session)
            waits.append(time.monotonic() - began)
        self.assertLess(sorted(waits)[4], 0.3, waits)

        def asked():
            time.sleep(1.5)   # the server's counters follow
            return self.rows("SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'mintmark_meta' AND schemaname = current_schema()")[0][0]
        minted = mint(one, pool)
        before, began, calls = asked(), time.monotonic(), 0
        while time.monotonic() < began + 2:
            other.call("token.verify", {"token": minted["token"], "audience": pool})
            calls += 1
        self.assertGreater(calls, 200)
        self.assertLess(asked() - before, calls / 10)
