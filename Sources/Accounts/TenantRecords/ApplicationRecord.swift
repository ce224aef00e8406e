import Contract
import JSON
import ServiceContext
import Storage

/// A stored application of a tenant.
package struct ApplicationRecord: Sendable {
    /// The maximum number of applications of a tenant.
    static let most = 100

    /// The internal ID. An application that is deleted and created again has another one, so that earlier sessions stay ended.
    let id: String
    /// The parameters of `application.put`.
    package let settings: ApplicationPut.Params
    let createdAt: Int64
    let updatedAt: Int64
    /// The secrets, oldest first.
    var secrets: [ClientSecretRecord] = []

    package var tenantId: String { settings.tenantId }
    package var clientId: String { settings.clientId }

    package init(id: String, settings: ApplicationPut.Params, createdAt: Int64, updatedAt: Int64) {
        self.id = id
        self.settings = settings
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    /// The default application of a tenant, for which no row is stored.
    static func standard(of tenantId: String) -> ApplicationRecord {
        ApplicationRecord(
            id: "", settings: ApplicationPut.Params(tenantId: tenantId, clientId: tenantId), createdAt: 0, updatedAt: 0)
    }

    /// Whether the application is the default application of its tenant. Sessions and flows do not name it.
    package var isDefault: Bool { clientId == tenantId }

    /// The application as the `application.*` methods return it.
    package var answer: Application {
        Application(
            tenantId: tenantId, clientId: clientId, name: settings.name, type: settings.type,
            nativeAuthentication: settings.nativeAuthentication, redirectUris: settings.redirectUris ?? [], origins: settings.origins ?? [],
            audiences: settings.audiences, scopes: settings.scopes, consent: settings.consent,
            secrets: secrets.isEmpty ? nil : secrets.map(\.answer), createdAt: createdAt, updatedAt: updatedAt)
    }

    /// The settings as stored: the parameters of `application.put`.
    package var stored: JSONObject {
        func list(_ values: [String]?) -> JSONValue? { values.map { .array($0.map { .string($0) }) } }
        var object: JSONObject = [
            "tenantId": .string(tenantId), "clientId": .string(clientId), "type": .string(settings.type.rawValue),
            "nativeAuthentication": .bool(settings.nativeAuthentication),
        ]
        object["name"] = settings.name.map { .string($0) }
        object["redirectUris"] = list(settings.redirectUris)
        object["origins"] = list(settings.origins)
        object["audiences"] = list(settings.audiences)
        object["scopes"] = list(settings.scopes)
        object["consent"] = list(settings.consent)
        return object
    }
}

/// The application that a flow or a session belongs to.
package struct ApplicationName: Sendable, Equatable {
    let id: String
    package let clientId: String
}

extension ApplicationRecord {
    /// The name that flows and sessions store; `nil` for the default application.
    var name: ApplicationName? { isDefault ? nil : ApplicationName(id: id, clientId: clientId) }
}

extension TenantRecord {
    /// Returns an application. The default application always exists.
    package func application(_ clientId: String?) -> ApplicationRecord? {
        guard let clientId else { return applications[id] ?? .standard(of: id) }
        return applications[clientId] ?? (clientId == id ? .standard(of: id) : nil)
    }

    /// Returns the application of a flow or a session; `nil` if it was deleted.
    func application(named name: ApplicationName?) -> ApplicationRecord? {
        guard let name else { return application(nil) }
        return applications[name.clientId].flatMap { $0.id == name.id ? $0 : nil }
    }

    /// Returns the application in which a user signs in.
    ///
    /// - Throws: `ClientUnknown`.
    package func knownApplication(_ clientId: String?) throws -> ApplicationRecord {
        guard let application = application(clientId) else { throw ClientUnknown(tenantId: id, clientId: clientId ?? id) }
        return application
    }

    /// Returns the application that starts a flow in its own user interface.
    ///
    /// - Parameter isAuthenticated: Whether the caller has verified the secret of the application, so that it can be confidential.
    /// - Throws: `ClientUnknown`, `ClientNotPermitted`.
    package func nativeApplication(_ clientId: String?, isAuthenticated: Bool = false) throws -> ApplicationRecord {
        let application = try knownApplication(clientId)
        if application.settings.type == .confidential, !isAuthenticated {
            throw ClientNotPermitted(clientId: application.clientId, cause: .confidential, reason: "it is confidential")
        }
        if !application.settings.nativeAuthentication {
            throw ClientNotPermitted(
                clientId: application.clientId, cause: .nativeAuthenticationDisabled, reason: "native authentication is disabled for it")
        }
        return application
    }
}

extension TenantRecord {
    /// Returns whether pages of an origin can use an application, or any application of the tenant if the client ID is `nil`.
    ///
    /// - Parameter isTesting: Whether an application that lists no origins allows all.
    package func allows(origin: String, clientId: String?, isTesting: Bool) -> Bool {
        let candidates =
            clientId.map { [application($0)].compactMap { $0 } } ?? Array(applications.values) + [application(nil)].compactMap { $0 }
        return candidates.contains { candidate in
            let origins = candidate.settings.origins ?? []
            return origins.isEmpty ? isTesting : origins.contains(origin)
        }
    }
}
