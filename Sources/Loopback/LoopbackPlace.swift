import Glibc

/// A port of 127.0.0.1 that is kept while nobody listens there: whoever connects is refused, and nobody else gets it.
public final class LoopbackPlace: Sendable {
    public let port: UInt16
    private let descriptor: Int32

    /// - Parameter port: 0 for any that is free.
    public init(port: UInt16) throws(LoopbackFailure) {
        (descriptor, self.port) = try Socket.bind(port: port)
        // It was needed to take a port on which connections have just ended. With it, anybody else could listen here too.
        var zero: Int32 = 0
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &zero, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }
}
