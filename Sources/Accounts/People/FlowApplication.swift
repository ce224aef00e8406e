import Contract
import JSON

/// The application that started a flow.
struct FlowApplication: Sendable, Equatable {
    /// `nil` for the default application of the tenant.
    var name: ApplicationName?

    init(name: ApplicationName? = nil) { self.name = name }

    /// The text in the store, or `nil` if there is nothing to store.
    var text: String? {
        guard let name else { return nil }
        return JSONValue.object(["id": .string(name.id), "clientId": .string(name.clientId)]).text
    }

    init(text: String?) {
        guard let object = text.flatMap({ try? JSONValue(parsing: $0) })?.object else { return }
        if let id = object["id"]?.string, let clientId = object["clientId"]?.string { name = ApplicationName(id: id, clientId: clientId) }
    }

    /// - Throws: `ContinuationTokenInvalid` if a request names another application.
    func require(_ clientId: String?, of tenant: TenantRecord) throws {
        guard let clientId, clientId != name?.clientId ?? tenant.id else { return }
        // The application that holds a foreign token must not learn whose it is.
        throw ContinuationTokenInvalid()
    }
}
