import Crypto
import Testing

@testable import Accounts

@Suite("Time-based one-time passwords (TOTP)") struct TOTPTests {
    private let totp = TOTP(SecretBytes(Array("12345678901234567890".utf8)))

    @Test(
        "the codes match RFC 6238 appendix B in their last six digits",
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"), (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] as [(Int64, String)])
    func vectors(now: Int64, code: String) { #expect(totp.code(of: TOTP.step(at: now)) == code) }

    private static let counters = [
        "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
    ]

    @Test("the codes match RFC 4226 appendix D", arguments: counters.indices)
    func counter(step: Int) { #expect(totp.code(of: Int64(step)) == Self.counters[step]) }

    @Test("a code is accepted up to the allowed number of steps away", arguments: [0, 1, 5, 10] as [Int64])
    func drift(steps: Int64) {
        let now: Int64 = 1_700_000_000
        let present = TOTP.step(at: now)
        for distance in -12...12 as ClosedRange<Int64> {
            let expected: TOTP.Judgement = abs(distance) <= steps ? .right(step: present + distance) : .wrong
            #expect(totp.judge(totp.code(of: present + distance), at: now, drift: steps, after: nil) == expected)
        }
    }

    @Test("a step is accepted once, and earlier steps are rejected afterwards")
    func replay() {
        let now: Int64 = 1_700_000_000
        let step = TOTP.step(at: now)
        #expect(totp.judge(totp.code(of: step), at: now, drift: 1, after: step - 1) == .right(step: step))
        #expect(totp.judge(totp.code(of: step), at: now, drift: 1, after: step) == .used)
        #expect(totp.judge(totp.code(of: step - 1), at: now, drift: 1, after: step) == .used)
        #expect(totp.judge(totp.code(of: step + 1), at: now, drift: 1, after: step) == .right(step: step + 1))
    }

    @Test("text that is not a code is wrong", arguments: ["", "12345", "1234567", "abcdef", " 87082", "٢٨٧٠٨٢"])
    func malformed(code: String) { #expect(totp.judge(code, at: 59, drift: 0, after: nil) == .wrong) }

    @Test("at time zero, there are no earlier steps")
    func beginning() { #expect(totp.judge(totp.code(of: 0), at: 0, drift: 10, after: nil) == .right(step: 0)) }

    @Test("the URI for the app contains all parameters, percent-encoded")
    func uri() {
        #expect(
            TOTP.uri(secret: "JBSWY3DPEHPK3PXP", issuer: "The Shop & Co", account: "a:b?c@example.com")
                == "otpauth://totp/The%20Shop%20%26%20Co:a%3Ab%3Fc%40example.com?secret=JBSWY3DPEHPK3PXP"
                + "&issuer=The%20Shop%20%26%20Co&algorithm=SHA1&digits=6")
    }
}
