/// One operator with one key and its values (cognito.md 6.4).
struct PolicyCondition: Hashable, Sendable {
    enum Quantifier: String, Sendable {
        case anyValue = "ForAnyValue"
        case allValues = "ForAllValues"
    }

    let op: PolicyOperator
    let quantifier: Quantifier?
    let ifExists: Bool
    let key: String
    let values: [PolicyOperand]
    /// For `Null`: whether the key must be missing.
    let mustBeMissing: Bool

    /// The operator as it is written.
    var name: String { (quantifier.map { "\($0.rawValue):" } ?? "") + op.rawValue + (ifExists ? "IfExists" : "") }

    /// Whether the condition holds.
    func holds(in context: PolicyContext) -> Bool {
        let found = context[key]
        if op == .null { return (found == nil) == mustBeMissing }
        switch (quantifier, found) {
        case (nil, nil): return ifExists || op.isNegated
        case (nil, .single(let value)): return accepts(value, context)
        // A key of many values is not meant for operators without a set prefix: positive ones are false.
        case (nil, .many(let values)): return op.isNegated && values.allSatisfy { accepts($0, context) }
        case (.anyValue, nil): return ifExists
        case (.anyValue, .single(let value)): return accepts(value, context)
        case (.anyValue, .many(let values)): return values.contains { accepts($0, context) }
        case (.allValues, nil): return true
        case (.allValues, .single(let value)): return accepts(value, context)
        case (.allValues, .many(let values)): return values.allSatisfy { accepts($0, context) }
        }
    }

    /// Whether the condition holds only for requests in which `key` is one of the values written in the policy: an equality, or a pattern
    /// with at least eight hexadecimal digits in a row, which no other ID matches by chance. A policy variable is not accepted, because
    /// its value comes from the request; `IfExists` and `ForAllValues` are not, because they hold without the key.
    func namesValues(of key: String) -> Bool {
        guard self.key.lowercased() == key.lowercased(), !ifExists, quantifier != .allValues else { return false }
        switch op {
        case .stringEquals, .stringEqualsIgnoreCase, .stringLike: break
        default: return false
        }
        return values.allSatisfy { value in
            guard case .text(let text) = value else { return false }
            return text.isLiteral || text.hexDigitsAfterColon >= 8
        }
    }

    /// Several values of one key: any may match; of a negated operator none may.
    private func accepts(_ value: String, _ context: PolicyContext) -> Bool {
        let matches = values.contains { $0.matches(value, op.comparison, in: context) }
        return matches != op.isNegated
    }
}
