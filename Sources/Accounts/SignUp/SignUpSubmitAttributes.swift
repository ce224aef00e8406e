import Contract

extension SignUpService {
    /// Takes attributes: all of them, or a page of them.
    ///
    /// - Throws: `InvalidAttributes`, `UserAlreadyExists`, `SignUpNotAllowed`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    /// - Source: native-auth.md 2.1, continue(attributes); 6.13, 6.14.
    public func submitAttributes(
        _ request: SignUpSubmitAttributes.Params, _ call: any CallContext
    ) throws -> SignUpSubmitAttributes.Result {
        _ = try flows.admit(request.client, token: request.continuationToken, at: surroundings.clock.now)
        let (token, name) = (request.continuationToken, SignUpSubmitAttributes.info.name)
        let fingerprint = flows.fingerprint(name, [.string(token), .object(request.attributes)])
        return try advance(token, request: fingerprint, name, call) { _, flow, tenant in
            // What an earlier answer asked for, and the tenant does not any more, is no mistake of whoever gives it.
            let isStale = flow.stage == .attributesRequired && AttributeRules.missing(tenant.attributes, in: flow.attributes).isEmpty
            let given = isStale ? tenant.stillFitting(request.attributes) : try tenant.accept(request.attributes)
            return (.attributes(given), nil)
        }
    }
}
