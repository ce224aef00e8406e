import JSON
import Loopback

extension Page {
    /// The applications of a tenant, for its page.
    func applicationTable(ofTenant id: String) throws(CallError) -> HTML {
        // A tenant has at most 100 applications: two pages of the list.
        var params: JSONObject = ["tenantId": .string(id), "limit": 60]
        var applications: [JSONValue] = []
        repeat {
            let list = try calls.show("application.list", params)
            applications += list["applications"]?.array ?? []
            params["cursor"] = list["nextCursor"]
        } while params["cursor"] != nil
        let create = PageRequest.url(["methods", "application.put"], [("tenantId", id)])
        let table = Display.table(
            applications,
            empty: "Users sign in to the default application only. <a href=\"\(create)\">Create an application</a>.",
            [
                (
                    "Client ID",
                    { application in
                        let client = application["clientId"]?.string ?? ""
                        let url = PageRequest.url(["applications", client], [("tenant", id)])
                        return "<a href=\"\(url)\"><code>\(client)</code></a>"
                    }
                ), Display.column("Name", "name"), Display.column("Type", "type"),
                Display.column("Native authentication", "nativeAuthentication"),
                ("Secrets", { "\(String($0["secrets"]?.array?.count ?? 0))" }), Display.column("Updated", "updatedAt"),
            ])
        return "<section><h2 id=\"applications\">Applications</h2>\(table)</section>"
    }

    func application(_ clientId: String) throws(CallError) -> LoopbackResponse {
        let tenant = query.given("tenant") ?? "default"
        let application = try calls.show("application.get", ["tenantId": .string(tenant), "clientId": .string(clientId)])
        let named = [("tenantId", tenant), ("clientId", clientId)]
        func method(_ name: String, _ more: [(String, String)] = []) -> String { PageRequest.url(["methods", name], named + more) }
        let secrets = Display.table(
            application["secrets"]?.array ?? [], empty: "The application has no secret.",
            [
                Display.column("Secret", "secretId"), ("Ends with", { "<code>…\($0["hint"]?.string ?? "")</code>" }),
                Display.column("Created", "createdAt"),
                (
                    "Action",
                    {
                        let url = method("application.deleteSecret", [("secretId", $0["secretId"]?.string ?? "")])
                        return "<a class=\"button danger\" href=\"\(url)\">Delete</a>"
                    }
                ),
            ])
        let add: HTML =
            parts.settings.showsSecrets
            ? "<p class=\"actions\"><a class=\"button\" href=\"\(method("application.addSecret"))\">Add a secret</a></p>"
            : "<p class=\"soft\">A new secret is shown once, so this console needs <code>--show-secrets</code> to add one.</p>"
        let isConfidential = application["type"]?.string == "confidential"
        return respond(
            "Application \(clientId)", lead: "Of tenant \(Display.link("tenants", tenant))",
            heading: "Application <code>\(clientId)</code>",
            """
            <p class="actions"><a class="button" href="\(method("application.put"))">Replace settings</a>\
            <a class="button danger" href="\(method("application.delete"))">Delete</a></p>\
            <section class="card"><h2>Settings</h2>\(Display.facts(application, without: ["secrets", "tenantId"]))</section>\
            <section><h2>Secrets</h2>\
            \(isConfidential ? secrets + add : "<p class=\"soft\">A public application has no secrets.</p>")</section>
            """)
    }
}
