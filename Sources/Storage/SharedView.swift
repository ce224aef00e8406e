/// Lets consecutive reads of one thread share one view of the store. The first read opens the view. Use it only for a batch of requests
/// that were all received before the view opens, if their responses are all sent after it closes.
///
/// ```swift
/// let view = SharedView()
/// defer { view.end() }
/// for request in received { answers.append(handle(request, StoreAccess(.refused, view: view))) }
/// ```
public final class SharedView: @unchecked Sendable {
    // Safe because only the thread that created the view uses it. Other threads can hold a reference to it, without using it.
    private var view: SQLiteView?

    public init() {}

    func read<R>(from readers: SQLiteReaders, _ body: (Transaction) throws -> R) throws -> R {
        if let view, !view.isOf(readers) { end() }
        let view = try view ?? readers.begin()
        self.view = view
        // Errors that the body throws itself leave the view usable.
        defer { if view.hasFailed { abandon() } }
        return try view.run(body)
    }

    /// Closes the view, if it is open. Results that were read from it remain valid, and the next read opens a new view.
    public func end() {
        guard let view else { return }
        self.view = nil
        do { try view.commit() } catch { view.abandon() }
    }

    private func abandon() {
        view?.abandon()
        view = nil
    }
}
