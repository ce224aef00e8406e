import Glibc
import Platform

/// The reason a server cannot listen.
public struct LoopbackFailure: Error, Equatable {
    /// The requested port; 0 for any free port.
    public let port: Int
    public let reason: String

    public init(port: Int, reason: String) {
        self.port = port
        self.reason = reason
    }
}

/// The socket operations of the server.
enum Socket {
    /// Creates a socket that listens on 127.0.0.1. Returns the socket and its port.
    static func listen(port: UInt16) throws(LoopbackFailure) -> (descriptor: Int32, port: UInt16) {
        let bound = try bind(port: port)
        guard Glibc.listen(bound.descriptor, 1024) == 0 else {
            defer { close(bound.descriptor) }
            throw failure(port)
        }
        return bound
    }

    /// Creates a socket that is bound to a port of 127.0.0.1 and does not listen, so that connections are refused.
    static func bind(port: UInt16) throws(LoopbackFailure) -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure(port) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
            }
        }
        guard status else {
            defer { close(descriptor) }
            throw failure(port)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private static func failure(_ port: UInt16) -> LoopbackFailure {
        LoopbackFailure(port: Int(port), reason: String(cString: strerror(errno)))
    }

    /// Returns the next connection, or `nil` if the socket is permanently closed.
    static func accept(_ descriptor: Int32) -> Int32? {
        while true {
            let connection = Glibc.accept(descriptor, nil, nil)
            if connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                var one: Int32 = 1
                setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
                return connection
            }
            let reason = errno
            if isOver(reason) { return nil }
            // Out of descriptors or memory, or blocked by a firewall rule: pending connections wait until the next attempt.
            if reason != EINTR, reason != ECONNABORTED { usleep(20_000) }
        }
    }

    /// Returns whether no further connections can arrive after this error: the descriptor is not a listening socket.
    static func isOver(_ error: Int32) -> Bool { [EINVAL, EBADF, ENOTSOCK, EOPNOTSUPP].contains(error) }

    /// Reads the available bytes and waits for them until `deadline`. Returns `false` at the end of the input, after an error and after the
    /// deadline.
    static func read(_ descriptor: Int32, into buffer: inout [UInt8], deadline: UInt64) -> Bool {
        guard wait(descriptor, Int16(POLLIN), until: deadline) else { return false }
        var block = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = recv(descriptor, &block, block.count, 0)
            if count > 0 {
                buffer += block[..<count]
                return true
            }
            if count < 0, errno == EINTR { continue }
            return false
        }
    }

    /// Writes all of `bytes`. Returns `false` if the connection is closed or does not accept them before `deadline`.
    static func write(_ descriptor: Int32, _ bytes: [UInt8], deadline: UInt64) -> Bool {
        var sent = 0
        while sent < bytes.count {
            guard wait(descriptor, Int16(POLLOUT), until: deadline) else { return false }
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno != EINTR, errno != EAGAIN { return false }
            sent += max(0, count)
        }
        return true
    }

    private static func wait(_ descriptor: Int32, _ events: Int16, until deadline: UInt64) -> Bool {
        while true {
            let now = Monotonic.nanoseconds()
            guard now < deadline else { return false }
            var entry = pollfd(fd: descriptor, events: events, revents: 0)
            let ready = poll(&entry, 1, Int32(min((deadline - now) / 1_000_000 + 1, 60_000)))
            if ready > 0 { return true }
            if ready < 0, errno != EINTR { return false }
        }
    }
}
