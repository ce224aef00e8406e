import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// Sign-in with a phone number. No message is sent: the codes are read at the emulator's address.
extension FirebaseCall {
    static let messages = "sms"
    static let proofs = "proof"

    /// The lifetime of a code by SMS, in seconds.
    private static let codeLifetime: Int64 = 300
    private static let proofLifetime: Int64 = 3600

    /// Returns a valid number, or fails also if it is missing.
    func number(_ text: String?) throws -> String {
        guard let text, let number = try? PhoneNumber.checked(text) else { throw FirebaseError("INVALID_PHONE_NUMBER : Invalid format.") }
        return number
    }

    /// Stores a new code for a number and returns the session that it belongs to.
    func issueMessage(to number: String) throws -> String {
        let fixed = try switches().testNumbers[number]
        if fixed == nil { try requireNoMessage("Sending codes by SMS") }
        let session = Base64URL.encode(context.random.bytes(48))
        let digits = fixed ?? context.random.bytes(6).map { String($0 % 10) }.joined()
        let message: JSONObject = [
            "phoneNumber": .string(number), "sessionInfo": .string(session), "code": .string(digits),
            "expiresAt": .number(JSONNumber(now + Self.codeLifetime)),
        ]
        try context.database.write { try $0.setVendorRecord(tenantId, Self.messages, session, value: message) }
        return session
    }

    /// Returns the number of a code. A wrong code leaves the session as it is; the right one ends it.
    func redeemMessage(_ session: String?, _ code: String?) throws -> String {
        guard let session, !session.isEmpty else { throw FirebaseError("MISSING_SESSION_INFO") }
        guard let code, !code.isEmpty else { throw FirebaseError("MISSING_CODE") }
        guard let message = try stored(Self.messages, session) else { throw FirebaseError("INVALID_SESSION_INFO") }
        if (message["expiresAt"]?.int ?? 0) <= now { throw FirebaseError("SESSION_EXPIRED") }
        guard message["code"]?.string == code else { throw FirebaseError("INVALID_CODE") }
        let isUnused = try context.database.write { try $0.deleteVendorRecord(tenantId, Self.messages, session) }
        guard isUnused, let number = message["phoneNumber"]?.string else { throw FirebaseError("INVALID_SESSION_INFO") }
        return number
    }

    private func requirePhoneSignIn() throws {
        _ = try tenantRecord()
        if try firebaseTenant == nil && !switches().allowsPhone { throw FirebaseError("OPERATION_NOT_ALLOWED") }
        if firebaseTenant != nil { throw FirebaseError("UNSUPPORTED_TENANT_OPERATION") }
    }

    private func owner(of number: String) throws -> AccountRecord? {
        try context.database.read { try $0.account(withPhoneNumber: number, in: tenantId) }
    }

    private func requireNoFactors(_ account: AccountRecord) throws {
        let factors = try context.database.read { try $0.factors(of: account.id) }
        if !factors.isEmpty {
            throw FirebaseError("UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA user.")
        }
    }

    func sendVerificationCode() throws -> JSONObject {
        try requirePhoneSignIn()
        let number = try number(body.text("phoneNumber"))
        if let owner = try owner(of: number) { try requireNoFactors(owner) }
        return ["sessionInfo": .string(try issueMessage(to: number))]
    }

    func signInWithPhoneNumber() throws -> JSONObject {
        try requirePhoneSignIn()
        let number: String
        let hasProof = body.has("temporaryProof")
        if hasProof {
            guard let given = try body.filled("phoneNumber") else { throw FirebaseError("MISSING_PHONE_NUMBER") }
            let proof = try stored(Self.proofs, try body.filled("temporaryProof") ?? "")
            guard proof?["phoneNumber"]?.string == given, (proof?["expiresAt"]?.int ?? 0) > now else {
                throw FirebaseError("INVALID_TEMPORARY_PROOF")
            }
            number = given
        } else {
            number = try redeemMessage(body.filled("sessionInfo"), body.filled("code"))
        }
        let caller = try body.has("idToken") ? user() : nil
        let owner = try owner(of: number)
        if let caller, let owner, owner.id != caller.account.id {
            if hasProof { throw FirebaseError("PHONE_NUMBER_EXISTS") }
            return try temporaryProof(for: number)
        }
        if let account = caller?.account ?? owner {
            if account.isDisabled { throw FirebaseError("USER_DISABLED") }
            try requireNoFactors(account)
        }
        let operation = try body.filled("operation")
        if caller == nil, owner == nil, operation == "REAUTH" || operation == "3" { throw FirebaseError("USER_NOT_FOUND") }
        let id: String
        if let caller {
            var change = AccountUpdate.Params(accountId: caller.account.id)
            change.phoneNumber = number
            _ = try service.account.update(change, by: Self.method, call)
            id = caller.account.id
        } else if let owner {
            id = owner.id
        } else {
            try requireSignUp()
            var new = NewAccount(tenantId: tenantId)
            (new.accountId, new.phoneNumber, new.provider) = (newId(), number, "phone")
            id = try service.account.create(new, by: Self.method, call).account.id
        }
        var answer = try startSession(id, SignInProof(amr: ["sms"], provider: "phone"))
        answer["phoneNumber"] = .string(number)
        answer["isNewUser"] = .bool(caller == nil && owner == nil)
        return answer
    }

    /// The answer for a number of another user: a proof with which its user can be signed in.
    private func temporaryProof(for number: String) throws -> JSONObject {
        let proof = Base64URL.encode(context.random.bytes(48))
        let record: JSONObject = [
            "phoneNumber": .string(number), "expiresAt": .number(JSONNumber(now + Self.proofLifetime)),
        ]
        try context.database.write { try $0.setVendorRecord(tenantId, Self.proofs, proof, value: record) }
        return [
            "temporaryProof": .string(proof), "temporaryProofExpiresIn": .string("\(Self.proofLifetime)"), "phoneNumber": .string(number),
        ]
    }
}
