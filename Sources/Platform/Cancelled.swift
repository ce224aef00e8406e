/// An operation ended without a result because its caller canceled it.
///
/// `CancellationError` of the standard library would bring the runtime for tasks into the program, half a megabyte.
public struct Cancelled: Error {
    public init() {}
}
