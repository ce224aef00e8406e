import Contract
import Testing

@testable import Accounts

/// Somebody who guesses codes for as long as there are any, by the rules that the flows go by: tries of a code, codes of a flow and of
/// an address, locks of an address.
private struct Guessing {
    let codes: CodePolicy
    let lock: LockoutPolicy
    /// The latest flow; in those before it no code lives.
    var flow: (tries: Int64, sends: Int64) = (0, 0)
    var window: (since: Int64, sent: Int64) = (0, 0)
    var lockout = Lockout()
    /// Guesses that were held against a living code.
    var held = 0
    /// Codes that were sent.
    var sent = 0

    init(_ codes: CodePolicy, _ lock: LockoutPolicy) { (self.codes, self.lock) = (codes, lock) }

    /// One guess, after asking for a new code, or for a new flow, where that helps.
    mutating func guess(at now: Int64) {
        if now < lockout.lockedUntil { return }
        // Where no code lives there is nothing to guess, and nothing counts.
        guard flow.sends > 0 && flow.tries < codes.attempts || send(at: now) else { return }
        flow.tries += 1
        held += 1
        lockout.fail(nil, lock, at: now)
    }

    /// Whether there is a new code: in the flow, or in a new one.
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

    @Test("a million guesses in an instant, spread over a thousand addresses, come to ten for each")
    func inAnInstant() {
        var people = [Guessing](repeating: Guessing(codes, lock), count: 1000)
        for guess in 0..<1_000_000 { people[guess % 1000].guess(at: 1_700_000_000) }
        #expect(people.allSatisfy { $0.held == 10 && $0.sent == 2 })
    }

    @Test("a million guesses at one address take a month, and a code is found once in a hundred thousand such months")
    func atOneAddress() {
        var person = Guessing(codes, lock)
        let seconds: Int64 = 30 * 86_400
        for guess in 0..<1_000_000 as Range<Int64> { person.guess(at: 1_700_000_000 + guess * seconds / 1_000_000) }
        // Ten at first, six while the lock grows from one minute to an hour, then one an hour.
        #expect(person.held <= 10 + 6 + 30 * 24)
        #expect(person.held >= 30 * 20)
        #expect(Double(person.held) / 1e8 < 1e-5)
    }

    @Test("without a lock, the codes that an address gets limit the guesses")
    func withoutALock() {
        var person = Guessing(codes, LockoutPolicy(threshold: 100, durationSeconds: 1, maximumSeconds: 1))
        for guess in 0..<1_000_000 as Range<Int64> { person.guess(at: 1_700_000_000 + guess * 86_400 / 1_000_000) }
        #expect(person.held <= 97 * 25)
        #expect(person.sent <= 97 * 5)
    }
}
