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

    private static let events: [HookName: [String]] = [
        .beforeCreate: ["beforeCreate"], .beforeSignIn: ["beforeSignIn"], .beforeSendMessage: ["beforeSendEmail", "beforeSendSms"],
    ]

    func url(of hook: HookName, tenantId: String, in tx: Transaction) throws -> String? {
        // Messages have two triggers; the emulator calls none of them.
        guard isTesting, hook != .beforeSendMessage, let event = Self.events[hook]?.first else { return nil }
        let project = tenantId.split(separator: ".", maxSplits: 1).first.map(String.init) ?? tenantId
        let config = try tx.vendorRecord(project, "config", "project")
        let url = config?["blockingFunctions"]?["triggers"]?[event]?["functionUri"]?.string
        return url.flatMap { $0.isEmpty ? nil : $0 }
    }

    func body(of hook: HookName, _ params: JSONObject, url: String, at now: Int64) -> [UInt8] {
        let account = params["account"]?.object ?? [:]
        let tenantId = params["tenantId"]?.string ?? ""
        let parts = tenantId.split(separator: ".", maxSplits: 1).map(String.init)
        let id = account["accountId"] ?? ""
        var user: JSONObject = ["uid": id, "custom_claims": account["claims"] ?? [:]]
        user["email"] = account["email"]
        user["email_verified"] = account["emailVerified"]
        user["display_name"] = account["attributes"]?["displayName"]
        user["photo_url"] = account["attributes"]?["picture"]
        user["disabled"] = account["disabled"]
        user["phone_number"] = account["phoneNumber"]
        user["provider_data"] = .array(Self.providers(account))
        user["metadata"] = .object(Self.times(account))
        let factors = (account["factors"]?.array ?? []).compactMap(Self.factor)
        if !factors.isEmpty { user["multi_factor"] = ["enrolled_factors": .array(factors)] }
        var claims: JSONObject = [
            "iss": .string(FirebaseTokens.Issuer.token.rawValue + (parts.first ?? "")), "aud": .string(url),
            "iat": .number(JSONNumber(now)),
            "exp": .number(JSONNumber(now + 600)), "event_id": .string("\(now)-\(id.string ?? "")"),
            "event_type": .string(Self.events[hook]?.first ?? ""), "user_agent": "mintmark", "ip_address": "127.0.0.1", "locale": "en",
            "sub": id,
        ]
        claims["sign_in_method"] = params["provider"].map { $0 == "code" ? "emailLink" : $0 }
        claims["sign_in_second_factor"] = params["secondFactor"].map { $0 == "sms" ? "phone" : $0 }
        if parts.count == 2 {
            claims["tenant_id"] = .string(parts[1])
            user["tenant_id"] = .string(parts[1])
        }
        claims["user_record"] = .object(user)
        return JSONValue.object(["data": ["jwt": .string(FirebaseTokens.unsigned(claims))]]).bytes
    }

    private static func providers(_ account: JSONObject) -> [JSONValue] {
        (account["providers"]?.array ?? []).compactMap { entry in
            guard let login = entry.object, let provider = login["providerId"] else { return nil }
            var shown: JSONObject = ["provider_id": provider]
            shown["uid"] = login["subject"]
            shown["email"] = login["email"]
            shown["display_name"] = login["displayName"]
            shown["photo_url"] = login["photoUrl"]
            return .object(shown)
        }
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
        return .object(shown)
    }

    func reply(status: Int, _ body: [UInt8], of hook: HookName) -> HookReply {
        guard (200...299).contains(status) else {
            let text = String(decoding: body.prefix(300), as: UTF8.self)
            return .failed(.error, "The function returned status \(status): \(text)")
        }
        guard let answer = (try? JSONValue(parsing: body))?.object else {
            return .failed(.invalidAnswer, "Response body is not valid JSON.")
        }
        guard let given = answer["userRecord"], given != .null else { return .result(.null) }
        guard let record = given.object, let mask = record["updateMask"]?.string, !mask.isEmpty else {
            return .failed(.invalidAnswer, "Response UserRecord is missing updateMask.")
        }
        var decision: JSONObject = [:]
        for field in mask.split(separator: ",").map(String.init) {
            let value = record[field] ?? .null
            switch field {
            case "displayName", "photoUrl": decision[field] = value
            case "disabled", "emailVerified": decision[field] = .bool(value == true)
            case "customClaims": decision["claims"] = value == .null ? [:] : value
            case "sessionClaims" where hook == .beforeSignIn: decision["sessionClaims"] = value == .null ? [:] : value
            default: break
            }
        }
        return .result(.object(decision))
    }
}
