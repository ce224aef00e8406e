import Contract
import IdentityPools
import ServiceContext

/// The signature of an operation that requires AWS credentials.
///
/// Mintmark has no AWS accounts, and every caller of these operations has full access. A signature for the service must therefore be
/// present, as AWS SDKs send it, but its secret is not verified. Credentials that were issued here belong to end users, who are not allowed
/// to call these operations even with a valid signature.
struct CallerSignature {
    let service: AmazonServices
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
            return  // The credentials were not issued here: they are the developer's own, from AWS.
        } catch is CredentialsExpired {
            throw WireError("ExpiredTokenException", "The security token included in the request is expired")
        }
        throw WireError("AccessDeniedException", "User: \(arn(of: holder)) is not authorized to perform: \(name):\(operation)")
    }

    /// Returns the contents of the signature.
    ///
    /// - Throws: `WireError` if the signature is missing, malformed or for another service.
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
        let realm = service.context.realm
        return realm.arn(ofSession: holder.sessionName, role: realm.roleName(of: holder.roleArn) ?? "")
    }
}
