import Crypto
import Platform
import Testing

@Suite("hashes that contain their parameters")
struct CryptHashTests {
    @Test(
        "bcrypt equals the vectors of crypt_blowfish",
        arguments: [
            ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
            ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
            ("", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"),
        ])
    func bcrypt(password: String, hash: String) throws {
        #expect(BCrypt.cost(of: Array(hash.utf8)) == 5)
        let made = try BCrypt.hash(SecretBytes(Array(password.utf8)), setting: Array(hash.utf8.prefix(BCrypt.settingCount)))
        #expect(String(decoding: made, as: UTF8.self) == hash)
    }

    @Test(
        "a text that is not a hash of bcrypt has no cost",
        arguments: [
            "", "$2a$05$", "$1$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW1",
            "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe:",
        ])
    func notBcrypt(text: String) {
        #expect(BCrypt.cost(of: Array(text.utf8)) == nil)
    }

    @Test("Argon2id equals a vector of the reference implementation, or is reported as unavailable")
    func argon2id() throws {
        let hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
        let parameters = try #require(Argon2id.Parameters(Array(hash.utf8)))
        #expect((parameters.memory, parameters.passes, parameters.lanes) == (65536, 2, 1))
        guard Argon2id.isAvailable else {
            #expect(throws: Argon2id.Unavailable.self) { try Argon2id.hash(SecretBytes(Array("password".utf8)), parameters) }
            return
        }
        #expect(String(decoding: try Argon2id.hash(SecretBytes(Array("password".utf8)), parameters), as: UTF8.self) == hash)
    }

    @Test(
        "a text that is not a hash of Argon2id is refused",
        arguments: [
            "", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=16$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=65536,t=0,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=65536,t=2$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=65536,t=2,p=1,p=2$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        ])
    func notArgon2id(text: String) {
        #expect(Argon2id.Parameters(Array(text.utf8)) == nil)
    }
}
