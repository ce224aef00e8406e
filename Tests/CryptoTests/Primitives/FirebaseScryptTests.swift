import Crypto
import Platform
import Testing

@Suite struct FirebaseScryptTests {
    /// The key of the sample project at github.com/firebase/scrypt.
    private let signerKey = Base64.decode("jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==")!

    private func hash(_ password: String, salt: String = "42xEC+ixf3L2lw==", rounds: Int = 8) throws -> [UInt8] {
        try FirebaseScrypt.hash(
            password: SecretBytes(utf8(password)), salt: Base64.decode(salt)! + Base64.decode("Bw==")!, signerKey: SecretBytes(signerKey),
            memoryCost: 14, rounds: rounds)
    }

    @Test("the hash matches the sample of Firebase")
    func sample() throws {
        let known = Base64.decode("lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==")
        #expect(try hash("user1password") == known)
        #expect(try hash("user1Password") != known)
        #expect(try hash("user1password", salt: "42xEC+ixf3L2lg==") != known)
        #expect(try hash("user1password", rounds: 7) != known)
    }

    @Test("parameters outside of the allowed range are rejected", arguments: [(0, 8), (31, 8), (20, 16), (14, 0)])
    func refusals(_ memoryCost: Int, _ rounds: Int) {
        #expect(throws: Scrypt.Refusal.unacceptableParameters) {
            try FirebaseScrypt.hash(
                password: SecretBytes(utf8("p")), salt: utf8("s"), signerKey: SecretBytes(signerKey), memoryCost: memoryCost, rounds: rounds
            )
        }
    }
}
