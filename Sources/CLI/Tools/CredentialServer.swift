import Contract
import Crypto
import JSON
import Loopback
import Platform

/// Gives credentials to the AWS SDKs of this machine in the protocol of container credentials: GET with an authorization token.
final class CredentialServer: Sendable {
    /// The URL for AWS_CONTAINER_CREDENTIALS_FULL_URI. Its path is random.
    let url: String
    /// The file for AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE.
    let tokenFile: String
    private let server: LoopbackServer
    private let folder: PrivateFolder

    /// - Parameter port: The port, or 0 for any free port.
    /// - Throws: `ToolFailure`.
    init(port: UInt16, _ cache: CredentialCache) throws {
        guard let folder = PrivateFolder("mintmark-credentials") else {
            throw ToolFailure(
                74, "fileNotWritten", "No folder for the authorization token can be created in the folder for temporary files.")
        }
        self.folder = folder
        let random = SystemRandom()
        let (path, token) = ("/" + Base64URL.encode(random.bytes(24)), Base64URL.encode(random.bytes(32)))
        tokenFile = folder.path + "/token"
        do {
            // SDKs refuse a token with a line break.
            try PrivateFile(path: tokenFile).write(token)
            server = try LoopbackServer(port: port, handler: { Self.answer($0, path: path, token: token, cache) })
        } catch {
            folder.remove()
            guard let failure = error as? LoopbackFailure else { throw error }
            throw ToolFailure(74, "portNotAvailable", "The port \(failure.port) of 127.0.0.1 cannot be used: \(failure.reason).")
        }
        url = server.baseURL + path
    }

    func stop() {
        server.stop(within: 1)
        folder.remove()
    }

    static func answer(_ request: LoopbackRequest, path: String, token: String, _ cache: CredentialCache) -> LoopbackResponse {
        guard request.target == path else { return refusal(404, "notFound", "No credentials are at this path.") }
        guard request.method == "GET" else {
            return refusal(405, "methodNotAllowed", "Only GET is allowed.").adding([("allow", "GET")])
        }
        let given = request.headers.filter { $0.name == "authorization" }
        guard given.count == 1, constantTimeEquals(given[0].value, token) else {
            return refusal(403, "accessDenied", "The header Authorization is not the authorization token.")
        }
        do {
            let credentials = try cache.credentials()
            var object: JSONObject = [
                "AccessKeyId": .string(credentials.accessKeyId), "SecretAccessKey": .string(credentials.secretAccessKey),
                "Token": .string(credentials.sessionToken), "Expiration": .string(credentials.expiration),
            ]
            object["AccountId"] = credentials.accountId.map { .string($0) }
            return json(200, .object(object))
        } catch {
            let failure = ToolFailure(error)
            return refusal(failure.status == 3 ? 401 : failure.isTemporary ? 503 : 400, failure.code, failure.message)
        }
    }

    private static func refusal(_ status: Int, _ code: String, _ message: String) -> LoopbackResponse {
        json(status, ["code": .string(code), "message": .string(message)])
    }

    private static func json(_ status: Int, _ value: JSONValue) -> LoopbackResponse {
        LoopbackResponse(
            status: status, headers: [("content-type", "application/json"), ("cache-control", "no-store")], body: value.bytes)
    }
}
