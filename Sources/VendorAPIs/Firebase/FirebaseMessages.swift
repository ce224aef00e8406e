import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// Codes by SMS. At the address of a test, no message is sent: the codes are read at the emulator's address.
extension FirebaseCall {
    static let messages = "sms"

    /// The lifetime of a code by SMS, in seconds.
    private static let codeLifetime: Int64 = 300

    /// The origin of the request, for rate limits. A test has none.
    var client: ClientOrigin? { endpoint.isTest ? nil : request.forwardedAddress }

    /// The messages of this request.
    func outgoing() throws -> ProductMessages {
        var messages = try ProductMessages(context, tenantRecord(), from: client, call)
        messages.language = request.header("x-firebase-locale").flatMap { $0.utf8.count <= 35 && !$0.isEmpty ? $0 : nil }
        messages.sends = !endpoint.isTest
        return messages
    }

    /// Stores a new code for a number, sends it, and returns the session that it belongs to.
    func issueMessage(to number: String, for purpose: ProductMessages.CodePurpose) throws -> String {
        let fixed = try switches().testNumbers[number]
        let messages = try outgoing()
        // Test numbers receive no message.
        if fixed == nil { try requireRegion(of: number) }
        if fixed == nil { try messages.admit(codeTo: number, for: purpose) }
        let session = Base64URL.encode(context.random.bytes(48))
        let digits = fixed ?? context.random.decimalDigits(6)
        var message: JSONObject = [
            "phoneNumber": .string(number), "sessionInfo": .string(session),
            "expiresAt": .number(JSONNumber(now + Self.codeLifetime)),
        ]
        if endpoint.isTest {
            message["code"] = .string(digits)
        } else {
            message["sealed"] = .string(Base64URL.encode(context.vault.seal(SecretBytes(Array(digits.utf8)), as: Self.sealName(session))))
        }
        if fixed == nil { try messages.send(digits, to: number, for: purpose, lifetimeSeconds: Self.codeLifetime) }
        let made = message
        try context.database.write { tx in
            try tx.deleteExpiredVendorRecords(tenantId, Self.messages, at: now)
            try tx.setVendorRecord(tenantId, Self.messages, session, value: made)
        }
        return session
    }

    private static func sealName(_ session: String) -> String { "firebase code \(session)" }

    /// Returns the number of a code. A wrong code leaves the session as it is, until too many were submitted; the right one ends it. Wrong
    /// codes also count for the number, because the code of a test number never changes.
    func redeemMessage(_ session: String?, _ code: String?) throws -> String {
        guard let session, !session.isEmpty else { throw FirebaseError("MISSING_SESSION_INFO") }
        guard let code, !code.isEmpty else { throw FirebaseError("MISSING_CODE") }
        guard let message = try stored(Self.messages, session), let number = message["phoneNumber"]?.string else {
            throw FirebaseError("INVALID_SESSION_INFO")
        }
        let messages = try outgoing()
        let tries = message["tries"]?.int ?? 0
        if (message["expiresAt"]?.int ?? 0) <= now || tries >= messages.mostAttempts { throw FirebaseError("SESSION_EXPIRED") }
        let isRight = try digits(of: message, session).map { constantTimeEquals(Array($0.utf8), Array(code.utf8)) } ?? false
        try messages.judge(codeOf: number, isRight: isRight)
        guard isRight else {
            try context.database.write { tx in
                guard var message = try tx.vendorRecord(tenantId, Self.messages, session) else { return }
                message["tries"] = .number(JSONNumber((message["tries"]?.int ?? 0) + 1))
                try tx.setVendorRecord(tenantId, Self.messages, session, value: message)
            }
            throw FirebaseError("INVALID_CODE")
        }
        let isUnused = try context.database.write { try $0.deleteVendorRecord(tenantId, Self.messages, session) }
        guard isUnused else { throw FirebaseError("INVALID_SESSION_INFO") }
        return number
    }

    private func digits(of message: JSONObject, _ session: String) throws -> String? {
        if let code = message["code"]?.string { return code }
        guard let sealed = message["sealed"]?.string.flatMap({ Base64URL.decode($0) }) else { return nil }
        return String(decoding: try context.vault.open(sealed, as: Self.sealName(session)).copy(), as: UTF8.self)
    }
}
