import JSON

/// The resource for which a call of a method may wait. It decides which threads run the call.
public enum MethodCost: String, Sendable, CaseIterable {
    /// Computes briefly, or reads what the process usually has at hand.
    case quick
    /// Waits for the store: writes, or reads much.
    case store
    /// Computes for a long time, such as the hash of a password or an RSA key.
    case slow
    /// Waits for other machines, such as an SMTP server or a login provider.
    case network
}

/// A parameter with which a call has another cost than its method usually has.
public struct CostCase: Sendable {
    /// One step of the path to the parameter.
    public enum Step: Sendable, ExpressibleByStringLiteral {
        case member(StaticString)
        /// Any element of an array.
        case anyElement

        public init(stringLiteral name: StaticString) { self = .member(name) }
    }

    let parameter: [Step]
    /// The values with which the case applies. If empty, it applies with every value.
    let values: [StaticString]
    let cost: MethodCost

    /// Returns whether the case applies to a call with these parameters.
    func applies(to params: JSONNode) -> Bool { applies(to: params, parameter[...]) }

    private func applies(to node: JSONNode, _ steps: ArraySlice<Step>) -> Bool {
        switch steps.first {
        case nil: return values.isEmpty || values.contains { node.isString($0) }
        case .member(let name): return node[name].map { applies(to: $0, steps.dropFirst()) } ?? false
        case .anyElement:
            var found = false
            node.forEachElement { found = found || applies(to: $1, steps.dropFirst()) }
            return found
        }
    }
}

extension MethodInfo {
    /// Returns the cost of a call with these parameters. They do not have to be valid.
    public func cost(of params: JSONNode?) -> MethodCost {
        guard !costCases.isEmpty, let params else { return cost }
        return costCases.first { $0.applies(to: params) }?.cost ?? cost
    }
}
