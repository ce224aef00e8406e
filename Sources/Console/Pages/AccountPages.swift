import JSON
import Loopback

extension Page {
    private static var accountColumns: [Display.Column] {
        [
            (
                "Account",
                { account in
                    let id = account["accountId"]?.string ?? ""
                    let name = account["email"]?.string ?? account["username"]?.string ?? account["attributes"]?["displayName"]?.string
                    return
                        """
                        <a href="\(PageRequest.url(["accounts", id]))">\(name ?? "without an address")</a><small><code>\(id)</code></small>
                        """
                }
            ),
            (
                "Sign-in methods",
                { account in
                    let names = (account["providers"]?.array ?? []).compactMap { $0["providerId"]?.string }
                    return names.isEmpty ? "<span class=\"soft\">none</span>" : names.map { Display.badge($0) }.joined(" ")
                }
            ),
            (
                "State",
                { account in
                    var marks: [HTML] = []
                    if account["method"]?.string == "agent" { marks.append(Display.badge("agent", "info")) }
                    if account["disabled"]?.bool == true { marks.append(Display.badge("disabled", "bad")) }
                    if account["emailVerified"]?.bool == true { marks.append(Display.badge("verified", "good")) }
                    if let factors = account["factors"]?.array, !factors.isEmpty { marks.append(Display.badge("2FA", "info")) }
                    return marks.isEmpty ? "<span class=\"soft\">–</span>" : marks.joined(" ")
                }
            ),
            Display.column("Last sign-in", "lastSignInAt"), Display.column("Created", "createdAt"),
        ]
    }

    /// The IDs of at most 600 tenants.
    private func tenantIds() throws(CallError) -> [String] {
        var found: [String] = []
        var params: JSONObject = [:]
        for _ in 0..<10 {
            let list = try calls.call("tenant.list", params)
            found += (list["tenants"]?.array ?? []).compactMap { $0["tenantId"]?.string }
            guard let cursor = list["nextCursor"] else { break }
            params["cursor"] = cursor
        }
        return found
    }

    /// Finds accounts by email address in one tenant or all, or by ID.
    private func find(_ text: String, tenant: String?) throws(CallError) -> [JSONValue] {
        var found: [JSONValue] = []
        if text.contains("@") {
            var tenants = tenant.map { [$0] } ?? []
            if tenant == nil {
                tenants = try tenantIds()
            }
            for tenant in tenants {
                if let account = try? calls.show("account.find", ["tenantId": .string(tenant), "username": .string(text)]) {
                    found.append(account)
                }
            }
        } else if let account = try? calls.show("account.get", ["accountId": .string(text)]) {
            found.append(account)
        }
        return found
    }

    private func search(_ placeholder: String) throws(CallError) -> HTML {
        let tenants = try tenantIds()
        let current = query.given("tenant")
        let options = (["": "search in all tenants"].map { ($0.key, $0.value) } + tenants.map { ($0, $0) }).map { value, name -> HTML in
            "<option value=\"\(value)\"\(value == current ? " selected" : HTML.none)>\(name)</option>"
        }.joined()
        let choice: HTML =
            tenants.count > 1 ? "<label class=\"inline\">Tenant <select name=\"tenant\">\(options)</select></label>" : .none
        return """
            <form class="search" role="search"><input type="search" name="q" value="\(query["q"] ?? "")" placeholder="\(placeholder)" \
            aria-label="\(placeholder)">\(choice)<button type="submit">Search</button></form>
            """
    }

    private var more: [(name: String, value: String)] {
        ["tenant", "q"].compactMap { name in query.given(name).map { (name, $0) } }
    }

    func accounts() throws(CallError) -> LoopbackResponse {
        let form = try search("Email address or account ID")
        if let text = query.given("q") {
            let found = try find(text, tenant: query.given("tenant"))
            let none: HTML = "No account has the address or ID <b>\(text)</b>. <a href=\"/accounts\">Show all accounts</a>"
            return respond("Accounts", form + Display.table(found, empty: none, Self.accountColumns))
        }
        let tenant = query.given("tenant") ?? "default"
        let list = try calls.show("account.list", page(["tenantId": .string(tenant)]))
        let create = PageRequest.url(["methods", "account.create"])
        let empty: HTML = """
            Tenant <b>\(tenant)</b> has no accounts yet. <a href="\(create)">Create an account</a> or <a href="/import">import a file</a>.
            """
        return respond(
            "Accounts", lead: "Accounts of tenant <a href=\"\(PageRequest.url(["tenants", tenant]))\">\(tenant)</a>, sorted by ID.",
            form + Display.table(list["accounts"]?.array ?? [], empty: empty, Self.accountColumns) + pager(list, more))
    }

    private func sessionTable(_ sessions: [JSONValue], ofAccount id: String) -> HTML {
        let end: (JSONValue) -> HTML = { session in
            let session = session["sessionId"]?.string ?? ""
            return form(
                PageRequest.url(["accounts", id]), button: "End", style: "inline",
                "<input type=\"hidden\" name=\"sessionId\" value=\"\(session)\">")
        }
        return Display.table(
            sessions, empty: "The account has no sessions.",
            [
                ("Session", { "<code id=\"session-\($0["sessionId"]?.string ?? "")\">\($0["sessionId"]?.string ?? "")</code>" }),
                ("Signed in with", { "\(Display.badge($0["signInProvider"]?.string ?? "")) \($0["secondFactor"]?.string ?? "")" }),
                Display.column("Application", "clientId"), Display.column("Signed in", "authenticatedAt"),
                Display.column("Last used", "lastUsedAt"),
                Display.column("Expires", "expiresAt"), ("", end),
            ])
    }

    func account(_ id: String) throws(CallError) -> LoopbackResponse {
        let params: JSONObject = ["accountId": .string(id)]
        let account = try calls.show("account.get", params)
        let graph = try calls.show("account.graph", params)
        let sessions = try calls.show("session.list", params)["sessions"]?.array ?? []
        let factors = try calls.show("mfa.list", params)
        let name = account["email"]?.string ?? account["username"]?.string ?? "Account"
        let passkeys = account["passkeys"]?.array ?? []
        let methods = Display.table(
            account["providers"]?.array ?? [],
            empty: passkeys.isEmpty
                ? "The account has no sign-in method: it is anonymous, or was imported without one."
                : "The user signs in with passkeys only.",
            [
                ("Method", { Display.badge($0["providerId"]?.string ?? "") }), Display.column("Subject", "subject"),
                Display.column("Email", "email"), Display.column("Linked", "linkedAt"),
            ])
        let passkeyTable = Display.table(
            passkeys, empty: "The account has no passkey.",
            [
                Display.column("Name", "name"), Display.column("Credential", "credentialId"),
                ("Authenticator", { Display.value($0["authenticatorName"] ?? $0["aaguid"], as: "authenticator") }),
                ("Synchronized", { Display.value($0["backupState"], as: "backupState") }),
                ("Verifies the user", { Display.value($0["userVerified"], as: "userVerified") }),
                Display.column("Registered", "createdAt"), Display.column("Last used", "lastUsedAt"),
            ])
        let factorTable = Display.table(
            factors["factors"]?.array ?? [], empty: "The account has no second factor.",
            [
                ("Kind", { Display.badge($0["kind"]?.string ?? "", "info") }), Display.column("Factor", "factorId"),
                ("Name", { Display.value($0["displayName"] ?? $0["email"] ?? $0["phoneNumber"], as: "name") }),
                Display.column("Enrolled", "enrolledAt"), Display.column("Last used", "lastUsedAt"),
            ])
        let agents = try calls.show("account.listAgents", ["ownerId": .string(id)])["agents"]?.array ?? []
        let agentTable = Display.table(agents, empty: "The account owns no agents.", Self.accountColumns)
        let change = { (method: String) in PageRequest.url(["methods", method], [("accountId", id)]) }
        return respond(
            name, lead: "<code>\(id)</code>",
            """
            <p class="actions"><a class="button" href="\(change("account.update"))">Change profile</a>\
            <a class="button" href="\(change("session.revokeAll"))">End all sessions</a>\
            <a class="button danger" href="\(change("account.delete"))">Delete</a></p>\
            <section class="card"><h2 id="graph">Account graph</h2>\(GraphPicture(graph).picture)</section>\
            <section class="card"><h2>Profile</h2>\(Display.facts(account, without: ["providers", "factors", "passkeys"]))</section>\
            <section><h2>Sign-in methods</h2>\(methods)</section>\
            <section><h2 id="agents">Agents</h2>\(agentTable)</section>\
            <section><h2 id="passkeys">Passkeys</h2>\(passkeyTable)</section>\
            <section><h2 id="factors">Second factors</h2>\(factorTable)</section>\
            <section><h2 id="sessions">Sessions</h2>\(sessionTable(sessions, ofAccount: id))</section>
            """)
    }

    /// Ends a session of an account.
    func endSession(ofAccount id: String) throws(CallError) -> LoopbackResponse {
        if let refusal = refusalToWrite("session.signOut") { return refusal }
        _ = try calls.call("session.signOut", ["sessionId": .string(request.form["sessionId"] ?? "")])
        return .redirect(to: PageRequest.url(["accounts", id]) + "#sessions")
    }

    /// Lists the sessions of the accounts of one page.
    func sessions() throws(CallError) -> LoopbackResponse {
        let form = try search("Email address or account ID")
        var accounts: [JSONValue]
        var list: JSONValue = [:]
        let tenant = query.given("tenant")
        if let text = query.given("q") {
            accounts = try find(text, tenant: tenant)
        } else {
            list = try calls.show("account.list", page(["tenantId": .string(tenant ?? "default")]))
            accounts = list["accounts"]?.array ?? []
        }
        var content = HTML.none
        for account in accounts {
            let id = account["accountId"]?.string ?? ""
            let sessions = try calls.show("session.list", ["accountId": .string(id)])["sessions"]?.array ?? []
            if sessions.isEmpty { continue }
            content += """
                <section><h2><a href="\(PageRequest.url(["accounts", id]))">\(account["email"]?.string ?? id)</a> \
                <small>\(sessions.count == 1 ? "1 session" : "\(sessions.count) sessions")</small></h2>\
                \(sessionTable(Array(sessions.prefix(20)), ofAccount: id))</section>
                """
        }
        if content.text.isEmpty { content = "<div class=\"empty\"><p>The accounts of this page have no sessions.</p></div>" }
        return respond("Sessions", lead: "The sessions of each account, most recent first.", form + content + pager(list, more))
    }
}
