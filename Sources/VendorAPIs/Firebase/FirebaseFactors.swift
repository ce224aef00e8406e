import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// Second factors: by SMS, and in `FirebaseTotp.swift` by an authenticator app.
extension FirebaseCall {
    private static let pendings = "mfa"

    /// The lifetime of a sign-in that waits for its second factor, in seconds.
    private static let pendingLifetime: Int64 = 600

    /// The sign-in providers after which a second factor is not possible.
    private static let exempt: Set<String> = ["phone", "anonymous", "custom", "gc.apple.com"]

    func factorCall(_ name: String) throws -> JSONObject? {
        switch name {
        case "accounts/mfaEnrollment:start": return try startEnrollment()
        case "accounts/mfaEnrollment:finalize": return try finishEnrollment()
        case "accounts/mfaEnrollment:withdraw": return try withdraw()
        case "accounts/mfaSignIn:start": return try startFactorSignIn()
        case "accounts/mfaSignIn:finalize": return try finishFactorSignIn()
        default: return nil
        }
    }

    /// Stores a sign-in that waits for its second factor and returns its credential.
    ///
    /// - Parameter identity: The identity to link after the second factor was verified.
    func remember(pending id: String, provider: String, linking identity: FirebaseIdentity? = nil) throws -> String {
        let credential = Base64URL.encode(context.random.bytes(48))
        var record: JSONObject = [
            "localId": .string(id), "provider": .string(provider), "expiresAt": .number(JSONNumber(now + Self.pendingLifetime)),
        ]
        record["identity"] = identity.map { .object($0.object) }
        try context.database.write { try $0.setVendorRecord(tenantId, Self.pendings, credential, value: record) }
        return credential
    }

    /// Whether a sign-in of the user needs a second factor.
    func needsFactor(_ facts: AccountFacts) throws -> Bool {
        try !facts.factors.isEmpty && tenantRecord().mfa != .off
    }

    private func enrolling() throws -> FirebaseUser {
        try requireFactors(.any)
        let user = try user()
        let provider = user.claims["firebase"]?.object?["sign_in_provider"]?.string ?? ""
        if Self.exempt.contains(provider) {
            throw FirebaseError("UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor.")
        }
        if !user.account.isEmailVerified {
            throw FirebaseError("UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.")
        }
        return user
    }

    private func requireNew(_ number: String, for user: FirebaseUser) throws {
        if user.facts.factors.contains(where: { $0.target == number }) {
            throw FirebaseError("SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account.")
        }
        if user.facts.factors.count >= 5 { throw FirebaseError("SECOND_FACTOR_LIMIT_EXCEEDED") }
    }

    private func startEnrollment() throws -> JSONObject {
        let user = try enrolling()
        if body.has("totpEnrollmentInfo") { return try startAppEnrollment(user) }
        try requireFactors(.sms)
        guard let info = try body.object("phoneEnrollmentInfo") else {
            throw FirebaseError("INVALID_ARGUMENT : ((Missing phoneEnrollmentInfo.))")
        }
        try requireRecent(user)
        let number = try number(info.text("phoneNumber"))
        try requireNew(number, for: user)
        return ["phoneSessionInfo": ["sessionInfo": .string(try issueMessage(to: number, for: .verifyNumber))]]
    }

    private func finishEnrollment() throws -> JSONObject {
        let user = try enrolling()
        let factor = try body.object("totpVerificationInfo").map { try finishAppEnrollment(user, $0) } ?? finishNumberEnrollment(user)
        try setFactors(user.facts.factors + [factor], of: user.account.id)
        // All other sessions end: they have not shown the factor.
        var change = AccountUpdate.Params(accountId: user.account.id)
        change.tokensValidSince = now
        _ = try service.account.update(change, by: Self.method, call)
        try issueRevert(of: factor, for: user.account)
        return try tokens(user, factor: factor)
    }

    private func finishNumberEnrollment(_ user: FirebaseUser) throws -> FactorRecord {
        try requireFactors(.sms)
        guard let info = try body.object("phoneVerificationInfo") else {
            throw FirebaseError("INVALID_ARGUMENT : ((Missing phoneVerificationInfo.))")
        }
        let number = try redeemMessage(info.filled("sessionInfo"), info.filled("code"))
        try requireNew(number, for: user)
        return FactorRecord(
            id: newId(), accountId: user.account.id, kind: .sms, displayName: try body.filled("displayName"), target: number,
            enrolledAt: now)
    }

    private func tokens(_ user: FirebaseUser, factor: FactorRecord?) throws -> JSONObject {
        var proof = continued(user, provider: user.provider)
        proof.secondFactor = factor.map { VerifiedFactor(kind: $0.kind.rawValue, factorId: $0.id) }
        let session = try startSession(user.account.id, proof, asksHooks: false)
        var answer = JSONObject()
        for name in ["idToken", "refreshToken"] { answer[name] = session[name] }
        answer["phoneAuthInfo"] = factor?.target.map { ["phoneNumber": .string($0)] }
        if factor?.kind == .totp { answer["totpAuthInfo"] = [:] }
        return answer
    }

    private func withdraw() throws -> JSONObject {
        try requireFactors(.any)
        let user = try user()
        try requireRecent(user)
        guard let id = try body.filled("mfaEnrollmentId") else { throw FirebaseError("MISSING_MFA_ENROLLMENT_ID") }
        guard user.facts.factors.contains(where: { $0.id == id }) else { throw FirebaseError("MFA_ENROLLMENT_NOT_FOUND") }
        try requireNotLast(user.facts.factors)
        try setFactors(user.facts.factors.filter { $0.id != id }, of: user.account.id)
        return try tokens(user, factor: nil)
    }

    /// Returns the sign-in that waits for its second factor.
    private func pendingSignIn(missing: String) throws -> PendingFirebaseSignIn {
        guard let credential = try body.filled("mfaPendingCredential") else { throw FirebaseError(missing) }
        guard let record = try stored(Self.pendings, credential), (record["expiresAt"]?.int ?? 0) > now,
            let facts = try facts(record["localId"]?.string ?? "")
        else { throw FirebaseError("INVALID_MFA_PENDING_CREDENTIAL : Invalid pending credential.") }
        return PendingFirebaseSignIn(
            credential: credential, facts: facts, provider: record["provider"]?.string ?? "password",
            identity: record["identity"]?.object.flatMap(FirebaseIdentity.init))
    }

    private func verifiedNumber(_ facts: AccountFacts) throws -> FactorRecord {
        try requireFactors(.sms)
        guard let info = try body.object("phoneVerificationInfo") else {
            throw FirebaseError("INVALID_ARGUMENT : MFA provider not supported!")
        }
        let number = try redeemMessage(info.filled("sessionInfo"), info.filled("code"))
        guard let factor = facts.factors.first(where: { $0.target == number }) else { throw FirebaseError("MFA_ENROLLMENT_NOT_FOUND") }
        return factor
    }

    private func startFactorSignIn() throws -> JSONObject {
        try requireFactors(.sms)
        let pending = try pendingSignIn(missing: "MISSING_MFA_PENDING_CREDENTIAL : Request does not have MFA pending credential.")
        guard let id = try body.filled("mfaEnrollmentId") else {
            throw FirebaseError("MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided.")
        }
        guard let factor = pending.facts.factors.first(where: { $0.id == id }) else { throw FirebaseError("MFA_ENROLLMENT_NOT_FOUND") }
        guard factor.kind == .sms, let number = factor.target else {
            throw FirebaseError("INVALID_ARGUMENT : MFA provider not supported!")
        }
        return ["phoneResponseInfo": ["sessionInfo": .string(try issueMessage(to: number, for: .secondFactor))]]
    }

    private func finishFactorSignIn() throws -> JSONObject {
        try requireFactors(.any)
        let pending = try pendingSignIn(missing: "MISSING_CREDENTIAL : Please set MFA Pending Credential.")
        let factor = try body.object("totpVerificationInfo").map { try verifiedApp(pending.facts, $0) } ?? verifiedNumber(pending.facts)
        if pending.facts.account.isDisabled { throw FirebaseError("USER_DISABLED") }
        try context.database.write { _ = try $0.deleteVendorRecord(tenantId, Self.pendings, pending.credential) }
        if let identity = pending.identity { try linkAfterFactor(identity, to: pending.facts.account) }
        let proof = SignInProof(
            amr: ["mfa"], provider: pending.provider, secondFactor: VerifiedFactor(kind: factor.kind.rawValue, factorId: factor.id))
        let session = try startSession(pending.facts.account.id, proof)
        return ["idToken": session["idToken"] ?? .null, "refreshToken": session["refreshToken"] ?? .null]
    }
}

/// A sign-in that waits for its second factor.
private struct PendingFirebaseSignIn {
    let credential: String
    let facts: AccountFacts
    let provider: String
    /// The identity to link after the second factor was verified.
    let identity: FirebaseIdentity?
}
