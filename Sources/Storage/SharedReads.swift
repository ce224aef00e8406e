import Glibc

/// Lets the reads that one thread makes in a row see one and the same view of the store, which is begun by the first of
/// them: for a run of requests that were all received before it began, and none of which is answered before it ends.
///
/// ```swift
/// SharedReads.during {
///     for request in received { answers.append(handle(request)) }
/// }
/// ```
public enum SharedReads {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var current: SharedRead? {
        pthread_getspecific(key).map { Unmanaged<SharedRead>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs `body`; what is read in it on this thread is read from one view. A write in it ends the view: the reads after
    /// it see what was written.
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

    /// Ends the view of this thread, if there is one: before it waits for what another thread writes, which a view of a store in memory
    /// would hold up.
    public static func endView() { current?.end() }
}

/// The view that a thread shares among its reads, if one has begun.
final class SharedRead {
    private var view: SQLiteView?

    func read<R>(from readers: SQLiteReaders, patient: Bool, _ body: (Transaction) throws -> R) throws -> R {
        if let view, !view.isOf(readers) { end() }
        let view = try view ?? readers.begin(patient: patient)
        self.view = view
        // What a body throws of its own accord leaves the view as good as it was.
        defer { if view.hasFailed { abandon() } }
        return try view.run(patient: patient, body)
    }

    /// Ends the view. What was read from it was read.
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
