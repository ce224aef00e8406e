import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// The blocking functions of a project's configuration (`blockingFunctions.triggers`), called as the emulator calls those of its functions
/// emulator. Only in testing stores: the requests are not signed, and the configuration names any address.
struct FirebaseFunctions: HookFunctions {
    let isTesting: Bool

    /// The settings of `forwardInboundCredentials`, and the details that a function gets with each of them.
    private static let forwarded: [String: [FirebaseHookDetail]] = [
        "idToken": [.idToken], "accessToken": [.accessToken, .tokenSecret], "refreshToken": [],
    ]

    func function(
        for hook: HookName, tenantId: String, in tx: Transaction, _ params: () throws -> JSONObject
    ) throws -> HookFunction? {
        guard isTesting else { return nil }
        let project = tenantId.split(separator: ".", maxSplits: 1).first.map(String.init) ?? tenantId
        guard let config = try tx.vendorRecord(project, "config", "project")?["blockingFunctions"]?.object else { return nil }
        guard let event = try Self.event(of: hook, params) else { return nil }
        guard let url = config["triggers"]?[event]?["functionUri"]?.string, !url.isEmpty else { return nil }
        let wanted = config["forwardInboundCredentials"]?.object?.members.filter { $0.1 == true }.map { $0.0 } ?? []
        let details = [FirebaseHookDetail.rawUserInfo] + wanted.flatMap { Self.forwarded[$0] ?? [] }
        return HookFunction(url: url, details: Set(details.map(\.rawValue)))
    }

    /// Returns the event of a hook, or `nil` if functions are not called for it.
    private static func event(of hook: HookName, _ params: () throws -> JSONObject) rethrows -> String? {
        switch hook {
        case .beforeCreate: "beforeCreate"
        case .beforeSignIn: "beforeSignIn"
        case .beforeSendMessage: try FirebaseMessageEvent(params()["message"]?.object ?? [:])?.name
        }
    }

    func body(for question: FunctionQuestion, at now: Int64) -> [UInt8] {
        let (params, url) = (question.params, question.function.url)
        let parts = (params["tenantId"]?.string ?? "").split(separator: ".", maxSplits: 1).map(String.init)
        var claims: JSONObject = [
            "iss": .string(FirebaseTokens.Issuer.token.rawValue + (parts.first ?? "")), "aud": .string(url),
            "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 600)), "user_agent": "mintmark",
            "ip_address": "127.0.0.1", "locale": "en",
        ]
        if parts.count == 2 { claims["tenant_id"] = .string(parts[1]) }
        if let event = FirebaseMessageEvent(params["message"]?.object ?? [:]) {
            // These events have no user, as in the original.
            for (name, value) in event.claims.members { claims[name] = value }
            claims["event_id"] = .string("\(now)-\(event.to)")
        } else {
            let user = Self.user(
                params["account"]?.object ?? [:], signsInByLink: params["provider"] == "code",
                firebaseTenant: parts.count == 2 ? parts[1] : nil)
            let id = user["uid"] ?? ""
            (claims["sub"], claims["user_record"]) = (id, .object(user))
            claims["event_id"] = .string("\(now)-\(id.string ?? "")")
            claims["event_type"] = question.hook == .beforeCreate ? "beforeCreate" : "beforeSignIn"
            claims["sign_in_method"] = params["provider"].map { $0 == "code" ? "emailLink" : $0 }
            claims["sign_in_second_factor"] = params["secondFactor"].map { $0 == "sms" ? "phone" : $0 }
            for (name, value) in question.details.members where question.function.details.contains(name) { claims[name] = value }
        }
        return JSONValue.object(["data": ["jwt": .string(FirebaseTokens.unsigned(claims))]]).bytes
    }

    private static func user(_ account: JSONObject, signsInByLink: Bool, firebaseTenant: String?) -> JSONObject {
        var user: JSONObject = ["uid": account["accountId"] ?? "", "custom_claims": account["claims"] ?? [:]]
        user["email"] = account["email"]
        user["email_verified"] = account["emailVerified"]
        user["display_name"] = account["attributes"]?["displayName"]
        user["photo_url"] = account["attributes"]?["picture"]
        user["disabled"] = account["disabled"]
        user["phone_number"] = account["phoneNumber"]
        user["provider_data"] = .array(providers(account, signsInByLink: signsInByLink))
        user["metadata"] = .object(times(account))
        user["tenant_id"] = firebaseTenant.map { .string($0) }
        let factors = (account["factors"]?.array ?? []).compactMap(factor)
        if !factors.isEmpty { user["multi_factor"] = ["enrolled_factors": .array(factors)] }
        return user
    }

    private static func providers(_ account: JSONObject, signsInByLink: Bool) -> [JSONValue] {
        var all = (account["providers"]?.array ?? []).compactMap { entry -> JSONValue? in
            guard let login = entry.object, let provider = login["providerId"] else { return nil }
            // Every account with an address and no password can get codes. The original API shows only what users have used.
            if provider == "code", !signsInByLink { return nil }
            var shown: JSONObject = ["provider_id": provider == "code" ? "password" : provider]
            shown["uid"] = login["subject"]
            shown["email"] = login["email"]
            shown["display_name"] = login["displayName"]
            shown["photo_url"] = login["photoUrl"]
            return .object(shown)
        }
        if let number = account["phoneNumber"] { all.append(["provider_id": "phone", "uid": number, "phone_number": number]) }
        return all
    }

    /// The times in milliseconds, as the emulator's functions get them.
    private static func times(_ account: JSONObject) -> JSONObject {
        var times: JSONObject = [:]
        for (name, member) in [("creation_time", "createdAt"), ("last_sign_in_time", "lastSignInAt")] {
            times[name] = account[member]?.int.map { .number(JSONNumber($0 * 1000)) }
        }
        return times
    }

    private static func factor(_ value: JSONValue) -> JSONValue? {
        guard let factor = value.object, let id = factor["factorId"] else { return nil }
        var shown: JSONObject = ["uid": id, "factor_id": factor["kind"] == "sms" ? "phone" : factor["kind"] ?? "phone"]
        shown["display_name"] = factor["displayName"]
        shown["phone_number"] = factor["phoneNumber"]
        shown["enrollment_time"] = factor["enrolledAt"]?.int.map { .string(FirebaseCall.rfc3339($0)) }
        return .object(shown)
    }

    func reply(status: Int, _ body: [UInt8], of hook: HookName) -> HookReply {
        guard (200...299).contains(status) else {
            // Applications look for these words, which the original API uses, and for the JSON after them.
            let text = String(decoding: body.prefix(1000), as: UTF8.self)
            return .failed(.error, "The function returned status \(status). HTTP Cloud Function returned an error: \(text)")
        }
        guard let answer = (try? JSONValue(parsing: body))?.object else {
            return .failed(.invalidAnswer, "Response body is not valid JSON.")
        }
        if let override = answer["recaptchaActionOverride"], override != .null {
            switch override {
            case "ALLOW": break
            // Nothing is assessed here, so the function has the last word.
            case "BLOCK": return .result(["refuse": "The function returned recaptchaActionOverride BLOCK."])
            default: return .failed(.invalidAnswer, "recaptchaActionOverride must be ALLOW or BLOCK.")
            }
        }
        guard hook != .beforeSendMessage, let given = answer["userRecord"], given != .null else { return .result(.null) }
        guard let record = given.object, let mask = record["updateMask"]?.string, !mask.isEmpty else {
            return .failed(.invalidAnswer, "Response UserRecord is missing updateMask.")
        }
        var decision: JSONObject = [:]
        for field in mask.split(separator: ",").map(String.init) {
            let value = record[field] ?? .null
            switch field {
            case "displayName": decision[field] = value
            // The SDKs for functions write the name of the member of their user records.
            case "photoUrl", "photoURL": decision["photoUrl"] = value
            case "disabled", "emailVerified": decision[field] = .bool(value == true)
            case "customClaims": decision["claims"] = value == .null ? [:] : value
            case "sessionClaims" where hook == .beforeSignIn: decision["sessionClaims"] = value == .null ? [:] : value
            default: break
            }
        }
        return .result(.object(decision))
    }
}

/// The facts about the credential of an identity provider that functions get, by the names of their claims.
enum FirebaseHookDetail: String {
    case rawUserInfo = "raw_user_info"
    case idToken = "oauth_id_token"
    case accessToken = "oauth_access_token"
    case tokenSecret = "oauth_token_secret"
}

/// The event before a message is sent: `beforeSendEmail` for links and codes that sign in or reset a password, `beforeSendSms` for codes.
struct FirebaseMessageEvent {
    let name: String
    let to: String
    private let kind: (name: String, value: String)
    private let language: JSONValue?

    /// - Returns: `nil` if functions are not called before the message.
    init?(_ message: JSONObject) {
        guard let to = message["to"]?.string, let purpose = message["purpose"]?.string else { return nil }
        (self.to, language) = (to, message["language"])
        if message["channel"] == "sms" {
            name = "beforeSendSms"
            switch message["secondFactor"]?.string {
            case "signIn": kind = ("sms_type", "MULTI_FACTOR_SIGN_IN")
            case "enrollment": kind = ("sms_type", "MULTI_FACTOR_ENROLLMENT")
            default:
                guard purpose == "signIn" else { return nil }
                kind = ("sms_type", "SIGN_IN_OR_SIGN_UP")
            }
            return
        }
        name = "beforeSendEmail"
        guard message["secondFactor"] == nil else { return nil }
        switch purpose {
        case "passwordReset", "passwordResetLink": kind = ("email_type", "PASSWORD_RESET")
        case "signIn", "signInLink": kind = ("email_type", "EMAIL_SIGN_IN")
        default: return nil
        }
    }

    var claims: JSONObject {
        var claims: JSONObject = ["event_type": .string(name)]
        claims[kind.name] = .string(kind.value)
        claims[name == "beforeSendSms" ? "phone_number" : "email"] = .string(to)
        claims["locale"] = language
        return claims
    }
}
