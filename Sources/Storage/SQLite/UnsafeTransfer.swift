/// Transfers a non-`Sendable` value between threads; only one thread owns it at a time.
struct UnsafeTransfer<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
