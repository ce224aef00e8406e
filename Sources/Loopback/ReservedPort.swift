import Glibc

/// A reserved port of 127.0.0.1 without a listener: connections are refused, and no other process can bind the port.
public final class ReservedPort: Sendable {
    public let port: UInt16
    private let descriptor: Int32

    /// - Parameter port: The port, or 0 for any free port.
    public init(port: UInt16) throws(LoopbackFailure) {
        (descriptor, self.port) = try Socket.bind(port: port)
        // SO_REUSEADDR was necessary to bind a port with recently closed connections. Left on, it would let other processes listen on this
        // port.
        var zero: Int32 = 0
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &zero, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }
}
