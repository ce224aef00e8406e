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
    private var view: (any OpenView)?

    public init() {}

    /// Runs `body` in the view. Opens it with `begin` if it is not open, or if it is a view of another store.
    ///
    /// - Parameter source: The object that opens the views of the store.
    func read<R>(from source: AnyObject, begin: () throws -> any OpenView, _ body: (Transaction) throws -> R) throws -> R {
        if let view, view.source !== source { end() }
        let view = try view ?? begin()
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

/// An open read transaction of a database.
protocol OpenView: AnyObject {
    /// The object that has opened the view.
    var source: AnyObject { get }
    /// Whether the database has returned an error; the view must then not be used for further reads.
    var hasFailed: Bool { get }

    func run<R>(_ body: (Transaction) throws -> R) throws -> R

    /// Ends the transaction.
    ///
    /// - Throws: `StoreError`; the view must then be abandoned.
    func commit() throws

    /// Rolls back the transaction.
    func abandon()
}
