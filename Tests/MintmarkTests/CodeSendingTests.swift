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

/// A store in memory with a clock set by the test and a mailer that records or rejects messages.
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

    /// A mailer that can be set to fail.
    final class Post: EmailSender {
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
            realm: Deployment(), database: database,
            vault: Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom()),
            environment: ServiceEnvironment(clock: clock))
        let context = AccountsContext(
            service, delivery: hasPost ? .carriers(mailer: post, texter: nil) : .none, passwords: PasswordProtection(cost: 16))
        let configurations = TenantConfigurationCache(signingKeys: SigningKeys(vault: context.vault))
        signUp = SignUpService(context, configurations)
        tenant = TenantService(context, configurations)
    }

    /// A step other than `codeRequired`.
    struct Unexpected: Error { let step: SignUpStep }

    private func codeRequired(_ step: SignUpStep) throws -> SignUpStep.CodeRequired {
        guard case .codeRequired(let step) = step else { throw Unexpected(step: step) }
        return step
    }

    func start(_ username: String, city: String? = nil) throws -> SignUpStep.CodeRequired {
        try codeRequired(signUp.start(.init(username: username, attributes: city.map { ["city": .string($0)] }), Call()))
    }

    func submit(_ code: String, _ step: SignUpStep.CodeRequired) throws -> SignUpStep {
        try signUp.submitCode(.init(continuationToken: step.continuationToken, code: code), Call())
    }

    func resend(_ step: SignUpStep.CodeRequired) throws -> SignUpStep.CodeRequired {
        try codeRequired(signUp.resendCode(.init(continuationToken: step.continuationToken), Call()))
    }
}

extension SignUpStep {
    fileprivate var isCompleted: Bool { if case .completed = self { true } else { false } }
}

@Suite("sending of one-time codes")
struct CodeSendingTests {
    @Test("a delivery failure is reported as messageNotSent and leaves the token and the code unchanged")
    func notHandedOver() throws {
        let people = try People()
        let first = try people.start("alice@example.com")
        let code = people.post.lastCode
        people.post.failure.withLock { $0 = DeliveryFailure(reason: "451 try later", retryAfterSeconds: 30) }
        #expect(throws: MessageNotSent(channel: .email, reason: "451 try later", retryAfterSeconds: 30)) { try people.resend(first) }
        #expect(throws: MessageNotSent.self) { try people.start("bob@example.com") }
        people.post.failure.withLock { $0 = nil }
        #expect(try people.submit(code, first).isCompleted)
        // The failed start left no flow, so the same request starts a new one.
        let bobs = try people.start("bob@example.com")
        #expect(try people.submit(people.post.lastCode, bobs).isCompleted)
    }

    @Test("sign-up without a configured mail server fails with messageNotSent and the reason")
    func nobodyCarries() throws {
        let people = try People(hasPost: false)
        #expect(throws: MessageNotSent(channel: .email, reason: DeliveryFailure.notConfigured("no mail server").reason)) {
            try people.start("alice@example.com")
        }
    }

    @Test("failed deliveries do not count as sent codes, but are limited")
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
        // All five codes of the flow and of the address are still available.
        var last = step
        for _ in 2...5 { last = try people.resend(last) }
        #expect(throws: TooManyCodes.self) { try people.resend(last) }
        #expect(try people.submit(people.post.lastCode, last).isCompleted)
    }

    @Test("a message that may have arrived counts as sent")
    func doubt() throws {
        let people = try People()
        people.post.failure.withLock { $0 = DeliveryFailure(reason: "no answer", mayHaveArrived: true) }
        for _ in 1...5 { #expect(throws: MessageNotSent.self) { try people.start("alice@example.com") } }
        people.post.failure.withLock { $0 = nil }
        #expect(throws: TooManyCodes(retryAfterSeconds: 900)) { try people.start("alice@example.com") }
        people.clock.advance(900)
        #expect(throws: Never.self) { try people.start("alice@example.com") }
    }

    @Test("a new code differs from the previous one")
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

    @Test("an attacker who requests as many flows and codes as possible has few guesses per day")
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
        // Ten attempts until the first lockout, six while its duration doubles to one hour, then one attempt per
        // hour.
        #expect(guesses <= 10 + 6 + 24)
    }
}

@Suite("reuse of refresh tokens")
struct RefreshJudgementTests {
    @Test(
        "a refresh token is fresh, repeated within the grace period, expired or stolen",
        arguments: [
            (nil, false, 99, RefreshJudgement.fresh), (nil, false, 100, .expired), (10, false, 39, .again), (10, false, 40, .stolen),
            (10, true, 11, .stolen), (90, false, 100, .stolen), (10, true, 1000, .stolen),
        ] as [(Int64?, Bool, Int64, RefreshJudgement)])
    func judged(usedAt: Int64?, isSuccessorUsed: Bool, now: Int64, judgement: RefreshJudgement) {
        #expect(
            RefreshJudgement.of(usedAt: usedAt, expiresAt: 100, isSuccessorUsed: isSuccessorUsed, graceSeconds: 30, now: now) == judgement)
    }

    @Test("a token that was used at a later time than the clock shows was used before, whatever the clock shows")
    func usedAhead() {
        for (now, grace, judgement) in [(9, 0, .stolen), (9, 30, .again), (-20, 30, .stolen)] as [(Int64, Int64, RefreshJudgement)] {
            #expect(RefreshJudgement.of(usedAt: 10, expiresAt: 100, isSuccessorUsed: false, graceSeconds: grace, now: now) == judgement)
        }
    }
}
