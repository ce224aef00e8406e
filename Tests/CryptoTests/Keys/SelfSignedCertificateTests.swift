import Crypto
import Platform
import Testing

@Suite("self-signed certificates")
struct SelfSignedCertificateTests {
    @Test(
        "a certificate is parsed by OpenSSL, has version 3 and belongs to no authority",
        arguments: [Int64(0), 1_700_000_000, 2_600_000_000])
    func certificateIsParsed(start: Int64) throws {
        let key = try PrivateKey.generate(.RS256)
        let pem = try Certificate.selfSigned(key, name: "demo", times: start...(start + 86_400))
        let text = pem.split(separator: "\n").dropFirst().dropLast().joined()
        let certificate = try #require(Base64.decode(text).flatMap { Certificate(der: $0) })
        #expect(certificate.version == 3)
        #expect(!certificate.isAuthority)
        #expect(!certificate.hasEmptySubject)
        #expect(try Certificate.selfSigned(key, name: "demo", times: start...(start + 86_400)) == pem)
    }

    @Test("a certificate whose validity contains no time is refused", arguments: [0, 1])
    func certificateWithoutTime(which: Int) throws {
        let key = try PrivateKey.generate(.RS256)
        let pem = try Certificate.selfSigned(key, name: "demo", times: 1_700_000_000...1_700_086_400)
        var der = try #require(Base64.decode(pem.split(separator: "\n").dropFirst().dropLast().joined()))
        // A UTCTime has the tag 23 and 13 characters.
        let times = der.indices.dropLast(14).filter { der[$0] == 23 && der[$0 + 1] == 13 && der[$0 + 14] == UInt8(ascii: "Z") }
        try #require(times.count == 2)
        der[times[which] + 4] = UInt8(ascii: "x")
        #expect(Certificate(der: der) == nil)
    }
}
