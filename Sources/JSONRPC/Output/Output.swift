import Glibc

/// Writes to a descriptor without blocking and without changing an open file description that other processes share. `O_NONBLOCK` is a flag
/// of the description, not of the descriptor.
struct Output: Sendable {
    private enum Kind {
        case nonblocking, socket, neverWaits, blocking
        /// No descriptor: a closure in this process that accepts whole messages and never blocks.
        case receiver(@Sendable (UnsafeRawBufferPointer) -> Void)
    }

    private let descriptor: Int32
    private let kind: Kind

    enum Written: Equatable {
        case bytes(Int)
        /// The output accepts no data at the moment; see `waitUntilWritable`.
        case wouldWait
        /// The output can no longer be written. The value is the `errno`: `EPIPE` if no reader is left, `ENOSPC` if a disk is full.
        case broken(Int32)
    }

    /// Prepares to write to `descriptor`, which must stay open.
    init(_ descriptor: Int32) {
        var facts = stat()
        let type = fstat(descriptor, &facts) == 0 ? facts.st_mode & S_IFMT : 0
        switch type {
        case S_IFSOCK: (self.descriptor, kind) = (descriptor, .socket)
        case S_IFREG: (self.descriptor, kind) = (descriptor, .neverWaits)
        case S_IFIFO, S_IFCHR:
            // Opens a new description with separate flags. Fails if the pipe belongs to another user.
            let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            (self.descriptor, kind) = own >= 0 ? (own, .nonblocking) : (descriptor, .blocking)
        default: (self.descriptor, kind) = (descriptor, .blocking)
        }
    }

    /// Prepares to pass messages to `receiver`, one or more per call, each with its end. Calls to `receiver` never overlap. It must not
    /// block.
    init(_ receiver: @escaping @Sendable (_ messages: UnsafeRawBufferPointer) -> Void) {
        (descriptor, kind) = (-1, .receiver(receiver))
    }

    /// Writes as much as possible without blocking, from the thread of a call.
    func tryWrite(_ bytes: UnsafeRawBufferPointer) -> Written {
        if case .blocking = kind { .wouldWait } else { writeOnce(bytes) }
    }

    /// Writes some bytes from the writer thread, which may block.
    func write(_ bytes: UnsafeRawBufferPointer) -> Written { writeOnce(bytes) }

    /// Waits until the output accepts data or has failed permanently.
    func waitUntilWritable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while poll(&request, 1, -1) < 0, errno == EINTR {}
    }

    private func writeOnce(_ bytes: UnsafeRawBufferPointer) -> Written {
        while true {
            let count: Int
            switch kind {
            case .receiver(let receive):
                receive(bytes)
                return .bytes(bytes.count)
            case .socket: count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            case .nonblocking, .neverWaits, .blocking: count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldWait
            case let reason: return .broken(reason)
            }
        }
    }
}
