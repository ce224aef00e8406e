/// Carries a value that is not `Sendable` to whoever owns it next; one owner at a time.
struct Owned<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
