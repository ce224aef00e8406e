import Platform

/// A method lookup that is backed by a dictionary.
public struct MethodTable: MethodLookup {
    private let methods: [String: Method]

    /// - Precondition: The names of the methods are unique.
    public init(_ methods: [Method]) {
        self.methods = Dictionary(uniqueKeysWithValues: methods.map { ($0.name, $0) })
    }

    public var names: [String] { methods.keys.sorted() }

    public func method(named name: String) -> Method? { methods[name] }

    public func nearest(to name: String) -> [String] { NearestNames.of(name, among: Array(methods.keys)) }
}
