import Contract
import Crypto
import JSON
import Messages
import Platform
import Storage
import Synchronization
import Testing

@testable import Accounts
@testable import Mintmark
@testable import ServiceContext
@testable import SigningKeys

/// A text message sender that can be set to fail.
private final class MessageSender: SMSSender {
    let sent = Mutex<[OutgoingMessage]>([])
    let failure = Mutex<DeliveryFailure?>(nil)

    func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
        if let failure = failure.withLock({ $0 }) { throw failure }
        sent.withLock { $0.append(message) }
    }
}

private func context(_ delivery: Delivery) throws -> AccountsContext {
    let service = ServiceContext(
        realm: Deployment(), database: try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid()),
        vault: Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom()))
    return AccountsContext(service, delivery: delivery, passwords: PasswordProtection(cost: 16))
}

@Suite("sending of text messages")
struct MessageSendingTests {
    private static let number = "+4915112345678"
    private let tenant = TenantRecord(
        TenantCreate.Params(
            tenantId: "shop", name: "Shop",
            delivery: TenantDelivery(
                templates: [TenantTemplate(purpose: .signIn, channel: .sms, language: "de", text: "{{code}} ist Ihr Code.")])),
        createdAt: 0, updatedAt: 0)

    private func send(_ house: AccountsContext, language: String?) throws {
        try MessageSending(context: house).send(
            MessageContent(purpose: .signIn, code: "12345678", lifetimeSeconds: 600), to: .sms(PhoneNumber(Self.number)),
            language: language, of: tenant)
    }

    @Test("text messages are sent with the tenant's template for the language, otherwise with the built-in one")
    func carried() throws {
        let carrier = MessageSender()
        let house = try context(.carriers(mailer: nil, texter: carrier))
        try send(house, language: "de-AT")
        try send(house, language: "fr")
        let sent = carrier.sent.withLock { $0 }
        #expect(sent.map(\.channel) == [.sms, .sms])
        #expect(sent.map(\.to) == [Self.number, Self.number])
        #expect(sent.map(\.code) == ["12345678", "12345678"])
        #expect(sent[0].textMessage == ("de", "12345678 ist Ihr Code."))
        #expect(sent[1].textMessage == ("en", "12345678 is your code for Shop. It is valid for 10 minutes. Do not share it."))
    }

    @Test("failed text messages are reported as messageNotSent with the reason and the time to wait")
    func refused() throws {
        let carrier = MessageSender()
        let house = try context(.carriers(mailer: nil, texter: carrier))
        carrier.failure.withLock { $0 = DeliveryFailure(reason: "503", retryAfterSeconds: 30) }
        #expect(throws: MessageNotSent(channel: .sms, reason: "503", retryAfterSeconds: 30)) { try send(house, language: nil) }
        let reason = DeliveryFailure.notConfigured("no sender of text messages").reason
        #expect(throws: MessageNotSent(channel: .sms, reason: reason)) { try send(try context(.none), language: nil) }
    }

    @Test("a testing store keeps text messages in its outbox, with the code and without a subject")
    func kept() throws {
        let house = try context(.outbox)
        try send(house, language: "de")
        let kept = try house.database.read { try $0.outbox(to: nil, after: 0, limit: 10) }
        #expect(kept.count == 1)
        #expect(kept[0].channel == .sms && kept[0].to == Self.number && kept[0].code == "12345678" && kept[0].subject == nil)
        #expect(kept[0].language == "de" && kept[0].text == "12345678 ist Ihr Code.")
    }

    @Test("the codes of a flow are sent to its phone number and count toward the limit of that number")
    func codes() throws {
        let carrier = MessageSender()
        let house = try context(.carriers(mailer: nil, texter: carrier))
        let flows = Flows(house, TenantConfigurationCache(signingKeys: SigningKeys(vault: house.vault)))
        let now = house.clock.now
        let number = try PhoneNumber(Self.number)
        func start(_ username: String) throws -> Flow {
            let draft = Flow(
                id: flows.newId(), tenantId: tenant.id, kind: .signIn, stage: .codeRequired, username: username, accountId: username,
                language: "de", request: [], requestedAt: now)
            return try CodeSending(house).send(
                .init(purpose: .signIn, tenant: tenant, recipient: { _ in .sms(number) }, locks: [], now: now),
                draft: { _ in .send(draft, isNew: true) }, commit: { _, _ in })
        }
        for each in 1...5 { _ = try start("\(each)@example.com") }
        #expect(throws: TooManyCodes.self) { try start("6@example.com") }
        #expect(carrier.sent.withLock { $0.map(\.to) } == [String](repeating: Self.number, count: 5))
    }
}

@Suite("phone numbers (E.164)")
struct PhoneNumberTests {
    @Test("valid numbers are accepted unchanged", arguments: ["+4915112345678", "+12025550123", "+6834000", "+123456789012345"])
    func good(_ text: String) throws { #expect(try PhoneNumber(text).description == text) }

    @Test(
        "malformed numbers are rejected with the reason",
        arguments: [
            ("", .noCountryCode), ("004915112345678", .noCountryCode), ("015112345678", .noCountryCode), ("4915112345678", .noCountryCode),
            ("+0123456789", .noCountryCode), ("tel:+4915112345678", .noCountryCode), ("+49 151 12345678", .notDigits),
            ("+49-151-12345678", .notDigits), ("+(49)15112345678", .notDigits), ("+49151123456x8", .notDigits),
            ("+٤٩١٥١١٢٣٤٥٦٧٨", .notDigits), ("+4915112345678\n", .notDigits), ("++4915112345678", .notDigits), ("+", .length(0)),
            ("+123456", .length(6)), ("+1234567890123456", .length(16)),
        ] as [(String, PhoneNumber.Refusal)])
    func bad(_ text: String, _ refusal: PhoneNumber.Refusal) { #expect(throws: refusal) { try PhoneNumber(text) } }

    @Test("a masked number shows its last two digits, whatever its length")
    func masked() throws { #expect(try ["+4915112345678", "+6834078"].map { try PhoneNumber($0).masked } == ["+***78", "+***78"]) }
}
