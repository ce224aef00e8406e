// Serves a page with passkeys: swift run SwiftPasskeys clients/passkeys/page.html
import Dispatch
import Glibc
import JSON
import MintmarkClient

// The methods that the page may call. A real application keeps the tokens in a session of its own.
let methods: Set = [
    "signUp.start", "signUp.submitCode", "signIn.withContinuation", "signIn.withCredential", "account.reauthenticate",
    "passkey.startRegistration", "passkey.finishRegistration", "passkey.startAuthentication", "passkey.list", "passkey.delete",
]

let m = try await TestingMintmark.start(log: .discarded)

struct Response {
    var status = 200
    var type = "application/json"
    var text: String
}

@Sendable func answer(_ verb: Substring, _ target: Substring, _ body: String) async -> Response {
    if verb == "GET", target == "/" { return Response(type: "text/html; charset=utf-8", text: text(ofFile: CommandLine.arguments[1])) }
    do {
        if verb == "GET", target.hasPrefix("/code?to=") {
            let address = target.dropFirst("/code?to=".count).replacing("%40", with: "@")
            let code = try await m.test.outbox(to: String(address)).messages.last?.code ?? ""
            return Response(text: JSONValue.object(["code": .string(code)]).text)
        }
        let method = String(target.dropFirst())
        guard verb == "POST", methods.contains(method) else { return Response(status: 404, text: "{\"message\": \"not allowed\"}") }
        return Response(text: try await m.call(method, JSONValue(parsing: body).object ?? [:]).json.text)
    } catch let error as any APIError {
        let shown: JSONObject = ["type": .string(error.type), "message": .string(error.description), "data": .object(error.data)]
        return Response(status: 400, text: JSONValue.object(shown).text)
    } catch {
        return Response(status: 500, text: JSONValue.object(["message": .string("\(error)")]).text)
    }
}

func text(ofFile path: String) -> String {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    return read(from: file) { _ in false }
}

/// Reads until the end or until `isEnough` returns true.
func read(from file: Int32, until isEnough: (String) -> Bool) -> String {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65536)
    while !isEnough(String(decoding: bytes, as: UTF8.self)) {
        let count = Glibc.read(file, &part, part.count)
        if count <= 0 { break }
        bytes += part[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Answers the request of one connection, and closes it.
@Sendable func serve(_ connection: Int32) {
    let request = read(from: connection) { text in
        guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
        let head = text[..<end.lowerBound].lowercased().split(separator: "\r\n")
        let length = head.first { $0.hasPrefix("content-length:") }.flatMap { Int($0.dropFirst(15).filter(\.isNumber)) }
        return text[end.upperBound...].utf8.count >= length ?? 0
    }
    let words = request.prefix { $0 != "\r\n" }.split(separator: " ")
    guard words.count > 1, let end = request.firstRange(of: "\r\n\r\n") else {
        close(connection)
        return
    }
    Task {
        let response = await answer(words[0], words[1], String(request[end.upperBound...]))
        let head = """
            HTTP/1.1 \(response.status) \(response.status)\r\ncontent-type: \(response.type)\r\n\
            content-length: \(response.text.utf8.count)\r\nconnection: close\r\n\r\n
            """
        let all = Array((head + response.text).utf8)
        _ = all.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        close(connection)
    }
}

let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
var address = sockaddr_in()
address.sin_family = sa_family_t(AF_INET)
address.sin_addr.s_addr = inet_addr("127.0.0.1")
var size = socklen_t(MemoryLayout<sockaddr_in>.size)
withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socket in
        _ = bind(listener, socket, size)
        _ = listen(listener, 64)
        _ = getsockname(listener, socket, &size)
    }
}
let origin = "http://localhost:\(UInt16(bigEndian: address.sin_port))"
_ = try await m.call(
    "tenant.update",
    [
        "tenantId": "default", "localAccountMethod": "passkey",
        "passkeys": ["relyingPartyId": "localhost", "origins": [.string(origin)], "residentKey": "preferred"],
    ])
print(origin)
fflush(nil)
while true {
    let connection = accept(listener, nil, nil)
    // A browser opens connections that it may never use, so each one has a thread.
    if connection >= 0 { DispatchQueue.global().async { serve(connection) } }
}
