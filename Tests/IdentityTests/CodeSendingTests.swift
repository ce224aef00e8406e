import Contract
import Crypto
import JSON
import Platform
import Storage
import Synchronization
import Testing

@testable import Accounts
@testable import Mintmark
@testable import ServiceContext
@testable import SigningKeys

/// A store in memory whose clock is set by hand and whose mails go wherever a test says.
private final class People: Sendable {
    final class HandClock: WallClock {
        private let time = Atomic<Int64>(1_700_000_000)
        var now: Int64 { time.load(ordering: .relaxed) }
        func advance(_ seconds: Int64) { time.wrappingAdd(seconds, ordering: .relaxed) }
    }

    struct Call: CallContext {
        var trace: String? { nil }
        var isCancelled: Bool { false }
        var isPublicCaller: Bool { false }
        func progress(_ value: JSONValue) {}
    }

    /// A mail server that can be out of order.
    final class Post: Mailer {
        let sent = Mutex<[OutgoingMessage]>([])
        let failure = Mutex<DeliveryFailure?>(nil)

        func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
            if let failure = failure.withLock({ $0 }) { throw failure }
            sent.withLock { $0.append(message) }
        }

        var lastCode: String { sent.withLock { $0.last?.code } ?? "" }
    }

    let clock = HandClock()
    let post = Post()
    let signUp: SignUpService
    let tenant: TenantService

    init(hasPost: Bool = true) throws {
        let database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        let service = ServiceContext(
            realm: Realm(), database: database, clock: clock, random: SystemRandom(),
            vault: Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom()))
        let surroundings = AccountsContext(
            service, delivery: hasPost ? .carriers(mailer: post, texter: nil) : .none, passwordCost: 16)
        let catalogue = TenantConfigurationCache(signingKeys: SigningKeys(vault: surroundings.vault))
        signUp = SignUpService(surroundings, catalogue)
        tenant = TenantService(surroundings, catalogue)
    }

    func start(_ username: String, city: String? = nil) throws -> SignUpStep {
        try signUp.start(.init(username: username, attributes: city.map { ["city": .string($0)] }), Call())
    }

    func submit(_ code: String, _ step: SignUpStep) throws -> SignUpStep {
        try signUp.submitCode(.init(continuationToken: step.continuationToken, code: code), Call())
    }

    func resend(_ step: SignUpStep) throws -> SignUpStep {
        try signUp.resendCode(.init(continuationToken: step.continuationToken), Call())
    }
}

@Suite("codes on their way (native-auth.md 1.8, 6.3, 6.4)")
struct CodeSendingTests {
    @Test("a message that cannot be handed over is its own error, and leaves token and code as they were")
    func notHandedOver() throws {
        let people = try People()
        let first = try people.start("alice@example.com")
        let code = people.post.lastCode
        people.post.failure.withLock { $0 = DeliveryFailure(reason: "451 try later", retryAfterSeconds: 30) }
        #expect(throws: MessageNotSent(channel: .email, reason: "451 try later", retryAfterSeconds: 30)) { try people.resend(first) }
        #expect(throws: MessageNotSent.self) { try people.start("bob@example.com") }
        people.post.failure.withLock { $0 = nil }
        #expect(try people.submit(code, first).state == .completed)
        // Nothing is left of the start that failed: the same request begins anew.
        let bobs = try people.start("bob@example.com")
        #expect(try people.submit(people.post.lastCode, bobs).state == .completed)
    }

    @Test("without a mail server a sign-up says so")
    func nobodyCarries() throws {
        let people = try People(hasPost: false)
        #expect(throws: MessageNotSent(channel: .email, reason: DeliveryFailure.notConfigured("no mail server").reason)) {
            try people.start("alice@example.com")
        }
    }

    @Test("messages that were plainly refused are not counted as codes, but not tried without end either")
    func failures() throws {
        let people = try People()
        people.post.failure.withLock { $0 = DeliveryFailure(reason: "down") }
        for _ in 1...10 { #expect(throws: MessageNotSent.self) { try people.start("alice@example.com") } }
        #expect(throws: TooManyFailedSends(failures: 10, retryAfterSeconds: 60)) { try people.start("alice@example.com") }
        people.post.failure.withLock { $0 = nil }
        people.clock.advance(60)
        let step = try people.start("alice@example.com")
        people.post.failure.withLock { $0 = DeliveryFailure(reason: "down") }
        for _ in 1...6 { #expect(throws: MessageNotSent.self) { try people.resend(step) } }
        people.post.failure.withLock { $0 = nil }
        // All five of the flow and of the address are there.
        var last = step
        for _ in 2...5 { last = try people.resend(last) }
        #expect(throws: TooManyCodes.self) { try people.resend(last) }
        #expect(try people.submit(people.post.lastCode, last).state == .completed)
    }

    @Test("a message that may have arrived counts as one that was sent")
    func doubt() throws {
        let people = try People()
        people.post.failure.withLock { $0 = DeliveryFailure(reason: "no answer", mayHaveArrived: true) }
        for _ in 1...5 { #expect(throws: MessageNotSent.self) { try people.start("alice@example.com") } }
        people.post.failure.withLock { $0 = nil }
        #expect(throws: TooManyCodes(retryAfterSeconds: 900)) { try people.start("alice@example.com") }
        people.clock.advance(900)
        #expect(try people.start("alice@example.com").state == .codeRequired)
    }

    @Test("a new code is never the one before it")
    func fresh() throws {
        let people = try People()
        _ = try people.tenant.update(.init(tenantId: "default", codes: .init(sendsPerFlow: 20, sendsPerAddress: 100)), People.Call())
        var step = try people.start("alice@example.com")
        for _ in 1...15 {
            let before = people.post.lastCode
            step = try people.resend(step)
            #expect(people.post.lastCode != before)
        }
        #expect(throws: Never.self) { try people.submit(people.post.lastCode, step) }
    }

    @Test("whoever guesses at an address for a day, with as many flows and codes as he can get, has few guesses")
    func guessing() throws {
        let people = try People()
        let end = people.clock.now + 86_400
        var (guesses, flows) = (0, 0)
        while people.clock.now < end {
            flows += 1
            if let step = try? people.start("alice@example.com", city: "\(flows)") {
                for number in 1...6 {
                    do {
                        _ = try people.submit("x\(number)", step)
                    } catch let wrong as InvalidCode {
                        guesses += 1
                        if wrong.attemptsLeft == 0 { break }
                    } catch { break }
                }
            }
            people.clock.advance(60)
        }
        // Ten until the lock, which doubles up to an hour; then one whenever it ends, were it not that codes die before.
        #expect(guesses <= 10 + 6 + 24)
    }
}

@Suite("refresh tokens that come again")
struct RefreshJudgementTests {
    @Test(
        "fresh, again, expired, stolen",
        arguments: [
            (nil, false, 99, RefreshJudgement.fresh), (nil, false, 100, .expired), (10, false, 39, .again), (10, false, 40, .stolen),
            (10, true, 11, .stolen), (90, false, 100, .stolen), (10, true, 1000, .stolen),
        ] as [(Int64?, Bool, Int64, RefreshJudgement)])
    func judged(usedAt: Int64?, isSuccessorUsed: Bool, now: Int64, judgement: RefreshJudgement) {
        #expect(
            RefreshJudgement.of(usedAt: usedAt, expiresAt: 100, isSuccessorUsed: isSuccessorUsed, graceSeconds: 30, now: now) == judgement)
    }
}
