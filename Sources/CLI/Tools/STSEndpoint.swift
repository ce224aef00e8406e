import Arguments
import Glibc
import JSON
import Network
import Platform

/// An AWS STS that exchanges tokens for credentials (AssumeRoleWithWebIdentity), such as https://sts.eu-west-1.amazonaws.com.
struct STSEndpoint: Equatable {
    let url: String
    /// The region in the host name, if it has one.
    let region: String?

    /// - Throws: `ValidationError` unless the URL is an https URL, or an http URL of this machine, without user name, query and fragment.
    init(_ text: String, from source: String) throws {
        let refusal = ValidationError(
            "\(source) must be an https URL, such as https://sts.eu-west-1.amazonaws.com, or an http URL of 127.0.0.1 or localhost.")
        guard let endpoint = try? HTTPURL(text), endpoint.isPlainASCII, endpoint.userInformation == nil, endpoint.query == nil,
            endpoint.fragment == nil, Self.addresses.admitsScheme(of: endpoint)
        else { throw refusal }
        url = text.hasSuffix("/") ? text : text + "/"
        let labels = endpoint.host.split(separator: ".")
        region = labels.count > 3 && labels[0] == "sts" && endpoint.host.includes(".amazonaws.com") ? String(labels[1]) : nil
    }

    /// The user has named the host, so it can be in a private network.
    private static let addresses = AddressPolicy(allowsInsecureLoopback: true, allowsPrivateNetwork: true)

    /// Exchanges a token. Errors that can be temporary are tried three times.
    ///
    /// - Throws: `ToolFailure` with the error code of STS.
    func assume(
        role: String, session: CredentialRequest.RoleSession, token: SourceToken, settings: StoreSettings
    ) throws -> AWSCredentials {
        var fields = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", session.sessionName), ("WebIdentityToken", token.text),
        ]
        if let seconds = session.seconds { fields.append(("DurationSeconds", "\(seconds)")) }
        var policy = HTTPPolicy(addresses: Self.addresses)
        (policy.timeoutMilliseconds, policy.maximumRedirects) = (8_000, 0)
        // The request needs no signature: the token is the proof.
        let request = HTTPRequest(
            .POST, url: url, headers: [("content-type", "application/x-www-form-urlencoded; charset=utf-8"), ("accept", "text/xml")],
            body: Array(fields.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&").utf8), policy: policy)
        let client = CurlClient(try settings.outgoing(testing: false))
        var attempts = 0
        while true {
            switch try answer(to: request, client, account: CredentialRequest.account(ofRole: role), hiding: token.text) {
            case .success(let credentials): return credentials
            case .failure(let failure):
                attempts += 1
                guard attempts < 3 else { throw failure }
                usleep(UInt32(attempts) * 400_000)
            }
        }
    }

    /// - Returns: The credentials, or an error that can be temporary.
    /// - Throws: `ToolFailure` for any other error.
    private func answer(
        to request: HTTPRequest, _ client: CurlClient, account: String?, hiding token: String
    ) throws -> Result<AWSCredentials, ToolFailure> {
        let response: HTTPResponse
        do { response = try client.send(request) } catch {
            let failure = ToolFailure(1, "stsUnavailable", error.description)
            guard error.isRetryable else { throw failure }
            return .failure(failure)
        }
        let answer = STSAnswer(response.body)
        if response.status == 200 {
            guard let credentials = answer.credentials(account) else {
                throw ToolFailure(1, "stsAnswerInvalid", "The answer of \(url) contains no credentials.")
            }
            return .success(credentials)
        }
        let failure = answer.failure(response.status, url: url, token: token)
        guard response.status >= 500 || response.status == 429 || answer.isTemporary else { throw failure }
        return .failure(failure)
    }
}

/// The XML answer of AWS STS. Its elements have no attributes that matter and do not repeat.
struct STSAnswer {
    private let text: String

    init(_ body: [UInt8]) { text = String(decoding: body.prefix(256 * 1024), as: UTF8.self) }

    /// Returns the text of the first element with this name.
    func value(_ name: String) -> String? {
        guard let start = text.firstRange(of: "<\(name)>"), let end = text[start.upperBound...].firstRange(of: "</\(name)>") else {
            return nil
        }
        var value = String(text[start.upperBound..<end.lowerBound])
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")] {
            value = value.replacing(entity, with: character)
        }
        return value
    }

    func credentials(_ account: String?) -> AWSCredentials? {
        guard let id = value("AccessKeyId"), let secret = value("SecretAccessKey"), let token = value("SessionToken"),
            let expiresAt = value("Expiration").flatMap(Self.seconds)
        else { return nil }
        return AWSCredentials(accessKeyId: id, secretAccessKey: secret, sessionToken: token, expiresAt: expiresAt, accountId: account)
    }

    /// Whether the error is worth another attempt: STS could not fetch the keys of the issuer, or limits the rate.
    var isTemporary: Bool { ["IDPCommunicationError", "Throttling", "ThrottlingException"].contains(value("Code") ?? "") }

    /// Returns the error with the code and the message of STS, without the token.
    func failure(_ status: Int, url: String, token: String) -> ToolFailure {
        guard let code = value("Code"), !code.isEmpty, code.utf8.allSatisfy({ (0x30...0x7A) ~= $0 || $0 == 0x2E }) else {
            return ToolFailure(1, "stsUnavailable", "\(url) answered with the status \(status) and without an error of AWS STS.")
        }
        let message = (value("Message") ?? "").replacing(token, with: "…")
        return ToolFailure(1, String(code.prefix(64)), "\(url) refused the exchange: \(String(message.prefix(400)))")
    }

    /// Reads a time such as 2026-11-23T15:00:00Z, with or without a fraction.
    static func seconds(_ text: String) -> Int64? {
        guard text.hasSuffix("Z"), let mark = text.firstIndex(of: "T") else { return nil }
        let date = text[..<mark].split(separator: "-").compactMap { Int32($0) }
        let clock = text[text.index(after: mark)...].dropLast().prefix { $0 != "." }.split(separator: ":").compactMap { Int32($0) }
        guard date.count == 3, clock.count == 3, 1970...9999 ~= date[0] else { return nil }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (date[0] - 1900, date[1] - 1, date[2])
        (time.tm_hour, time.tm_min, time.tm_sec) = (clock[0], clock[1], clock[2])
        return Int64(timegm(&time))
    }
}
