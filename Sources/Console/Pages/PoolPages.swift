import JSON
import Loopback

extension Page {
    func pools() throws(CallError) -> LoopbackResponse {
        let list = try calls.show("pool.list", page())
        let create = PageRequest.url(["methods", "pool.create"])
        return respond(
            "Identity pools", lead: "A pool gives each user of an application one stable ID, whatever the login.",
            Display.table(
                list["pools"]?.array ?? [], empty: "The store has no identity pools. <a href=\"\(create)\">Create a pool</a>.",
                [Display.column("Pool", "poolId"), Display.column("Name", "name")]) + pager(list))
    }

    func pool(_ id: String) throws(CallError) -> LoopbackResponse {
        let params: JSONObject = ["poolId": .string(id)]
        let pool = try calls.show("pool.get", params)
        let roles = try calls.show("pool.getRoles", params)
        let list = try calls.show("identity.list", page(params))
        let identities = Display.table(
            list["identities"]?.array ?? [], empty: "The pool has no identities yet. A call of token.mint or credentials.get creates them.",
            [
                Display.column("Identity", "identityId"), Display.column("State", "state"), Display.column("Logins", "logins"),
                Display.column("Created", "createdAt"), Display.column("Updated", "updatedAt"),
            ])
        return respond(
            pool["name"]?.string ?? id, lead: "<code>\(id)</code>",
            """
            <p class="actions"><a class="button" href="\(PageRequest.url(["keys"], [("poolId", id)]))">Signing keys</a>\
            <a class="button" href="\(PageRequest.url(["audit"], [("poolId", id)]))">Audit log</a>\
            <a class="button danger" href="\(PageRequest.url(["methods", "pool.delete"], [("poolId", id)]))">Delete</a></p>\
            <section class="card"><h2>Settings</h2>\(Display.facts(pool, without: ["poolId"]))</section>\
            <section class="card"><h2>Roles</h2>\(Display.facts(roles, without: ["poolId"]))</section>\
            <section><h2>Identities</h2>\(identities)\(pager(list))</section>
            """)
    }

    func identity(_ id: String) throws(CallError) -> LoopbackResponse {
        let identity = try calls.show("identity.get", ["identityId": .string(id)])
        let records = try calls.show("audit.list", ["identityId": .string(id), "limit": 20])
        return respond(
            "Identity", lead: "<code>\(id)</code>",
            """
            <p class="actions">\
            <a class="button danger" href="\(PageRequest.url(["methods", "identity.delete"], [("identityIds[0]", id)]))">Delete</a></p>\
            <section class="card"><h2>Facts</h2>\(Display.facts(identity, without: ["identityId"]))</section>\
            <section><h2>Last changes</h2>\(auditTable(records))</section>
            """)
    }

    /// - Parameter form: The fields of the tester, or `nil`.
    func roles(testing form: Fields? = nil) throws(CallError) -> LoopbackResponse {
        let list = try calls.show("role.list", page())
        let roles = list["roles"]?.array ?? []
        let names = roles.compactMap { $0["roleArn"]?.string }
        let chosen = form?["roleArn"] ?? query["roleArn"]
        let options = names.map { "<option\($0 == chosen ? " selected" : HTML.none)>\($0)</option>" as HTML }.joined()
        let fields: HTML = """
            <label>Role <select name="roleArn">\(options)</select></label>\
            <label>OpenID token of a pool <input type="password" name="token" autocomplete="off" required></label>
            """
        let tester: HTML =
            names.isEmpty
            ? "<p class=\"soft\">The tester needs a role.</p>"
            : self.form("/roles", needsWrite: false, button: "Test", style: "stack", fields)
        let table = Display.table(
            roles, empty: "The store has no roles. <a href=\"/methods/role.put\">Create a role</a>.",
            [
                ("Role", { "<b>\($0["name"]?.string ?? "")</b><small><code>\($0["roleArn"]?.string ?? "")</code></small>" }),
                ("Trust policy", { "<details><summary>Show</summary><pre>\(Display.json($0["trustPolicy"] ?? .null))</pre></details>" }),
                ("Longest session", { "\(String(($0["maxSessionSeconds"]?.int ?? 0) / 60)) min" }), Display.column("Updated", "updatedAt"),
            ])
        return respond(
            "Roles",
            """
            \(table)\(pager(list))<section class="card"><h2>Would this token get this role?</h2>\
            <p class="soft">Checks the token and the trust policy as <code>credentials.assumeRole</code> does. Nothing is stored.</p>\
            \(tester)\(form.map { verdict($0) } ?? .none)</section>
            """)
    }

    private func verdict(_ form: Fields) -> HTML {
        let params: JSONObject = [
            "roleArn": .string(form["roleArn"] ?? ""), "token": .string(form.given("token") ?? ""), "sessionName": "console",
        ]
        do throws(CallError) {
            let result = try calls.show("credentials.assumeRole", params)
            return """
                <div class="outcome good"><p><b>Yes.</b> The token gets the role as \
                <code>\(result["assumedRole"]?["arn"]?.string ?? "")</code>.</p>\
                <pre data-result>\(Display.json(result))</pre></div>
                """
        } catch {
            return """
                <div class="outcome bad"><p><b>No.</b> \(error.message)</p>\
                <pre data-result>\(Display.json(calls.masked(error: error)))</pre></div>
                """
        }
    }
}
