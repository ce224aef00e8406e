import Foundation
import JSON
import Testing
@testable import IdentityPools

/// A request signed by botocore (see `Vectors/make-signature-vectors.py`), with functions that return modified
/// copies.
struct SignatureVector: Sendable, CustomTestStringConvertible {
    var method: String
    var url: String
    var headers: [(name: String, value: String)]
    var bodySha256: String?
    var secret: String
    let sessionToken: String?
    let accessKeyId: String
    let service: String
    let region: String
    let signedAt: Int64
    /// The validity of a presigned URL in seconds, or `nil` for a signature in a header.
    let expiresSeconds: Int64?

    static let all: [SignatureVector] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/signature-vectors.json")
        let root = try! JSONValue(parsing: [UInt8](Data(contentsOf: file)))
        return root.array!.map(SignatureVector.init)
    }()
    static var inHeader: [SignatureVector] { all.filter { $0.expiresSeconds == nil } }
    static var presigned: [SignatureVector] { all.filter { $0.expiresSeconds != nil } }

    private init(_ json: JSONValue) {
        method = json["method"]!.string!
        url = json["url"]!.string!
        headers = json["headers"]!.array!.map { ($0[0]!.string!, $0[1]!.string!) }
        bodySha256 = json["bodySha256"]?.string
        secret = json["secret"]!.string!
        sessionToken = json["sessionToken"]?.string
        accessKeyId = json["accessKeyId"]!.string!
        service = json["service"]!.string!
        region = json["region"]!.string!
        signedAt = json["signedAt"]!.int!
        expiresSeconds = json["expiresSeconds"]?.int
    }

    var testDescription: String { "\(method) \(url.prefix(60)) \(service)" }
    var isS3: Bool { service.hasPrefix("s3") }
    var skew: Int64 { isS3 ? 900 : 300 }

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

    var signedHeaders: [String] {
        let list = header("authorization")!.components(separatedBy: "SignedHeaders=")[1].prefix { $0 != "," }
        return list.split(separator: ";").map { String($0) }
    }

    func parse() throws -> SignedHTTPRequest {
        try SignatureV4.parse(method: method, url: url, headers: headers.map { ($0.name, $0.value) }, bodySha256: bodySha256)
    }

    @discardableResult
    func verify(at now: Int64? = nil, service: String? = nil, region: String? = nil) throws -> SignatureV4.Verdict {
        try SignatureV4.judge(parse(), secret: secret, now: now ?? signedAt, service: service, region: region)
    }

    /// The failure of verification, or `nil` if it succeeds. A mismatch is returned without its texts.
    func failure(at now: Int64? = nil, service: String? = nil, region: String? = nil) -> SignatureV4Failure? {
        do {
            try verify(at: now, service: service, region: region)
            return nil
        } catch SignatureV4Failure.mismatch { return .mismatch } catch { return error as? SignatureV4Failure }
    }

    // MARK: Changes

    func changed(_ change: (inout SignatureVector) -> Void) -> SignatureVector {
        var copy = self
        change(&copy)
        return copy
    }

    func settingHeader(_ name: String, _ value: String?) -> SignatureVector {
        changed { vector in
            vector.headers = vector.headers.compactMap { $0.name.lowercased() == name ? value.map { (name, $0) } : $0 }
        }
    }

    func addingHeader(_ name: String, _ value: String) -> SignatureVector { changed { $0.headers.append((name, value)) } }

    func replacingInURL(_ text: String, _ other: String) -> SignatureVector {
        changed { $0.url = $0.url.replacingOccurrences(of: text, with: other) }
    }

    func replacingInAuthorization(_ text: String, _ other: String) -> SignatureVector {
        settingHeader("authorization", header("authorization")!.replacingOccurrences(of: text, with: other))
    }

    func addingParameter(_ pair: String) -> SignatureVector {
        changed { vector in
            let parts = vector.url.split(separator: "#", maxSplits: 1)
            vector.url = parts[0] + (parts[0].contains("?") ? "&" : "?") + pair + (parts.count > 1 ? "#\(parts[1])" : "")
        }
    }

    func lengtheningPath() -> SignatureVector {
        changed { vector in
            let end = vector.url.unicodeScalars.firstIndex { $0 == "?" || $0 == "#" } ?? vector.url.endIndex
            vector.url.insert("x", at: end)
        }
    }

    /// The presigned URL without the parameter, or with another value for it.
    func settingParameter(_ name: String, _ value: String?) -> SignatureVector {
        changed { vector in
            let parts = vector.url.split(separator: "?", maxSplits: 1)
            let pairs = parts[1].split(separator: "&", omittingEmptySubsequences: false).compactMap { pair -> String? in
                pair.hasPrefix("\(name)=") ? value.map { "\(name)=\($0)" } : String(pair)
            }
            vector.url = "\(parts[0])?\(pairs.joined(separator: "&"))"
        }
    }

    func parameter(_ name: String) -> String? {
        url.split(separator: "&").first { $0.hasPrefix("\(name)=") || $0.hasSuffix("?\(name)") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }
}

extension SignatureV4Failure {
    static let mismatch = SignatureV4Failure.mismatch(canonicalRequest: "", stringToSign: "")
    static let badDate = SignatureV4Failure.malformed("X-Amz-Date does not have the form 20261121T120000Z")
    static let badDigits = SignatureV4Failure.malformed("the signature is not 64 hexadecimal digits")
    static let badCredential = SignatureV4Failure.malformed(
        "the credential does not have the form <access key id>/<date>/<region>/<service>/aws4_request")
    static let otherHost = SignatureV4Failure.malformed("the URL and the host header contain different hosts")
    static let badExpires = SignatureV4Failure.malformed("X-Amz-Expires is missing or not between 1 and 604800")
    static func missing(_ header: String) -> SignatureV4Failure { .malformed("the signed header \(header) is missing") }
}
