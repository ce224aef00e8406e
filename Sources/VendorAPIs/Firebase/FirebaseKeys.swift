import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// A key that signs the ID tokens or the session cookies of a project.
final class FirebaseKey: Sendable {
    enum Use: String {
        case token = "id token"
        case cookie = "session cookie"
    }

    let privateKey: PrivateKey
    let signer: JWSSigner
    /// The self-signed certificate in PEM, by which the Admin SDKs verify signatures.
    let certificate: String
    var kid: String { privateKey.keyID }

    /// The validity of a certificate, in seconds. Clients use the list of certificates, not the times in them.
    private static let validity: Int64 = 10 * 365 * 86_400

    init(_ privateKey: PrivateKey, project: String, createdAt: Int64) throws {
        self.privateKey = privateKey
        signer = JWSSigner(privateKey, type: "JWT")
        let start = max(0, createdAt - 86_400)
        certificate = try Certificate.selfSigned(privateKey, name: project, times: start...(start + Self.validity))
    }
}

/// The keys of projects, decrypted once for each epoch of the store.
final class FirebaseKeys: Sendable {
    private static let kind = "key"
    private let cache = EpochCache<FirebaseKey>()

    /// Returns the key of a project. Creates it at the first use.
    func key(_ use: FirebaseKey.Use, of project: String, _ context: AccountsContext) throws -> FirebaseKey {
        let name = "\(project) \(use.rawValue)"
        func stored() throws -> FirebaseKey? {
            try context.database.read { tx in
                try cache.value(for: name, in: tx) {
                    guard let record = try tx.vendorRecord(project, Self.kind, use.rawValue),
                        let sealed = record["sealed"]?.string.flatMap({ Base64URL.decode($0) })
                    else { return nil }
                    let opened = try context.vault.open(sealed, as: "firebase \(name)")
                    return try FirebaseKey(
                        PrivateKey(pkcs8: opened, algorithm: .RS256), project: project, createdAt: record["createdAt"]?.int ?? 0)
                }
            }
        }
        if let known = try stored() { return known }
        let made = try PrivateKey.generate(.RS256, from: context.random)
        let sealed = context.vault.seal(made.pkcs8, as: "firebase \(name)")
        let record: JSONObject = [
            "sealed": .string(Base64URL.encode(sealed)), "createdAt": .number(JSONNumber(context.clock.now)),
        ]
        try context.database.write { tx in
            // Another process may have created the key in the meantime.
            try tx.lock(["firebase \(name)"])
            if try tx.vendorRecord(project, Self.kind, use.rawValue) == nil {
                try tx.setVendorRecord(project, Self.kind, use.rawValue, value: record)
            }
        }
        guard let key = try stored() else { throw FirebaseError("INTERNAL_ERROR", status: 500) }
        return key
    }
}

extension FirebaseCall {
    func key(_ use: FirebaseKey.Use) throws -> FirebaseKey { try service.keys.key(use, of: project, context) }

    /// Returns a token with claims: signed, or unsigned as those of the emulator.
    func token(_ claims: JSONObject, for use: FirebaseKey.Use) throws -> String {
        guard endpoint.signsTokens else { return FirebaseTokens.unsigned(claims) }
        return try key(use).signer.sign(JSONValue.object(claims).bytes)
    }

    /// Returns the claims of an ID token, or `nil` if its signature is not valid. Unsigned tokens have none to verify.
    func verified(_ token: String) throws -> JSONObject? {
        guard endpoint.signsTokens else { return FirebaseTokens.claims(of: token) }
        guard let jws = try? JWS.parse(token), let payload = try? jws.verify(with: key(.token).privateKey.publicKey).payload else {
            return nil
        }
        return (try? JSONValue(parsing: payload))?.object
    }

    /// Handles a request for the certificates or the keys of a project. They are public.
    func publishedKeys() throws -> WireAnswer? {
        let answer: JSONObject
        switch path.path {
        case "/www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com":
            answer = try certificates(.token)
        case "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys": answer = try certificates(.cookie)
        case "/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com": answer = try keySet(.token)
        default: return nil
        }
        guard request.method == "GET" else { throw FirebaseError.notFound }
        var result = WireAnswer.json(answer)
        result.headers = [("content-type", "application/json"), ("cache-control", "public, max-age=3600, must-revalidate")]
        return result
    }

    /// Performs the calls of the Identity Toolkit API that publish keys. Returns `nil` if the request is another call.
    func keySet() throws -> JSONObject? {
        guard path.version == "v1", request.method == "GET" else { return nil }
        switch path.name {
        case "publicKeys": return try certificates(.token)
        case "sessionCookiePublicKeys": return try keySet(.cookie)
        default: return nil
        }
    }

    private func keySet(_ use: FirebaseKey.Use) throws -> JSONObject {
        _ = try tenantRecord()
        let key = try key(use)
        var writer = JSONWriter()
        key.privateKey.jwk.write(to: &writer)
        guard var jwk = try JSONValue(parsing: writer.bytes).object else { throw FirebaseError.notFound }
        (jwk["use"], jwk["alg"], jwk["kid"]) = ("sig", "RS256", .string(key.kid))
        return ["keys": [.object(jwk)]]
    }

    private func certificates(_ use: FirebaseKey.Use) throws -> JSONObject {
        _ = try tenantRecord()
        let key = try key(use)
        return [key.kid: .string(key.certificate)]
    }
}
