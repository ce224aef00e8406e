import Crypto
import Platform
import Testing

@Suite struct ScryptTests {
    @Test("scrypt matches RFC 7914 section 12")
    func vectors() throws {
        #expect(
            try Scrypt.derive(password: [], salt: [], .init(n: 16, r: 1, p: 1), count: 64).hex
                == "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906")
        #expect(
            try Scrypt.derive(password: utf8("password"), salt: utf8("NaCl"), .init(n: 1024, r: 8, p: 16), count: 64).hex
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
        #expect(
            try Scrypt.derive(password: utf8("pleaseletmein"), salt: utf8("SodiumChloride"), .init(n: 16384, r: 8, p: 1), count: 64).hex
                == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")
    }

    @Test("the parameters for stored passwords are within the memory limit")
    func production() throws {
        #expect(try Scrypt.derive(password: utf8("p"), salt: utf8("s"), .init(n: 1 << 17, r: 8, p: 1), count: 32).count == 32)
    }

    @Test(
        "parameters that are not valid or need more than 256 MiB are rejected",
        arguments: [(1 << 20, 8, 1), (0, 8, 1), (1, 8, 1), (1000, 8, 1), (1024, 0, 1), (1024, 8, 0), (-16, 8, 1)])
    func refusals(_ n: Int, _ r: Int, _ p: Int) {
        #expect(throws: Scrypt.Refusal.unacceptableParameters) {
            try Scrypt.derive(password: utf8("pleaseletmein"), salt: utf8("SodiumChloride"), .init(n: n, r: r, p: p), count: 64)
        }
    }
}
