import Contract

extension SignUpService {
    /// Accepts user attributes, all together or page by page.
    ///
    /// - Throws: `InvalidAttributes`, `UserAlreadyExists`, `SignUpNotAllowed`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func submitAttributes(
        _ request: SignUpSubmitAttributes.Params, _ call: any CallContext
    ) throws -> SignUpSubmitAttributes.Result {
        let step = try flows.step(
            of: [.signUp], token: request.continuationToken, by: SignUpSubmitAttributes.info.name,
            with: [.object(request.attributes)], from: request.client
        ).named(request.clientId)
        return try take(step, call) { _, flow, tenant in
            // Ignore attributes that an earlier response requested but the tenant no longer accepts.
            let isStale = flow.stage == .attributesRequired && AttributeRules.missing(tenant.attributes, in: flow.attributes).isEmpty
            let given = isStale ? tenant.stillFitting(request.attributes) : try tenant.accept(request.attributes)
            return (.attributes(given), nil)
        }
    }
}
