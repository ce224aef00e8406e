import Crypto
import Platform

/// Checks whether a password has leaked, without revealing it to the service: the service receives the first five digits of the SHA-1
/// digest and pads its response (the k-anonymity range API of Have I Been Pwned, version 3).
public struct BreachedPasswords: Sendable {
    /// The result of a check.
    public enum Outcome: Hashable, Sendable {
        case notFound
        /// The password has leaked; `times` is the number of occurrences.
        case found(times: Int)
        /// The check failed. The caller accepts the password and records in the audit log that it was not checked.
        case unavailable(Unavailability)
    }

    public enum Unavailability: Hashable, Sendable, CustomStringConvertible {
        case noAnswer(HTTPFailure)
        case status(Int)
        /// The response does not consist of lines with 35 hexadecimal digits, a colon and a number.
        case malformed

        public var description: String {
            switch self {
            case .noAnswer(let failure): "Breached passwords cannot be checked. \(failure)"
            case .status(let status): "Breached passwords cannot be checked: the service returned status \(status)."
            case .malformed: "Breached passwords cannot be checked: the response of the service is not valid."
            }
        }
    }

    private let url: String
    private let http: any HTTPClient
    private let policy: HTTPPolicy

    /// - Parameters:
    ///   - url: The URL to which the five digits are appended, such as `https://api.pwnedpasswords.com/range/`.
    ///   - policy: The limits of the request. The default time limit is 2 seconds, because a user is waiting for the result.
    public init(url: String, http: any HTTPClient, policy: HTTPPolicy = HTTPPolicy(timeoutMilliseconds: 2000)) {
        self.url = url.hasSuffix("/") ? url : url + "/"
        self.http = http
        self.policy = policy
    }

    /// Checks a password, given as UTF-8 bytes. Never throws: an error of the service results in `unavailable`.
    public func look(up password: [UInt8]) -> Outcome {
        let digits = Hex.encode(Hash.sha1(password)).uppercased()
        let request = HTTPRequest(url: url + digits.prefix(5), headers: [("Add-Padding", "true")], policy: policy)
        let response: HTTPResponse
        do throws(HTTPFailure) { response = try http.send(request) } catch { return .unavailable(.noAnswer(error)) }
        guard response.status == 200 else { return .unavailable(.status(response.status)) }
        guard let times = Self.times(Array(digits.dropFirst(5).utf8), in: response.body) else { return .unavailable(.malformed) }
        return times == 0 ? .notFound : .found(times: times)
    }

    /// Returns the number of occurrences of a digest suffix in a range response, or 0 if the suffix is missing or is padding. Returns `nil`
    /// if the response is not valid.
    private static func times(_ rest: [UInt8], in body: [UInt8]) -> Int? {
        var times = 0
        for line in body.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            guard line.count > 36, line[line.startIndex + 35] == UInt8(ascii: ":"), line.prefix(35).allSatisfy(isHexadecimal),
                let count = Int(String(decoding: line.dropFirst(36), as: UTF8.self)), count >= 0
            else { return nil }
            let digits = line.prefix(35).map { $0 >= UInt8(ascii: "a") ? $0 - 0x20 : $0 }
            if digits == rest { times = count }
        }
        return times
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}
