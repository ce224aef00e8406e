import Glibc

/// Lets consecutive reads of one thread share one view of the store. The first read opens the view. Use it only for a batch of requests
/// that were all received before the view opens, if their responses are all sent after it closes.
///
/// ```swift
/// ReadSnapshot.during {
///     for request in received { answers.append(handle(request)) }
/// }
/// ```
public enum ReadSnapshot {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var current: SharedRead? {
        pthread_getspecific(key).map { Unmanaged<SharedRead>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs `body`. The reads of this thread in `body` share one view. A write in `body` closes the view, so that later reads see the
    /// changes of that write.
    public static func during<R>(_ body: () throws -> R) rethrows -> R {
        guard pthread_getspecific(key) == nil else { return try body() }
        let shared = SharedRead()
        pthread_setspecific(key, Unmanaged.passUnretained(shared).toOpaque())
        defer {
            pthread_setspecific(key, nil)
            shared.end()
        }
        return try body()
    }

    /// Closes the view of this thread, if one is open. Call it before waiting for a write of another thread: the view of a store in memory
    /// would block that write.
    public static func endView() { current?.end() }
}

/// The view that the reads of a thread share, if it is open.
final class SharedRead {
    private var view: SQLiteView?

    func read<R>(from readers: SQLiteReaders, patient: Bool, _ body: (Transaction) throws -> R) throws -> R {
        if let view, !view.isOf(readers) { end() }
        let view = try view ?? readers.begin(patient: patient)
        self.view = view
        // Errors that the body throws itself leave the view usable.
        defer { if view.hasFailed { abandon() } }
        return try view.run(patient: patient, body)
    }

    /// Closes the view. Results that were read from it remain valid.
    func end() {
        guard let view else { return }
        self.view = nil
        do { try view.commit() } catch { view.abandon() }
    }

    private func abandon() {
        view?.abandon()
        view = nil
    }
}
