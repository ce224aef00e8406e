/// One condition of a policy: an operator, a key and its values.
struct PolicyCondition: Hashable, Sendable {
    enum Quantifier: String, Sendable {
        case anyValue = "ForAnyValue"
        case allValues = "ForAllValues"
    }

    let op: PolicyOperator
    let quantifier: Quantifier?
    let ifExists: Bool
    let key: String
    let lowercaseKey: String
    let values: [PolicyOperand]
    /// The value of a `Null` condition: whether the key must be missing.
    let mustBeMissing: Bool

    /// The operator as written in the policy.
    var name: String { (quantifier.map { "\($0.rawValue):" } ?? "") + op.rawValue + (ifExists ? "IfExists" : "") }

    /// Returns whether the condition is satisfied.
    func holds(in context: PolicyContext) -> Bool {
        let found = context[lowercase: lowercaseKey]
        if op == .null { return (found == nil) == mustBeMissing }
        switch (quantifier, found) {
        case (nil, nil): return ifExists || op.isNegated
        case (nil, .single(let value)): return accepts(value, context)
        // Operators without a set prefix are not intended for keys with many values. Positive operators do not match them.
        case (nil, .many(let values)): return op.isNegated && values.allSatisfy { accepts($0, context) }
        case (.anyValue, nil): return ifExists
        case (.anyValue, .single(let value)): return accepts(value, context)
        case (.anyValue, .many(let values)): return values.contains { accepts($0, context) }
        case (.allValues, nil): return true
        case (.allValues, .single(let value)): return accepts(value, context)
        case (.allValues, .many(let values)): return values.allSatisfy { accepts($0, context) }
        }
    }

    /// Returns whether the condition requires `key` to have one of the values in the policy. Accepted are an equality, or a pattern with at
    /// least eight consecutive hexadecimal digits, which matches no other ID by chance. Policy variables are not accepted, because the
    /// request determines their values. `IfExists` and `ForAllValues` are not accepted, because they also match without the key.
    func namesValues(of key: String) -> Bool {
        guard lowercaseKey == key.lowercased(), !ifExists, quantifier != .allValues else { return false }
        switch op {
        case .stringEquals, .stringEqualsIgnoreCase, .stringLike: break
        default: return false
        }
        return values.allSatisfy { value in
            guard case .text(let text) = value else { return false }
            return text.isLiteral || text.hexDigitsAfterColon >= 8
        }
    }

    /// Returns whether any of the condition's values matches. For a negated operator, returns whether none matches.
    private func accepts(_ value: String, _ context: PolicyContext) -> Bool {
        let matches = values.contains { $0.matches(value, op.comparison, in: context) }
        return matches != op.isNegated
    }
}
