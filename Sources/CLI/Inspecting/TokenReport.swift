import Accounts
import Arguments
import Glibc
import JSON
import Mintmark

/// The report of `mintmark inspect` about a token.
struct TokenReport {
    /// The reason the signature was not checked; `nil` if it was.
    var note: String?
    private(set) var refusals: [(type: String, message: String)] = []
    private var kind = ""
    private var header: JSONObject?
    private var claims: JSONObject?
    private var facts: [(name: String, value: String)] = []
    private var now = Int64(time(nil))

    private static let times = ["exp", "nbf", "iat", "auth_time"]

    // MARK: Tokens

    /// - Parameter store: The store that verifies the token, or `nil`.
    mutating func take(_ jwt: InspectedJWT, _ text: String, _ store: TokenStore?) throws {
        now = store?.now ?? now
        (kind, header, claims) = ("JWT", jwt.header, jwt.claims)
        let key = [jwt.keyId.map { "kid \($0)" }, jwt.owner].compactMap(\.self)
        if !key.isEmpty { facts.append(("key", key.joined(separator: ", "))) }
        if let store {
            do throws(Calls.Refused) {
                let result = try Self.verify(text, jwt, store.calls)
                kind = "\(result["use"]?.string ?? "") token"
            } catch { refusals.append((error.type, error.message)) }
        }
        for refusal in jwt.refusals(at: now) where !refusals.contains(where: { $0.type == refusal.type }) { refusals.append(refusal) }
    }

    private static func verify(_ text: String, _ jwt: InspectedJWT, _ calls: Calls) throws(Calls.Refused) -> JSONValue {
        do { return try calls.ask("token.verify", ["token": .string(text), "issuer": .string(jwt.issuer ?? "-")]) } catch {
            throw error as? Calls.Refused ?? Calls.Refused(error: [:])
        }
    }

    /// - Returns: `false` if the store knows no such token.
    mutating func takeOpaque(_ text: String, _ store: TokenStore) throws -> Bool {
        now = store.now
        if let (token, _) = try store.services.session.inspect(text) {
            switch token {
            case .continuation(let flow, let expiresAt):
                kind = "continuation token"
                if let flow { facts.append(("flow", flow)) }
                if let expiresAt { facts.append(("expires", MomentText.text(expiresAt, now: now))) }
                if flow == nil {
                    refusals.append(("flowEnded", "The flow has ended."))
                } else if let expiresAt, expiresAt <= now {
                    refusals.append(("continuationTokenExpired", "The continuation token has expired."))
                }
            case .refresh(let session, let account, let expiresAt, let state):
                kind = "refresh token"
                facts.append(("session", session))
                if let account { facts.append(("account", account)) }
                facts.append(("expires", MomentText.text(expiresAt, now: now)))
                if let state {
                    let type = state.split(separator: "(").last.map { String($0.dropLast()) } ?? ""
                    refusals.append((type, "The refresh token is refused: \(state)."))
                }
            }
            return true
        }
        do {
            let result = try store.calls.ask("credentials.verify", ["sessionToken": .string(text)])
            kind = "session token of credentials"
            for (name, value) in result["principal"]?.object?.members.map({ ($0.name, $0.value) }) ?? [] {
                facts.append((name, value.string ?? value.text))
            }
            if let expiresAt = result["expiresAt"]?.int { facts.append(("expires", MomentText.text(expiresAt, now: now))) }
            return true
        } catch let refused as Calls.Refused {
            guard ["credentialsExpired", "credentialsRevoked", "sessionTokenExpired"].contains(refused.type) else { return false }
            kind = "session token of credentials"
            refusals.append((refused.type, refused.message))
            return true
        }
    }

    // MARK: Output

    private var verdict: String {
        if !refusals.isEmpty { return "refused" }
        return note == nil ? "valid" : "not checked"
    }

    var text: String {
        var lines: [String] = []
        if let note { lines.append("The signature was not checked: \(note).") }
        lines.append(kind)
        for (title, object) in [("header", header), ("claims", claims)] {
            guard let object else { continue }
            lines.append(Printing.bold(title))
            let width = object.members.map(\.name.count).max() ?? 0
            for (name, value) in object.members.map({ ($0.name, $0.value) }) {
                let padded = name + String(repeating: " ", count: width - name.count)
                let shown = Self.times.contains(name) ? value.int.map { MomentText.text($0, now: now) } : nil
                lines.append("  \(Printing.cyan(padded)) \(shown ?? Self.line(value))")
            }
        }
        lines += facts.map { "\($0.name) \(Self.line(.string($0.value)))" }
        lines.append(refusals.isEmpty ? Printing.green(verdict) : Printing.red(verdict))
        lines += refusals.map { "  \($0.type): \($0.message)" }
        return lines.joined(separator: "\n")
    }

    /// A value on one line, without control characters.
    private static func line(_ value: JSONValue) -> String {
        guard let text = value.string, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else { return value.text }
        return text
    }

    var json: JSONValue {
        var object: JSONObject = ["kind": .string(kind)]
        object["note"] = note.map { .string($0) }
        object["header"] = header.map { .object($0) }
        object["claims"] = claims.map { .object($0) }
        for fact in facts { object[fact.name] = .string(fact.value) }
        object["verdict"] = .string(verdict)
        if !refusals.isEmpty {
            object["refusals"] = .array(refusals.map { ["type": .string($0.type), "message": .string($0.message)] })
        }
        return .object(object)
    }
}
