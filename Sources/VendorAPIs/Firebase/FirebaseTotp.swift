import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// Second factors by an authenticator app.
extension FirebaseCall {
    private static let enrollments = "totp"

    /// The time in which an enrollment must be finished, in seconds.
    private static let enrollmentLifetime: Int64 = 300

    func startAppEnrollment(_ user: FirebaseUser) throws -> JSONObject {
        try requireFactors(.totp)
        try requireRecent(user)
        if user.facts.factors.count >= 5 { throw FirebaseError("SECOND_FACTOR_LIMIT_EXCEEDED") }
        let app = AuthenticatorApp(from: context.random)
        let session = Base64URL.encode(context.random.bytes(48))
        let record: JSONObject = [
            "localId": .string(user.account.id), "secret": .string(Base64URL.encode(app.sealed(session: session, context))),
            "expiresAt": .number(JSONNumber(now + Self.enrollmentLifetime)),
        ]
        try context.database.write { try $0.setVendorRecord(tenantId, Self.enrollments, session, value: record) }
        return [
            "totpSessionInfo": [
                "sharedSecretKey": .string(app.text), "verificationCodeLength": .number(JSONNumber(Int64(AuthenticatorApp.digits))),
                "hashingAlgorithm": .string(AuthenticatorApp.algorithm),
                "periodSec": .number(JSONNumber(AuthenticatorApp.periodSeconds)), "sessionInfo": .string(session),
                "finalizeEnrollmentTime": .string(Self.rfc3339(now + Self.enrollmentLifetime)),
            ]
        ]
    }

    /// Returns the factor of an enrollment. A wrong code leaves the enrollment as it is.
    func finishAppEnrollment(_ user: FirebaseUser, _ info: FirebaseInput) throws -> FactorRecord {
        try requireFactors(.totp)
        guard let session = try info.filled("sessionInfo") else { throw FirebaseError("MISSING_SESSION_INFO") }
        guard let code = try info.filled("verificationCode") else { throw FirebaseError("MISSING_CODE") }
        guard let record = try stored(Self.enrollments, session), record["localId"]?.string == user.account.id,
            let sealed = record["secret"]?.string.flatMap({ Base64URL.decode($0) })
        else { throw FirebaseError("INVALID_SESSION_INFO") }
        if (record["expiresAt"]?.int ?? 0) <= now { throw FirebaseError("SESSION_EXPIRED") }
        if user.facts.factors.count >= 5 { throw FirebaseError("SECOND_FACTOR_LIMIT_EXCEEDED") }
        let app = try AuthenticatorApp(sealed, session: session, context)
        let drift = try tenantRecord().settings.totpAdjacentIntervals
        let (id, now) = (newId(), self.now)
        let displayName = try body.filled("displayName")
        guard let step = app.step(of: code, drift: drift, at: now) else { throw FirebaseError("INVALID_CODE") }
        var factor = app.factor(id, of: user.account.id, step: step, at: now, context)
        factor.displayName = displayName
        let isUnused = try context.database.write { try $0.deleteVendorRecord(tenantId, Self.enrollments, session) }
        if !isUnused { throw FirebaseError("INVALID_SESSION_INFO") }
        return factor
    }

    /// Returns the factor of a sign-in whose code is right.
    func verifiedApp(_ facts: AccountFacts, _ info: FirebaseInput) throws -> FactorRecord {
        try requireFactors(.totp)
        guard let id = try body.filled("mfaEnrollmentId") else {
            throw FirebaseError("MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided.")
        }
        guard let code = try info.filled("verificationCode") else { throw FirebaseError("MISSING_CODE") }
        guard let factor = facts.factors.first(where: { $0.id == id }) else { throw FirebaseError("MFA_ENROLLMENT_NOT_FOUND") }
        guard factor.kind == .totp else { throw FirebaseError("INVALID_ARGUMENT : MFA provider not supported!") }
        guard try AuthenticatorApp.accepts(code, factor, of: tenantRecord(), context) else { throw FirebaseError("INVALID_CODE") }
        return factor
    }
}
