import Contract
import Crypto
import Testing

@testable import Accounts
@testable import ServiceContext

@Suite("imported password hashes")
struct PasswordHashTests {
    private let hasher = PasswordHasher(
        cost: 1 << 4, vault: Vault(dataKey: SecretBytes([UInt8](repeating: 7, count: 32)), random: SystemRandom()), random: SystemRandom())

    private func pointer(_ how: PasswordHashing) -> String? {
        do { _ = try PasswordHash(how) } catch { return error.pointer }
        return nil
    }

    @Test("missing, unexpected and too expensive parameters are rejected with their pointer")
    func parameters() {
        #expect(pointer(PasswordHashing(algorithm: .scrypt)) == nil)
        #expect(pointer(PasswordHashing(algorithm: .scrypt, memoryCost: 17)) == nil)
        #expect(pointer(PasswordHashing(algorithm: .scrypt, memoryCost: 17, blockSize: 9)) == "/memoryCost")
        #expect(pointer(PasswordHashing(algorithm: .scrypt, memoryCost: 17, parallelization: 2)) == "/memoryCost")
        #expect(pointer(PasswordHashing(algorithm: .scrypt, rounds: 8)) == "/rounds")
        #expect(pointer(PasswordHashing(algorithm: .firebaseScrypt)) == "/signerKey")
        #expect(pointer(PasswordHashing(algorithm: .firebaseScrypt, signerKey: "A")) == "/signerKey")
        #expect(pointer(PasswordHashing(algorithm: .firebaseScrypt, signerKey: "Bw==", saltSeparator: "B")) == "/saltSeparator")
        #expect(pointer(PasswordHashing(algorithm: .firebaseScrypt, signerKey: "Bw==", rounds: 17)) == "/rounds")
        #expect(pointer(PasswordHashing(algorithm: .firebaseScrypt, signerKey: "Bw==", memoryCost: 17, rounds: 16)) == "/memoryCost")
        #expect(pointer(PasswordHashing(algorithm: .firebaseScrypt, signerKey: "Bw==", blockSize: 8)) == "/blockSize")
        #expect(pointer(PasswordHashing(algorithm: .pbkdf2Sha256)) == "/rounds")
        #expect(pointer(PasswordHashing(algorithm: .pbkdf2Sha1, memoryCost: 14, rounds: 1)) == "/memoryCost")
    }

    @Test(
        "a correct password is hashed again with the store's algorithm, and a wrong one is not",
        arguments: [
            PasswordHash.scrypt(memoryCost: 5, blockSize: 2, parallelization: 3),
            .firebaseScrypt(signerKey: [UInt8](repeating: 9, count: 64), saltSeparator: [7], memoryCost: 6, rounds: 4),
            .pbkdf2(.sha1, iterations: 10), .pbkdf2(.sha256, iterations: 11), .pbkdf2(.sha512, iterations: 12),
        ])
    func upgrade(_ how: PasswordHash) throws {
        let salt: [UInt8] = [1, 2, 3]
        let foreign = HashedPassword(how: how, salt: salt, hash: try how.hash("naïve 9", salt: salt, count: 64))
        let sealed = hasher.sealed(foreign, as: "ann")
        #expect(try hasher.hashed(sealed, as: "ann") == foreign)
        let wrong = try hasher.match("naive 9", sealed, as: "ann")
        #expect(!wrong.isRight && wrong.upgraded == nil)
        let right = try hasher.match("naïve 9", sealed, as: "ann")
        let upgraded = try #require(right.upgraded)
        #expect(right.isRight)
        #expect(try hasher.hashed(upgraded, as: "ann")?.isOwn(at: 1 << 4) == true)
        #expect(try hasher.matches("naïve 9", upgraded, as: "ann"))
        #expect(try hasher.match("naïve 9", upgraded, as: "ann").upgraded == nil)
        #expect(try !hasher.matches("naive 9", upgraded, as: "ann"))
    }

    @Test("a verification against the old hash remains valid only if the new hash is its upgrade")
    func sameAsBefore() throws {
        func foreign(_ salt: UInt8) throws -> [UInt8] {
            let how = PasswordHash.pbkdf2(.sha256, iterations: 3)
            return hasher.sealed(HashedPassword(how: how, salt: [salt], hash: try how.hash("secret 9", salt: [salt], count: 32)), as: "ann")
        }
        let before = try foreign(1)
        let after = try #require(try hasher.match("secret 9", before, as: "ann").upgraded)
        #expect(try hasher.isSame(before, as: before, of: "ann"))
        #expect(try hasher.isSame(after, as: before, of: "ann"))
        #expect(try !hasher.isSame(after, as: foreign(2), of: "ann"))
        #expect(try !hasher.isSame(hasher.sealed("secret 9", as: "ann"), as: before, of: "ann"))
        #expect(try !hasher.isSame(nil, as: before, of: "ann"))
        #expect(try !hasher.isSame(before, as: after, of: "ann"))
    }

    @Test("an imported hash with the store's own parameters is not upgraded")
    func own() throws {
        let how = PasswordHash.own(cost: 1 << 4)
        let salt = [UInt8](repeating: 5, count: 16)
        let sealed = hasher.sealed(HashedPassword(how: how, salt: salt, hash: try how.hash("secret 9", salt: salt, count: 32)), as: "ann")
        let match = try hasher.match("secret 9", sealed, as: "ann")
        #expect(match.isRight && match.upgraded == nil)
    }

    @Test("no password matches an account with an unknown password")
    func unknown() throws {
        let sealed = hasher.sealedUnknown(as: "ann")
        #expect(try !hasher.matches("", sealed, as: "ann"))
        #expect(try !hasher.isKnown(sealed, as: "ann") && hasher.hashed(sealed, as: "ann") == nil)
    }
}
