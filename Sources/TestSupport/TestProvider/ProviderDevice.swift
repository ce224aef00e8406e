import Accounts
import Contract
import Crypto
import JSON
import Loopback
import Platform
import ServiceContext

/// A device authorization that waits for the user (RFC 8628).
struct ProviderDevice: Sendable {
    enum CallbackDisposition: Sendable {
        case waiting, refused
        case approved(sessionId: String, refreshToken: String)
    }

    static let lifetimeSeconds: Int64 = 600
    static let intervalSeconds: Int64 = 5

    let grant: ProviderState.Grant
    let userCode: String
    let expiresAt: Int64
    var interval = Self.intervalSeconds
    var polledAt: Int64?
    /// The time of the last poll on the monotonic clock, or `nil` after loading from a file.
    var polledAtNanoseconds: UInt64?
    var fate = CallbackDisposition.waiting

    /// Twenty letters without vowels, so that user codes do not form words (RFC 8628 §6.1).
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    /// Returns a random user code: eight letters in two groups.
    static func newUserCode(_ random: any RandomSource) -> String {
        // 240 is the greatest multiple of 20 below 256, so all letters are equally likely.
        var code: [Character] = []
        while code.count < 8 { code += random.bytes(16).filter { $0 < 240 }.map { letters[Int($0) % 20] } }
        return String(code[..<4]) + "-" + String(code[4..<8])
    }

    /// Returns whether the device polls too early, by both the store's clock and the monotonic clock. A frozen virtual clock therefore does
    /// not block polling.
    ///
    /// - Parameter nanoseconds: The current time of `Monotonic`.
    func isAskedTooSoon(at now: Int64, _ nanoseconds: UInt64) -> Bool {
        guard let polledAt, let polledAtNanoseconds else { return false }
        return now < polledAt + interval && nanoseconds < polledAtNanoseconds + UInt64(interval) * 1_000_000_000
    }

    /// Returns the user code as it is compared: only letters, in uppercase.
    static func plain(_ userCode: String) -> String { userCode.uppercased().filter { $0.isASCII && $0.isLetter } }
}

extension TestProvider {
    /// Issues a device code and a user code (RFC 8628 §3.1 and §3.2).
    func deviceCodes(of issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        try request.form.checkRepeated()
        let client = try client(in: request, at: .device, of: issuer)
        let scopes = Scopes(request.form["scope"] ?? "")
        let audience = try issuer.audience(in: request.form)
        try issuer.check(scopes, for: audience)
        let (code, now) = (Base64URL.encode(context.random.bytes(24)), context.clock.now)
        let device = ProviderDevice(
            grant: ProviderState.Grant(
                issuer: issuer.name, clientId: client.id, scopes: scopes, audience: audience),
            userCode: ProviderDevice.newUserCode(context.random), expiresAt: now + ProviderDevice.lifetimeSeconds)
        memory.withLock { $0.keep(device, as: code, at: now) }
        let page = "\(issuer.url)/\(ProviderEndpoint.activate.rawValue)"
        return LoopbackResponse(json: [
            "device_code": .string(code), "user_code": .string(device.userCode), "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?user_code=\(device.userCode)"),
            "expires_in": .number(JSONNumber(ProviderDevice.lifetimeSeconds)),
            "interval": .number(JSONNumber(ProviderDevice.intervalSeconds)),
        ])
    }

    /// Shows the page for the user code, and then the login page (RFC 8628 §3.3).
    func activate(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        try refuseElsewhere(request)
        let now = context.clock.now
        let typed = request.query["user_code"] ?? ""
        let found = memory.withLock { memory in
            memory.devices.all.map(\.value).first {
                $0.grant.issuer == issuer.name && ProviderDevice.plain($0.userCode) == ProviderDevice.plain(typed) && now < $0.expiresAt
            }
        }
        guard let found, case .waiting = found.fate else {
            return LoginPage.userCode(typed, isWrong: !typed.isEmpty)
        }
        let errand = LoginPurpose.device(userCode: found.userCode, clientId: found.grant.clientId)
        switch request.form["step"] {
        case nil: return LoginPage(issuer, errand, .address(""), people: try people(of: issuer)).response
        case "refuse":
            settle(found.userCode, of: issuer, .refused)
            return HTMLPage(
                title: "Sign-in canceled", sign: .warning, content: "<p>The device is not signed in. You can close this window.</p>"
            ).response
        default: return try logIn(to: issuer, errand, request.form)
        }
    }

    /// Stores the outcome of a device authorization.
    func settle(_ userCode: String, of issuer: ProviderIssuer, _ fate: ProviderDevice.CallbackDisposition) {
        memory.withLock { memory in
            for (code, device) in memory.devices.all where device.userCode == userCode && device.grant.issuer == issuer.name {
                memory.devices[code]?.fate = fate
            }
        }
    }

    /// The next step for a device whose code is not valid.
    private static let again = "Request a new code at the device endpoint."

    /// Returns the response to a poll of a device (RFC 8628 §3.4 and §3.5).
    func pollDevice(_ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters) throws -> JSONObject {
        guard let code = form["device_code"] else { throw OAuthRefusal("invalid_request", "device_code is missing.") }
        let unknown = OAuthRefusal("invalid_grant", "The device code is unknown for this client or has expired. \(Self.again)")
        let now = context.clock.now
        let device = try memory.withLock { memory in
            guard let device = memory.devices[code], device.grant.issuer == issuer.name, device.grant.clientId == client.id else {
                throw unknown
            }
            guard now < device.expiresAt else {
                throw OAuthRefusal("expired_token", "The code was not entered in time. \(Self.again)")
            }
            if case .waiting = device.fate {
                let nanoseconds = Monotonic.nanoseconds()
                var asked = device
                (asked.polledAt, asked.polledAtNanoseconds) = (now, nanoseconds)
                defer { memory.devices[code] = asked }
                guard !device.isAskedTooSoon(at: now, nanoseconds) else {
                    asked.interval = min(device.interval + 5, ProviderDevice.lifetimeSeconds)
                    throw OAuthRefusal("slow_down", "Wait \(asked.interval) seconds between requests.")
                }
                throw OAuthRefusal("authorization_pending", "The code has not been entered yet.")
            }
            return device
        }
        guard case .approved(let sessionId, let refreshToken) = device.fate else {
            memory.withLock { $0.devices[code] = nil }
            throw OAuthRefusal("access_denied", "The user canceled the sign-in. \(Self.again)")
        }
        guard let standing = try standing(of: sessionId, at: now) else {
            throw OAuthRefusal("invalid_grant", "The session was ended. \(Self.again)")
        }
        let key = try signingKey(of: issuer, at: now)
        // The code is used up last, so that a device can repeat the request if the store was busy.
        var grant = device.grant
        grant.thumbprint = client.keptThumbprint
        guard memory.withLock({ [grant] in $0.spend(device: code, sessionId, for: grant) }) else { throw unknown }
        grant.thumbprint = client.thumbprint
        return try answer(
            GrantedSession(
                standing: standing, grant: grant,
                refreshToken: device.grant.scopes.names.contains("offline_access") ? refreshToken : nil), of: issuer, key, at: now)
    }
}
