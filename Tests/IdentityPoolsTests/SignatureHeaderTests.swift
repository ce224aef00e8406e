import Testing

@testable import IdentityPools

/// Signatures in the `Authorization` header: signatures by botocore verify, and each modification fails with a
/// specific error.
struct SignatureHeaderTests {
    @Test("there are at least 200 vectors of both kinds")
    func thereAreEnough() {
        #expect(SignatureVector.all.count >= 200)
        #expect(SignatureVector.inHeader.count >= 100)
        #expect(SignatureVector.presigned.count >= 80)
    }

    @Test("requests signed by botocore verify, and their parts are parsed", arguments: SignatureVector.inHeader)
    func verifies(_ vector: SignatureVector) throws {
        let parsed = try vector.parse()
        #expect(parsed.accessKeyId == vector.accessKeyId)
        #expect(parsed.sessionToken == vector.sessionToken)
        #expect(parsed.signedAt == vector.signedAt)
        #expect(parsed.scope.service == vector.service && parsed.scope.region == vector.region)
        #expect(parsed.expiresSeconds == nil)
        let verdict = try vector.verify(service: vector.service, region: vector.region)
        #expect(verdict.bodyVerified == (vector.header("x-amz-content-sha256") != "UNSIGNED-PAYLOAD"))
    }

    @Test("another method, path, query, secret or signature is a mismatch", arguments: SignatureVector.inHeader)
    func mismatches(_ vector: SignatureVector) {
        #expect(vector.changed { $0.method = $0.method == "PUT" ? "POST" : "PUT" }.failure() == .mismatch)
        #expect(vector.addingParameter("z=1").failure() == .mismatch)
        #expect(vector.changed { $0.secret += "x" }.failure() == .mismatch)
        #expect(vector.changed { $0.secret = "" }.failure() == .mismatch)
        let isBare = vector.url == "https://api.example.com"
        if !isBare { #expect(vector.lengtheningPath().failure() == .mismatch) }
        let last = vector.header("authorization")!.last!
        #expect(
            vector.settingHeader("authorization", vector.header("authorization")!.dropLast() + (last == "0" ? "1" : "0")).failure()
                == .mismatch)
        #expect(vector.replacingInAuthorization("/\(vector.region)/", "/mars-1/").failure() == .mismatch)
        #expect(vector.replacingInAuthorization("/\(vector.service)/", vector.isS3 ? "/s3-outposts2/" : "/other/").failure() == .mismatch)
    }

    @Test(
        "another body is a body hash error if its hash was declared, and ignored if it was not signed",
        arguments: SignatureVector.inHeader)
    func otherBody(_ vector: SignatureVector) {
        let altered = vector.changed { $0.bodySha256 = String(repeating: "ab", count: 32) }
        switch vector.header("x-amz-content-sha256") {
        case nil: #expect(altered.failure() == .mismatch)
        case "UNSIGNED-PAYLOAD": #expect(altered.failure() == nil)
        default: #expect(altered.failure() == .bodyHash)
        }
    }

    @Test("changing or removing any signed header is detected", arguments: SignatureVector.inHeader)
    func everyHeader(_ vector: SignatureVector) {
        for name in vector.signedHeaders where name != "host" {
            let changed = vector.settingHeader(name, vector.header(name)! + "x").failure()
            let removed = vector.settingHeader(name, nil).failure()
            switch name {
            case "x-amz-date":
                #expect(changed == .badDate)
                #expect(removed == .malformed("X-Amz-Date is missing"))
            case "date":
                #expect(changed == .malformed("X-Amz-Date is missing"))
                #expect(removed == .malformed("X-Amz-Date is missing"))
            case "x-amz-content-sha256":
                #expect(changed == .malformed("x-amz-content-sha256 must be a SHA-256, UNSIGNED-PAYLOAD or STREAMING-…"))
                #expect(removed == .missing(name))
            default:
                #expect(changed == .mismatch, "\(name) was changed")
                #expect(removed == .missing(name))
            }
        }
    }

    @Test("another host in the URL or the header is rejected", arguments: SignatureVector.inHeader)
    func otherHost(_ vector: SignatureVector) {
        guard vector.url.contains("api.example.com") else { return }
        let hasHeader = vector.header("host") != nil
        #expect(vector.replacingInURL("api.example.com", "c.example.com").failure() == (hasHeader ? .otherHost : .mismatch))
        #expect(vector.settingHeader("host", nil).addingHeader("Host", "c.example.com").failure() == .otherHost)
    }

    @Test("an unsigned x-amz header is rejected, and any other unsigned header is ignored", arguments: SignatureVector.inHeader)
    func unsignedHeaders(_ vector: SignatureVector) {
        #expect(vector.addingHeader("X-Amz-Acl", "public").failure() == .malformed("the header x-amz-acl is not signed"))
        #expect(vector.addingHeader("Accept", "*/*").failure() == nil)
    }

    @Test("the clock skew can be at most 5 minutes, for S3 at most 15", arguments: SignatureVector.inHeader)
    func skew(_ vector: SignatureVector) {
        for edge in [-vector.skew, vector.skew] {
            #expect(vector.failure(at: vector.signedAt + edge) == nil)
            #expect(
                vector.failure(at: vector.signedAt + edge + edge.signum())
                    == .skewed(signedAt: vector.signedAt, maximumSeconds: vector.skew))
        }
    }

    @Test("a signature for another service, region or date is rejected by name", arguments: SignatureVector.inHeader)
    func scope(_ vector: SignatureVector) throws {
        #expect(vector.failure(service: "else") == .scope(part: .service, expected: "else", actual: vector.service))
        #expect(vector.failure(region: "else") == .scope(part: .region, expected: "else", actual: vector.region))
        let day = try vector.parse().scope.date
        #expect(
            vector.replacingInAuthorization("/\(day)/", "/20010101/").failure() == .scope(part: .date, expected: day, actual: "20010101"))
        #expect(vector.replacingInAuthorization("aws4_request", "aws5_request").failure() == .badCredential)
    }

    @Test(
        "a malformed Authorization header is rejected with the reason",
        arguments: [
            ("AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA1 ", "Authorization does not begin with AWS4-HMAC-SHA256"),
            ("AWS4-HMAC-SHA256 ", "Bearer ", "Authorization does not begin with AWS4-HMAC-SHA256"),
            ("Signature=", "Signature=0", "the signature is not 64 hexadecimal digits"),
            ("Signature=", "Signature=é", "the signature is not 64 hexadecimal digits"),
            (", Signature", ", Signatur", "the signature is not 64 hexadecimal digits"),
            ("SignedHeaders=", "SignedHeaders=", nil),
            ("SignedHeaders=host", "SignedHeaders=x-none", "the host header is not signed"),
            ("SignedHeaders=host", "SignedHeaders=host;host", "SignedHeaders is missing or contains a header twice"),
            ("SignedHeaders=host", "SignedHeaders=accept;host", "the signed header accept is missing"),
            ("Credential=", "Credential=/", "the credential does not have the form <access key id>/<date>/<region>/<service>/aws4_request"),
            ("Credential=", "Credentials=", "the credential does not have the form <access key id>/<date>/<region>/<service>/aws4_request"),
            (", SignedHeaders", ", Signature=a, SignedHeaders", "Authorization has a duplicate field or a field without a value"),
            (", SignedHeaders", ", Nothing, SignedHeaders", "Authorization has a duplicate field or a field without a value"),
        ])
    func malformed(_ text: String, _ other: String, _ reason: String?) {
        let vector = SignatureVector.inHeader[0]
        #expect(vector.replacingInAuthorization(text, other).failure() == reason.map { .malformed($0) })
    }

    @Test("spaces between the fields, the order of headers and the case of their names are ignored")
    func lenient() {
        for vector in SignatureVector.inHeader {
            #expect(vector.replacingInAuthorization(", ", ",").failure() == nil)
            #expect(vector.changed { $0.headers.reverse() }.failure() == nil)
            #expect(vector.changed { $0.headers = $0.headers.map { ($0.name.uppercased(), $0.value) } }.failure() == nil)
        }
    }

    @Test("a request without a signature or with two signatures is rejected")
    func signatures() {
        let vector = SignatureVector.inHeader[0]
        #expect(vector.settingHeader("authorization", nil).failure() == .malformed("the Authorization header is missing"))
        let twice = vector.addingHeader("authorization", vector.header("authorization")!)
        #expect(twice.failure() == .malformed("there are several Authorization headers"))
        let both = SignatureVector.presigned[0].addingHeader("Authorization", vector.header("authorization")!)
        #expect(both.failure() == .malformed("both the Authorization header and the query contain a signature"))
    }

    @Test("a session token that was added after signing is read")
    func unsignedToken() throws {
        let vector = try #require(SignatureVector.inHeader.first { $0.sessionToken == nil })
        let added = vector.addingHeader("X-Amz-Security-Token", "later")
        #expect(added.failure() == nil)
        #expect(try added.parse().sessionToken == "later")
    }

    @Test("a mismatch contains the expected texts, without the session token")
    func mismatchIsTold() throws {
        for vector in SignatureVector.all {
            guard let token = vector.sessionToken else { continue }
            let failure = #expect(throws: SignatureV4Failure.self) { try vector.changed { $0.secret += "x" }.verify() }
            guard case .mismatch(let canonicalRequest, let stringToSign) = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(canonicalRequest.hasPrefix(vector.method.uppercased() + "\n/") && canonicalRequest.contains("***"))
            #expect(!canonicalRequest.contains(token) && !canonicalRequest.contains(token.replacing("/", with: "%2F").prefix(9)))
            #expect(stringToSign.hasPrefix("AWS4-HMAC-SHA256\n2"))
        }
    }
}
