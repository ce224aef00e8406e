import Glibc
import Platform
import Synchronization

/// Reads the lines that another process appends to its trace file.
final class TraceFollower: Sendable {
    private static let pauseMicroseconds: UInt32 = 200_000
    /// The part of an existing file that is read: its end.
    private static let mostBytes: off_t = 4 << 20

    private let isOver = Atomic(false)

    init(path: String, into log: RequestLog) { _ = Thread.start(name: "console trace") { self.follow(path, log) } }

    func stop() { isOver.store(true, ordering: .relaxed) }

    private func follow(_ path: String, _ log: RequestLog) {
        var (descriptor, read): (Int32, off_t) = (-1, 0)
        var rest: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 * 1024)
        while !isOver.load(ordering: .relaxed) {
            if descriptor < 0 {
                descriptor = open(path, O_RDONLY | O_CLOEXEC)
                read = max(0, lseek(descriptor, 0, Int32(SEEK_END)) - Self.mostBytes)
                rest = []
            }
            // Another file, or a shorter one, begins again.
            var (own, named) = (stat(), stat())
            if descriptor >= 0, fstat(descriptor, &own) == 0, stat(path, &named) != 0 || own.st_ino != named.st_ino || own.st_size < read {
                close(descriptor)
                descriptor = -1
                continue
            }
            let count = descriptor < 0 ? 0 : pread(descriptor, &block, block.count, read)
            guard count > 0 else {
                usleep(Self.pauseMicroseconds)
                continue
            }
            read += off_t(count)
            rest += block[..<count]
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                log.take(Array(rest[start..<end]))
                start = end + 1
            }
            rest.removeFirst(start)
            if rest.count > 32 << 20 { rest = [] }
        }
        if descriptor >= 0 { close(descriptor) }
    }
}
