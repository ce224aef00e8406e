import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// Sign-in with a phone number.
extension FirebaseCall {
    static let proofs = "proof"

    private static let proofLifetime: Int64 = 3600

    /// Returns a valid number, or fails also if it is missing.
    func number(_ text: String?) throws -> String {
        guard let text, let number = try? PhoneNumber.checked(text) else { throw FirebaseError("INVALID_PHONE_NUMBER : Invalid format.") }
        return number
    }

    private func requirePhoneSignIn() throws {
        _ = try tenantRecord()
        if try firebaseTenant == nil && !switches().allowsPhone { throw FirebaseError("OPERATION_NOT_ALLOWED") }
        if firebaseTenant != nil { throw FirebaseError("UNSUPPORTED_TENANT_OPERATION") }
        // A tenant that also has users of its own decides whether phone numbers sign in.
        if !endpoint.isTest, try tenantRecord().settings.phoneSignIn == .off {
            throw FirebaseError("OPERATION_NOT_ALLOWED : To allow sign-ins with phone numbers, set phoneSignIn with tenant.update.")
        }
    }

    private func requirePhoneSignUp() throws {
        try requireSignUp()
        if !endpoint.isTest, try tenantRecord().settings.phoneSignIn != .everyone { throw FirebaseError("ADMIN_ONLY_OPERATION") }
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
        return ["sessionInfo": .string(try issueMessage(to: number, for: .signIn))]
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
        // A number that the user has already proves the user again. One that is added now does not.
        let fresh = SignInProof(amr: ["sms"], provider: "phone")
        let proof = caller.map { owner == nil ? continued($0, amr: fresh.amr, provider: fresh.provider) : fresh } ?? fresh
        try requireFactor(of: caller?.facts ?? owner.flatMap { try facts($0.id) }, after: proof)
        let operation = try body.choice("operation", of: FirebaseEnumeration.operation)
        if caller == nil, owner == nil, operation == "REAUTH" { throw FirebaseError("USER_NOT_FOUND") }
        let id: String
        if let caller {
            var change = AccountUpdate.Params(accountId: caller.account.id)
            change.phoneNumber = number
            _ = try service.account.update(change, by: Self.method, call)
            id = caller.account.id
        } else if let owner {
            id = owner.id
        } else {
            try requirePhoneSignUp()
            var new = NewAccount(tenantId: tenantId)
            (new.accountId, new.phoneNumber, new.provider) = (newId(), number, "phone")
            id = try service.account.create(new, by: Self.method, call).account.id
        }
        var answer = try startSession(id, proof)
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
