import Foundation
import Synchronization
import Testing

@testable import JSONRPC

@Suite("What a server prepares while it has no input")
struct PreparationTests {
    /// Serves one request, which `prepare` sends if it is not there before, and returns what happened in its order.
    private func events(isThere: Bool) -> [String] {
        let seen = Mutex<[String]>([])
        let methods = MethodTable([Method("note") { _, _, _ in seen.withLock { $0.append("call") } }])
        let (input, output) = (Pipe(), Pipe())
        let send = {
            input.fileHandleForWriting.write(Data("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"note\"}\n".utf8))
            try? input.fileHandleForWriting.close()
        }
        if isThere { send() }
        let server = Server(
            methods, input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor, onEnd: { _ in })
        server.run {
            seen.withLock { $0.append("prepare") }
            if !isThere { send() }
        }
        return seen.withLock { $0 }
    }

    @Test("a request that is already there runs first; without one, the server prepares before it waits; both happen once")
    func order() {
        #expect(events(isThere: true) == ["call", "prepare"])
        #expect(events(isThere: false) == ["prepare", "call"])
    }
}
