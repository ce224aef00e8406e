import Glibc

/// A descriptor to write to, and how to do so without waiting and without changing an open file description that other
/// processes share (`O_NONBLOCK` belongs to the description, not to the descriptor).
struct Output: Sendable {
    private enum Kind {
        case nonblocking, socket, neverWaits, blocking
        /// No descriptor: somebody in this process, who takes whole messages and never waits.
        case receiver(@Sendable (UnsafeRawBufferPointer) -> Void)
    }

    private let descriptor: Int32
    private let kind: Kind

    enum Written: Equatable {
        case bytes(Int)
        /// Nothing now; see `waitUntilWritable`.
        case wouldWait
        /// Nothing can be written any more. The system's number says why: `EPIPE` when nobody reads, `ENOSPC` when a disk is full.
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
            // A description of our own, with its own flags. Refused when the pipe belongs to another user.
            let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            (self.descriptor, kind) = own >= 0 ? (own, .nonblocking) : (descriptor, .blocking)
        default: (self.descriptor, kind) = (descriptor, .blocking)
        }
    }

    /// Prepares to hand messages to `receiver`, one or more at once, each with its end. It is called for one after the other, and must not wait.
    init(_ receiver: @escaping @Sendable (_ messages: UnsafeRawBufferPointer) -> Void) {
        (descriptor, kind) = (-1, .receiver(receiver))
    }

    /// Writes what can be written now, from the thread of a call.
    func tryWrite(_ bytes: UnsafeRawBufferPointer) -> Written {
        if case .blocking = kind { .wouldWait } else { writeOnce(bytes) }
    }

    /// Writes something, from the writer's own thread, which may wait here.
    func write(_ bytes: UnsafeRawBufferPointer) -> Written { writeOnce(bytes) }

    /// Waits until something can be written, or never can be again.
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
