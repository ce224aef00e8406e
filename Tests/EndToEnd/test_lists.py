"""Pagination: pages, cursors, and cursors that do not belong to the list."""

import os
import re
import sqlite3

from endtoend import EndToEnd, decode, encode, make_pool, mint, only
from sidecar import ROOT


class Lists(EndToEnd):
    def pages(self, sidecar, method, member, **params):
        found, cursor = [], None
        while True:
            page = sidecar.call(method, {**params, **({"cursor": cursor} if cursor else {})})
            found.append(page[member])
            cursor = page.get("nextCursor")
            if not cursor:
                return found

    def test_identity_list_returns_pages_in_order(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        identities = {mint(sidecar, pool, f"user-{i}")["identityId"] for i in range(145)}
        pages = self.pages(sidecar, "identity.list", "identities", poolId=pool)
        self.assertEqual([len(page) for page in pages], [60, 60, 25])
        listed = [each["identityId"] for page in pages for each in page]
        self.assertEqual(listed, sorted(identities))
        self.assertEqual([len(page) for page in self.pages(sidecar, "identity.list", "identities", poolId=pool, limit=50)], [50, 50, 45])

    def test_the_last_page_is_not_empty(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        for i in range(4):
            mint(sidecar, pool, f"user-{i}")
        self.assertEqual([len(page) for page in self.pages(sidecar, "identity.list", "identities", poolId=pool, limit=2)], [2, 2])

    def test_pools_roles_keys_and_records_are_paginated(self):
        sidecar = self.spawn()
        pools = sorted(make_pool(sidecar, name=f"pool {i}")["poolId"] for i in range(5))
        for i in range(5):
            sidecar.call("role.put", {"name": f"role-{i}", "poolId": pools[0]})
        self.assertEqual([p["poolId"] for page in self.pages(sidecar, "pool.list", "pools", limit=2) for p in page], pools)
        self.assertEqual([r["name"] for page in self.pages(sidecar, "role.list", "roles", limit=2) for r in page], [f"role-{i}" for i in range(5)])
        self.assertEqual(len([k for page in self.pages(sidecar, "key.list", "keys", limit=2) for k in page]), 5)
        records = [r for page in self.pages(sidecar, "audit.list", "records", limit=3) for r in page]
        self.assertEqual([r["method"] for r in records], ["role.put"] * 5 + ["pool.create"] * 5)

    def test_altered_cursor_or_cursor_of_another_list_fails(self):
        sidecar = self.spawn()
        pool, other = make_pool(sidecar)["poolId"], make_pool(sidecar)["poolId"]
        for i in range(3):
            mint(sidecar, pool, f"user-{i}")
        cursor = sidecar.call("identity.list", {"poolId": pool, "limit": 1})["nextCursor"]
        self.refused("invalidCursor", sidecar, "identity.list", {"poolId": pool, "limit": 1, "cursor": "x" + cursor})
        self.refused("invalidCursor", sidecar, "identity.list", {"poolId": other, "limit": 1, "cursor": cursor})
        self.refused("invalidCursor", sidecar, "pool.list", {"cursor": cursor})

    def test_sorted_accounts_are_paginated_in_every_order_with_every_filter(self):
        """Accounts with the same value are sorted by ID in the same direction. An account that is deleted between two pages moves no other."""
        self.store = self.path("store.db")
        sidecar = self.spawn("--testing", store=self.store)
        accounts = [{"accountId": f"{number % 7}-{number}", "email": f"{'User' if number % 3 else 'user'}{number % 11}.{number}@example.com",
                     "disabled": number % 4 == 0, "createdAt": 1000 + number // 10} for number in range(60)]
        for account in accounts[:20]:
            account["providers"] = [{"providerId": "google.com", "subject": account["accountId"]}]
        accounts += [{"accountId": f"p{number}", "phoneNumber": f"+155555501{number:02}"} for number in range(3)]
        self.assertEqual(sidecar.call("account.import", {"accounts": accounts[:60]})["imported"], 60)
        for account in accounts[60:]:
            account["accountId"] = sidecar.call("account.create", {"phoneNumber": account["phoneNumber"]})["accountId"]
        for account in accounts[7:30]:
            self.rows("UPDATE account SET last_sign_in_at = ? WHERE id = ?", 2000 + accounts.index(account) // 5, account["accountId"])
        known = {each["accountId"]: each for page in self.pages(sidecar, "account.list", "accounts", limit=25) for each in page}
        self.assertEqual(len(known), 63)
        keys = {"accountId": lambda each: "", "email": lambda each: each.get("email", "").lower(),
                "createdAt": lambda each: each["createdAt"], "lastSignInAt": lambda each: each.get("lastSignInAt", -1)}

        def expected(order, descending, disabled=None, providerId=None):
            chosen = [each for each in known.values() if disabled in (None, each["disabled"])
                      and (not providerId or any(provider["providerId"] == providerId for provider in each["providers"]))]
            return [each["accountId"] for each in sorted(chosen, key=lambda each: (keys[order](each), each["accountId"]), reverse=descending)]
        for order in keys:
            for descending in (False, True):
                for filters in ({}, {"disabled": True}, {"disabled": False}, {"providerId": "google.com"}, {"disabled": True, "providerId": "google.com"}):
                    for limit in (4, 60):
                        pages = self.pages(sidecar, "account.list", "accounts", sortBy=order, descending=descending, limit=limit, **filters)
                        self.assertEqual([each["accountId"] for page in pages for each in page], expected(order, descending, **filters), (order, descending, filters))
        for order in keys:
            before = expected(order, True)
            page = sidecar.call("account.list", {"sortBy": order, "descending": True, "limit": 5})
            sidecar.call("account.delete", {"accountId": before[4]})
            del known[before[4]]
            rest = sidecar.call("account.list", {"sortBy": order, "descending": True, "limit": 5, "cursor": page["nextCursor"]})
            self.assertEqual([each["accountId"] for each in rest["accounts"]], before[5:10])

    @only("sqlite")
    def test_queries_of_sorted_and_filtered_lists_read_a_range_of_an_index(self):
        """No list scans or sorts the rows before its page. The planner of SQLite decides alike for few and many rows."""
        self.store = self.path("store.db")
        self.spawn("--testing", store=self.store).call("pool.list")
        queries = []
        for source in ("Accounts/Accounts/AccountOrder.swift", "ServiceContext/AuditLog/AuditRecords.swift"):
            with open(os.path.join(ROOT, "Sources", source), encoding="utf-8") as file:
                queries += [query for query in re.findall(r'"""\n(.*?)"""', file.read(), re.S) if re.search(r"^ *SELECT .*ORDER BY [^\n]* LIMIT \$\d", query, re.S)]
        self.assertGreaterEqual(len(queries), 18)
        connection = sqlite3.connect(self.store)
        self.addCleanup(connection.close)
        for query in queries:
            plan = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + query, {str(number): None for number in range(1, 10)})]
            steps = [step for step in plan if step.startswith(("SCAN", "USE TEMP B-TREE FOR ORDER BY"))]
            self.assertEqual(steps, [], (query, plan))

    def test_entries_added_during_pagination_cause_no_duplicates_or_omissions(self):
        """Entries that existed at the start are all returned, and no entry is returned twice."""
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        before = {mint(sidecar, pool, f"user-{i}")["identityId"] for i in range(20)}
        page = sidecar.call("identity.list", {"poolId": pool, "limit": 10})
        for i in range(20, 40):
            mint(sidecar, pool, f"user-{i}")
        seen = [each["identityId"] for each in page["identities"]]
        while "nextCursor" in page:
            page = sidecar.call("identity.list", {"poolId": pool, "limit": 10, "cursor": page["nextCursor"]})
            seen += [each["identityId"] for each in page["identities"]]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertTrue(before <= set(seen))

    def test_forged_cursor_fails_for_any_content(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        for i in range(2):
            make_pool(sidecar)
            mint(sidecar, pool, f"user-{i}")
            sidecar.call("role.put", {"name": f"role-{i}", "poolId": pool})
        for method, params in [("pool.list", {}), ("role.list", {}), ("identity.list", {"poolId": pool}), ("key.list", {})]:
            mark = decode(sidecar.call(method, {**params, "limit": 1})["nextCursor"])[:8]
            for place in (b"\0", b"a\0b", b"\xff"):
                self.refused("invalidCursor", sidecar, method, {**params, "cursor": encode(mark + place)})
