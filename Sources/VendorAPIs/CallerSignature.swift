import Contract
import IdentityPools
import ServiceContext

/// The signature of an operation that only an account's own credentials may call (cognito.md 2.1).
///
/// There are no accounts here, and whoever can send requests may do everything: a signature must be there and be for the service,
/// as its clients are used to, and its secret is not looked at. Credentials that were issued here belong to end users, who may never
/// call these operations (cognito.md 3.6, rule 6), however well they sign.
struct CallerSignature {
    let service: CompatService
    let request: WireRequest
    let context: any CallContext

    /// - Throws: `WireError`.
    func demand(for name: String, operation: String) throws {
        _ = try claim(for: name)
        guard let token = request.header("x-amz-security-token") ?? request.parameter("X-Amz-Security-Token") else { return }
        let holder: Principal
        do {
            holder = try service.credentials.verify(CredentialsVerify.Params(proof: .sessionToken(token)), context).principal
        } catch is SessionTokenInvalid {
            return  // somebody else's: a developer's own, from Amazon
        } catch is CredentialsExpired {
            throw WireError("ExpiredTokenException", "The security token included in the request is expired")
        }
        throw WireError("AccessDeniedException", "User: \(arn(of: holder)) is not authorized to perform: \(name):\(operation)")
    }

    /// What the signature says of itself.
    ///
    /// - Throws: `WireError` if there is none, if it cannot be read, and if it is for another service.
    func claim(for name: String) throws -> SignatureClaim {
        if SignatureClaim.isVersion2(query: request.parameters) {
            throw WireError("IncompleteSignatureException", "The signature cannot be read: \(SignatureV4Failure.version2Reason).")
        }
        let isInQuery = request.parameter("X-Amz-Algorithm") != nil
        guard isInQuery || request.header("authorization") != nil else {
            throw WireError("MissingAuthenticationTokenException", "Missing Authentication Token")
        }
        do {
            let claim = try isInQuery ? SignatureClaim(query: RequestURL(request.url).parameters) : SignatureClaim(headers: request.headers)
            guard claim.scope.service == name else {
                throw WireError("InvalidSignatureException", "Credential should be scoped to correct service: '\(name)'.")
            }
            return claim
        } catch SignatureV4Failure.malformed(let reason) {
            throw WireError("IncompleteSignatureException", "The signature is not valid: \(reason).")
        }
    }

    func arn(of holder: Principal) -> String {
        let realm = service.surroundings.realm
        return realm.arn(ofSession: holder.sessionName, role: realm.roleName(of: holder.roleArn) ?? "")
    }
}
