import Contract
import JSON

extension TrustedIssuerDeclaration {
    /// The declaration with the members of a call of `issuer.put`.
    init(_ request: IssuerPut.Params) {
        let source: Source =
            switch request.source {
            case .issuer(let issuer): .issuer(issuer)
            case .tenantId(let id): .tenantId(id)
            }
        self.init(
            source: source, audiences: request.audiences, authorizedParties: request.authorizedParties, keys: request.keys,
            jwksUri: request.jwksUri, algorithms: request.algorithms?.compactMap { Algorithms(rawValue: $0.rawValue) },
            types: request.types, claims: request.claims, maxLifetimeSeconds: request.maxLifetimeSeconds,
            maxAgeSeconds: request.maxAgeSeconds, singleUse: request.singleUse, allowInsecure: request.allowInsecure,
            allowPrivateNetwork: request.allowPrivateNetwork, uses: request.uses?.compactMap { Uses(rawValue: $0.rawValue) },
            thumbprints: request.thumbprints, tags: request.tags)
    }

    /// The declaration in stored form, which is also its form in a document for `system.apply`. Omitted members stay omitted.
    package var json: JSONObject {
        func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
        var object = JSONObject()
        switch source {
        case .issuer(let issuer): object["issuer"] = .string(issuer)
        case .tenantId(let id): object["tenantId"] = .string(id)
        }
        object["audiences"] = list(audiences)
        object["authorizedParties"] = authorizedParties.map(list)
        object["keys"] = keys.map { .array($0.map { .object($0) }) }
        object["jwksUri"] = jwksUri.map { .string($0) }
        object["algorithms"] = algorithms.map { list($0.map(\.rawValue)) }
        object["types"] = types.map(list)
        if let claims, !claims.isEmpty {
            var limits = JSONObject()
            for claim in claims { limits[claim.name] = list(claim.value) }
            object["claims"] = .object(limits)
        }
        object["maxLifetimeSeconds"] = .number(JSONNumber(maxLifetimeSeconds))
        object["maxAgeSeconds"] = maxAgeSeconds.map { .number(JSONNumber($0)) }
        if singleUse { object["singleUse"] = true }
        if allowInsecure { object["allowInsecure"] = true }
        if allowPrivateNetwork { object["allowPrivateNetwork"] = true }
        object["uses"] = uses.map { list($0.map(\.rawValue)) }
        if let thumbprints, !thumbprints.isEmpty { object["thumbprints"] = list(thumbprints) }
        if let tags, !tags.isEmpty { object["tags"] = .object(tags.object) }
        return object
    }
}
