import JSON
import Loopback

extension Page {
    func tenants() throws(CallError) -> LoopbackResponse {
        let list = try calls.show("tenant.list", page())
        let table = Display.table(
            list["tenants"]?.array ?? [], empty: "The store has no tenants.",
            [
                ("Tenant", { "\(Display.value($0["tenantId"], as: "tenantId"))" }),
                Display.column("Name", "name"), Display.column("Sign-in", "localAccountMethod"), Display.column("Sign-up", "signUpAllowed"),
                Display.column("Second factor", "mfa"), Display.column("Updated", "updatedAt"),
            ])
        return respond(
            "Tenants", lead: "A tenant is an isolated set of accounts with its own settings, providers and keys.", table + pager(list))
    }

    func tenant(_ id: String) throws(CallError) -> LoopbackResponse {
        let tenant = try calls.show("tenant.get", ["tenantId": .string(id)])
        let idps = try calls.show("idp.list", ["tenantId": .string(id), "limit": 60])
        let providers = Display.table(
            idps["idps"]?.array ?? [], empty: "The tenant has no identity providers.",
            [
                ("Provider", { "<code>\($0["providerId"]?.string ?? "")</code>" }), Display.column("Name", "displayName"),
                Display.column("Issuer", "issuer"), Display.column("Client ID", "clientId"), Display.column("Enabled", "enabled"),
            ])
        let delivery = tenant["delivery"].map { Display.facts($0) } ?? "<p class=\"soft\">The settings of the process apply.</p>"
        let settings = PageRequest.url(["methods", "tenant.update"], [("tenantId", id)])
        return respond(
            "Tenant \(id)", heading: "Tenant <code>\(id)</code>",
            """
            <p class="actions"><a class="button" href="\(PageRequest.url(["accounts"], [("tenant", id)]))">Accounts</a>\
            <a class="button" href="\(PageRequest.url(["keys"], [("tenantId", id)]))">Signing keys</a>\
            <a class="button" href="\(settings)">Change settings</a></p>\
            <section class="card"><h2>Settings</h2>\(Display.facts(tenant, without: ["delivery"]))</section>\
            \(try applicationTable(ofTenant: id))\
            <section><h2>Identity providers</h2>\(providers)</section>\
            <section class="card"><h2>Delivery</h2>\(delivery)</section>
            """)
    }
}
