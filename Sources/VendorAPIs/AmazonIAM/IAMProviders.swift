import Contract
import IdentityPools
import JSON

/// The operations for OpenID Connect providers, which are trusted issuers.
extension IAMProtocol {
    static let providerOperations: [String: Operation] = [
        "CreateOpenIDConnectProvider": { try $0.createProvider() },
        "GetOpenIDConnectProvider": { try $0.getProvider() },
        "ListOpenIDConnectProviders": { try $0.listProviders() },
        "DeleteOpenIDConnectProvider": { try $0.deleteProvider() },
        "AddClientIDToOpenIDConnectProvider": { try $0.addClient() },
        "RemoveClientIDFromOpenIDConnectProvider": { call in
            let client = try call.required("ClientID", 1...255)
            return try call.updateProvider { $0.audiences.removeAll { $0 == client } }
        },
        "UpdateOpenIDConnectProviderThumbprint": { call in
            let thumbprints = try call.thumbprints()
            return try call.updateProvider { $0.thumbprints = thumbprints }
        },
        "TagOpenIDConnectProvider": { call in
            let tags = try call.tags() ?? [:]
            return try call.updateProvider { $0.tags = try checked(($0.tags ?? [:]).adding(tags)) }
        },
        "UntagOpenIDConnectProvider": { call in
            let keys = call.list("TagKeys")
            return try call.updateProvider { $0.tags = ($0.tags ?? [:]).removing(keys) }
        },
        "ListOpenIDConnectProviderTags": { call in [tags(try call.provider().tags), complete] },
    ]

    private func provider() throws -> TrustedIssuer {
        try service.meetFault(of: IssuerGet.self, context)
        return try service.issuer.get(IssuerGet.Params(selector: .arn(try required("OpenIDConnectProviderArn", 20...2048))), context)
    }

    private func updateProvider(_ change: (inout TrustedIssuerDeclaration) throws -> Void) throws -> [XMLElement]? {
        let arn = try required("OpenIDConnectProviderArn", 20...2048)
        try service.meetFault(of: IssuerPut.self, context)
        try service.issuer.update(arn: arn, context, change)
        return nil
    }

    private static let tooManyClients = WireError(
        "LimitExceeded", "Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: 100", status: 409)

    private func addClient() throws -> [XMLElement]? {
        let client = try required("ClientID", 1...255)
        return try updateProvider { settings in
            guard !settings.audiences.contains(client) else { return }
            guard settings.audiences.count < 100 else { throw Self.tooManyClients }
            settings.audiences.append(client)
        }
    }

    private func thumbprints() throws -> [String] {
        let given = list("ThumbprintList")
        guard given.count <= 5 else { throw WireError("InvalidInput", "Thumbprint list must contain at most 5 entries.") }
        for print in given where print.count != 40 || !print.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            throw WireError("InvalidInput", "Thumbprint must be a 40-character hexadecimal string.")
        }
        return given
    }

    private func createProvider() throws -> [XMLElement]? {
        let url = try required("Url", 1...255)
        let isPlain = url.hasPrefix("http://") && service.context.foreign.allowsPlainLoopback
        guard url.hasPrefix("https://") || isPlain else { throw WireError("InvalidInput", "Invalid Open ID Connect Provider URL") }
        var clients: [String] = []
        for client in list("ClientIDList") where !clients.contains(client) { clients.append(client) }
        guard clients.count <= 100 else { throw Self.tooManyClients }
        guard clients.allSatisfy({ 1...255 ~= $0.unicodeScalars.count }) else {
            throw WireError("ValidationError", "A client ID must have 1 to 255 characters.")
        }
        let tags = try tags().map { try Self.checked($0) }
        try service.meetFault(of: IssuerPut.self, context)
        let settings = TrustedIssuerDeclaration(
            source: .issuer(url), audiences: clients, allowInsecure: isPlain, thumbprints: try thumbprints(), tags: tags)
        guard let record = try service.issuer.create(settings, context) else {
            throw WireError("EntityAlreadyExists", "Provider with url \(url) already exists.", status: 409)
        }
        let arn = XMLElement("OpenIDConnectProviderArn", service.context.realm.arn(ofOpenIDProvider: record.name))
        return [arn] + (tags.map { [Self.tags($0)] } ?? [])
    }

    private func getProvider() throws -> [XMLElement]? {
        let issuer = try provider()
        return [
            XMLElement("Url", issuer.name), Self.list("ClientIDList", issuer.audiences), Self.list("ThumbprintList", issuer.thumbprints),
            XMLElement("CreateDate", PolicyDate.text(issuer.createdAt)), Self.tags(issuer.tags),
        ]
    }

    private func listProviders() throws -> [XMLElement]? {
        try service.meetFault(of: IssuerList.self, context)
        let all = try service.issuer.list(IssuerList.Params(limit: Int64(TrustedIssuerRecord.maximumCount)), context).issuers
        return [XMLElement("OpenIDConnectProviderList", all.map { XMLElement("member", [XMLElement("Arn", $0.arn)]) })]
    }

    /// Deleting a provider that does not exist succeeds, as in IAM.
    private func deleteProvider() throws -> [XMLElement]? {
        let arn = try required("OpenIDConnectProviderArn", 20...2048)
        try service.meetFault(of: IssuerDelete.self, context)
        do { _ = try service.issuer.delete(IssuerDelete.Params(selector: .arn(arn)), context) } catch is TrustedIssuerNotFound {}
        return nil
    }
}
