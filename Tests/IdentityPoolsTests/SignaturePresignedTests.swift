import Testing

@testable import IdentityPools

/// Presigned URLs: URLs presigned by botocore verify, and each modification fails with a specific error.
struct SignaturePresignedTests {
    @Test("URLs presigned by botocore verify, and their parts are parsed", arguments: SignatureVector.presigned)
    func verifies(_ vector: SignatureVector) throws {
        let parsed = try vector.parse()
        #expect(parsed.accessKeyId == vector.accessKeyId)
        #expect(parsed.sessionToken == vector.sessionToken)
        #expect(parsed.signedAt == vector.signedAt)
        #expect(parsed.expiresSeconds == vector.expiresSeconds)
        #expect(parsed.scope.service == vector.service && parsed.scope.region == vector.region)
        #expect(try vector.verify(service: vector.service, region: vector.region).bodyVerified == false)
    }

    @Test("another method, path, query, host, secret, signature, expiry or token is a mismatch", arguments: SignatureVector.presigned)
    func mismatches(_ vector: SignatureVector) throws {
        let expires = vector.expiresSeconds! == 604_800 ? 604_799 : vector.expiresSeconds! + 1
        #expect(vector.changed { $0.method = $0.method == "PUT" ? "POST" : "PUT" }.failure() == .mismatch)
        #expect(vector.lengtheningPath().failure() == .mismatch)
        #expect(vector.addingParameter("z=1").failure() == .mismatch)
        #expect(vector.changed { $0.secret += "x" }.failure() == .mismatch)
        #expect(vector.settingParameter("X-Amz-Expires", "\(expires)").failure() == .mismatch)
        let signature = try #require(vector.parameter("X-Amz-Signature"))
        let last = signature.last == "0" ? "1" : "0"
        #expect(vector.settingParameter("X-Amz-Signature", signature.dropLast() + last).failure() == .mismatch)
        if vector.sessionToken != nil {
            #expect(vector.settingParameter("X-Amz-Security-Token", "other").failure() == .mismatch)
            #expect(vector.settingParameter("X-Amz-Security-Token", nil).failure() == .mismatch)
        }
        if vector.header("host") == nil, vector.url.contains("//api.example.com/") {
            #expect(vector.replacingInURL("api.example.com", "c.example.com").failure() == .mismatch)
            #expect(vector.addingHeader("host", "c.example.com").failure() == .otherHost)
            #expect(vector.replacingInURL("api.example.com", "c.example.com").addingHeader("host", "c.example.com").failure() == .mismatch)
        }
    }

    @Test("the body is part of the signature, except for S3", arguments: SignatureVector.presigned)
    func body(_ vector: SignatureVector) throws {
        #expect(vector.changed { $0.bodySha256 = String(repeating: "ab", count: 32) }.failure() == (vector.isS3 ? nil : .mismatch))
        let empty = vector.changed { $0.bodySha256 = BodyHash.empty }
        #expect(try empty.verify().bodyVerified == !vector.isS3)
    }

    @Test("a URL is valid from the signing time minus the skew until its expiry", arguments: SignatureVector.presigned)
    func validity(_ vector: SignatureVector) {
        let (from, seconds) = (vector.signedAt, vector.expiresSeconds!)
        #expect(vector.failure(at: from - vector.skew) == nil)
        #expect(vector.failure(at: from - vector.skew - 1) == .skewed(signedAt: from, maximumSeconds: vector.skew))
        #expect(vector.failure(at: from + seconds) == nil)
        #expect(vector.failure(at: from + seconds + 1) == .expired(signedAt: from, expiresSeconds: seconds))
    }

    @Test("a signature for another service, region or date is rejected by name", arguments: SignatureVector.presigned)
    func scope(_ vector: SignatureVector) throws {
        #expect(vector.failure(service: "else") == .scope(part: .service, expected: "else", actual: vector.service))
        #expect(vector.failure(region: "else") == .scope(part: .region, expected: "else", actual: vector.region))
        let day = try vector.parse().scope.date
        let other = vector.settingParameter("X-Amz-Credential", "\(vector.accessKeyId)%2F20010101%2Fr%2Fs%2Faws4_request")
        #expect(other.failure() == .scope(part: .date, expected: day, actual: "20010101"))
    }

    @Test(
        "a missing, duplicate or malformed signature parameter is rejected with the reason",
        arguments: [
            ("X-Amz-Algorithm", nil, "X-Amz-Algorithm must be AWS4-HMAC-SHA256"),
            ("X-Amz-Algorithm", "AWS4-ECDSA-P256-SHA256", "X-Amz-Algorithm must be AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", nil, "the credential does not have the form <access key id>/<date>/<region>/<service>/aws4_request"),
            ("X-Amz-Credential", "a%2Fb", "the credential does not have the form <access key id>/<date>/<region>/<service>/aws4_request"),
            ("X-Amz-Date", nil, "X-Amz-Date is missing"),
            ("X-Amz-Date", "20260230T000000Z", "X-Amz-Date does not have the form 20261121T120000Z"),
            ("X-Amz-Date", "2026-11-21", "X-Amz-Date does not have the form 20261121T120000Z"),
            ("X-Amz-Expires", nil, "X-Amz-Expires is missing or not between 1 and 604800"),
            ("X-Amz-Expires", "0", "X-Amz-Expires is missing or not between 1 and 604800"),
            ("X-Amz-Expires", "604801", "X-Amz-Expires is missing or not between 1 and 604800"),
            ("X-Amz-Expires", "-1", "X-Amz-Expires is missing or not between 1 and 604800"),
            ("X-Amz-Expires", "9223372036854775808", "X-Amz-Expires is missing or not between 1 and 604800"),
            ("X-Amz-SignedHeaders", nil, "SignedHeaders is missing or contains a header twice"),
            ("X-Amz-SignedHeaders", "x-none", "the host header is not signed"),
            ("X-Amz-SignedHeaders", "host%3Bx-none", "the signed header x-none is missing"),
            ("X-Amz-Signature", nil, "the signature is not 64 hexadecimal digits"),
            ("X-Amz-Signature", "00", "the signature is not 64 hexadecimal digits"),
        ])
    func malformed(_ name: String, _ value: String?, _ reason: String) {
        let vector = SignatureVector.presigned[0]
        #expect(vector.settingParameter(name, value).failure() == .malformed(reason))
    }

    @Test(
        "duplicate signature parameters are rejected",
        arguments: ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders", "X-Amz-Signature"])
    func doubled(_ name: String) {
        let vector = SignatureVector.presigned[0].addingParameter("\(name)=1")
        #expect(vector.failure() == .malformed("the parameter \(name) occurs twice"))
    }

    @Test("a session token appended after signing is accepted, and other parameters are not")
    func appendedToken() throws {
        for vector in SignatureVector.presigned where vector.sessionToken == nil {
            let appended = vector.addingParameter("X-Amz-Security-Token=later%2F%3D")
            #expect(appended.failure() == nil)
            #expect(try appended.parse().sessionToken == "later/=")
            #expect(appended.addingParameter("z=1").failure() == .mismatch)
            #expect(
                appended.addingHeader("X-Amz-Security-Token", "another").failure()
                    == .malformed("both the headers and the query contain X-Amz-Security-Token"))
        }
    }
}
