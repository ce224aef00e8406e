import Contract
import Testing

@testable import Accounts

/// Simulates an attacker who guesses codes under the limits of the flows: attempts per code, codes per flow and per
/// address, and lockouts of an address.
private struct Guessing {
    let codes: CodePolicy
    let lock: LockoutPolicy
    /// The latest flow. Earlier flows have no valid code.
    var flow: (tries: Int64, sends: Int64) = (0, 0)
    var window: (since: Int64, sent: Int64) = (0, 0)
    var lockout = Lockout()
    /// The number of guesses that were compared with a valid code.
    var held = 0
    /// The number of codes that were sent.
    var sent = 0

    init(_ codes: CodePolicy, _ lock: LockoutPolicy) { (self.codes, self.lock) = (codes, lock) }

    /// Makes one guess. Requests a new code or starts a new flow first, if necessary.
    mutating func guess(at now: Int64) {
        if now < lockout.lockedUntil { return }
        // Without a valid code, the guess has no effect and is not counted.
        guard flow.sends > 0 && flow.tries < codes.attempts || send(at: now) else { return }
        flow.tries += 1
        held += 1
        lockout.fail(nil, lock, at: now)
    }

    /// Sends a new code, in the current or a new flow, and returns whether the limits allowed it.
    private mutating func send(at now: Int64) -> Bool {
        if now >= window.since + codes.windowSeconds { window = (now, 0) }
        guard window.sent < codes.sendsPerAddress else { return false }
        window.sent += 1
        sent += 1
        flow = (0, flow.sends < codes.sendsPerFlow ? flow.sends + 1 : 1)
        return true
    }
}

@Suite("brute force against codes")
struct GuessingTests {
    private let lock = LockoutPolicy(threshold: 10, durationSeconds: 60, maximumSeconds: 3600)
    private let codes = CodePolicy(
        length: 8, lifetimeSeconds: 600, attempts: 5, resendAfterSeconds: 60, sendsPerFlow: 5, sendsPerAddress: 5, windowSeconds: 900)

    @Test("a million immediate guesses at a thousand addresses result in ten counted guesses per address")
    func inAnInstant() {
        var people = [Guessing](repeating: Guessing(codes, lock), count: 1000)
        for guess in 0..<1_000_000 { people[guess % 1000].guess(at: 1_700_000_000) }
        #expect(people.allSatisfy { $0.held == 10 && $0.sent == 2 })
    }

    @Test("a million guesses at one address in a month find a code with a probability below 1 in 100,000")
    func atOneAddress() {
        var person = Guessing(codes, lock)
        let seconds: Int64 = 30 * 86_400
        for guess in 0..<1_000_000 as Range<Int64> { person.guess(at: 1_700_000_000 + guess * seconds / 1_000_000) }
        // Ten attempts at first, six while the lockout doubles from one minute to one hour, then one per hour.
        #expect(person.held <= 10 + 6 + 30 * 24)
        #expect(person.held >= 30 * 20)
        #expect(Double(person.held) / 1e8 < 1e-5)
    }

    @Test("without a lockout, the number of codes per address limits the guesses")
    func withoutALock() {
        var person = Guessing(codes, LockoutPolicy(threshold: 100, durationSeconds: 1, maximumSeconds: 1))
        for guess in 0..<1_000_000 as Range<Int64> { person.guess(at: 1_700_000_000 + guess * 86_400 / 1_000_000) }
        #expect(person.held <= 97 * 25)
        #expect(person.sent <= 97 * 5)
    }
}
