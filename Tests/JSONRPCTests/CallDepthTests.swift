import Foundation
import JSON
import Synchronization
import Testing

@testable import JSONRPC

@Suite("Stack frames between the server and a method")
struct CallDepthTests {
    /// The remaining frames to a handler, up to 15 in all, are those of the contract's methods.
    @Test("a request that runs on the reading thread calls its method within 11 frames")
    func depth() {
        let depth = Mutex(0)
        let methods = MethodTable([
            Method("measure") { _, _, _ in depth.withLock { $0 = Foundation.Thread.callStackReturnAddresses.count } }
        ])
        let (input, output) = (Pipe(), Pipe())
        input.fileHandleForWriting.write(Data("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"measure\"}\n".utf8))
        try? input.fileHandleForWriting.close()
        let server = Server(
            methods, input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor, onEnd: { _ in })
        let here = Foundation.Thread.callStackReturnAddresses.count
        server.run()
        let frames = depth.withLock { $0 } - here
        #expect((1...11).contains(frames), "\(frames) frames")
    }
}
