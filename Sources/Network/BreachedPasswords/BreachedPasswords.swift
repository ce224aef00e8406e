import Crypto
import Platform

/// Asks a range service whether a password is among those that have leaked, without telling it which: it learns the first five digits of
/// a SHA-1, and pads its answer (the k-anonymity interface of Have I Been Pwned, version 3).
public struct BreachedPasswords: Sendable {
    /// What is known about a password.
    public enum Outcome: Hashable, Sendable {
        case notFound
        /// How often it has been seen.
        case found(times: Int)
        /// Nothing is known. The password is to be taken; that it was not checked belongs into the audit log.
        case unavailable(Unavailability)
    }

    public enum Unavailability: Hashable, Sendable, CustomStringConvertible {
        case noAnswer(HTTPFailure)
        case status(Int)
        /// Not lines of 35 hexadecimal digits, a colon and a number.
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
    ///   - url: what the five digits are put behind, such as `https://api.pwnedpasswords.com/range/`.
    ///   - policy: without changes an answer is waited for at most 2 s, for somebody is waiting.
    public init(url: String, http: any HTTPClient, policy: HTTPPolicy = HTTPPolicy(timeoutMilliseconds: 2000)) {
        self.url = url.hasSuffix("/") ? url : url + "/"
        self.http = http
        self.policy = policy
    }

    /// Looks up a password, as the bytes of its UTF-8. Never throws: whoever cannot ask goes on.
    public func look(up password: [UInt8]) -> Outcome {
        let digits = Hex.encode(Hash.sha1(password)).uppercased()
        let request = HTTPRequest(url: url + digits.prefix(5), headers: [("Add-Padding", "true")], policy: policy)
        let response: HTTPResponse
        do throws(HTTPFailure) { response = try http.send(request) } catch { return .unavailable(.noAnswer(error)) }
        guard response.status == 200 else { return .unavailable(.status(response.status)) }
        guard let times = Self.times(Array(digits.dropFirst(5).utf8), in: response.body) else { return .unavailable(.malformed) }
        return times == 0 ? .notFound : .found(times: times)
    }

    /// How often the rest of a digest stands in a range, 0 if it does not or only pads; nil if this is no range.
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
