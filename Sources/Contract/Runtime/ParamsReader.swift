import JSON
import Platform

/// Decodes parameters and collects all violations.
///
/// The first pass only determines whether the params are valid; it records no path and builds no messages. If they are not valid, a second
/// pass collects the violations.
public struct ParamsReader {
    /// Whether this is the second pass.
    let isTracing: Bool
    /// Whether no violation has been found.
    @usableFromInline
    var isFine = true

    /// The violations in the order in which they were found.
    public internal(set) var violations: [Violation] = []
    var path: [Step] = []

    /// The maximum number of violations. If a request has more, the last entry states that the list is incomplete.
    static let mostViolations = 1000

    @usableFromInline
    init(isTracing: Bool) { self.isTracing = isTracing }

    @usableFromInline
    static let empty = try! JSONText("{}").root

    @inlinable
    mutating func root<P: ContractParams>(_ node: JSONNode?, as: P.Type) -> P? {
        let node = node ?? Self.empty
        guard node.kind == .object else {
            refuseOther()
            return nil
        }
        return P(node, &self)
    }

    @usableFromInline
    mutating func refuseOther() { add(pointer: "", rule: "type", "params must be an object: parameters are passed by name.") }

    private mutating func enter(_ step: Step) { if isTracing { path.append(step) } }
    private mutating func leave() { if isTracing { path.removeLast() } }

    // MARK: Values

    mutating func boolean(_ node: JSONNode, at step: Step) -> Bool? {
        if let bool = node.bool { return bool }
        wrongType(node, at: step, expected: "true or false")
        return nil
    }

    mutating func integer(_ node: JSONNode, at step: Step, _ range: ClosedRange<Int64>) -> Int64? {
        guard let number = node.number else {
            wrongType(node, at: step, expected: "an integer")
            return nil
        }
        if let value = number.int64, range.contains(value) { return value }
        let double = number.double
        if number.int64 == nil, abs(double) < 9e15 {
            add(step, rule: "type", "must be an integer; it is \(Self.shown(number.text)).")
        } else if double < 0 || number.int64.map({ $0 < range.lowerBound }) ?? false {
            add(step, rule: "minimum", "must be at least \(range.lowerBound); it is \(Self.shown(number.text)).")
        } else {
            add(step, rule: "maximum", "must be at most \(range.upperBound); it is \(Self.shown(number.text)).")
        }
        return nil
    }

    mutating func string(_ node: JSONNode, at step: Step, _ rule: StringRule) -> String? {
        guard let text = node.string else {
            wrongType(node, at: step, expected: "a string")
            return nil
        }
        let breaches = rule.breaches(of: text)
        if breaches.isEmpty { return text }
        for breach in breaches { add(step, breach, of: rule, text) }
        return nil
    }

    mutating func enumeration<E: RawRepresentable<String> & CaseIterable>(_ node: JSONNode, at step: Step) -> E? {
        guard let text = node.string else {
            wrongType(node, at: step, expected: "a string")
            return nil
        }
        if let value = E(rawValue: text) { return value }
        isFine = false
        guard isTracing else { return nil }
        let known = E.allCases.map(\.rawValue)
        let hint = NearestNames.hint(text, among: known)
        add(step, rule: "enum", "must be one of \(known.joined(separator: ", ")); it is \(Self.quoted(text)).\(hint)")
        return nil
    }

    /// Decodes an object with known members.
    mutating func object<P: ContractParams>(_ node: JSONNode, at step: Step) -> P? {
        guard node.kind == .object else {
            wrongType(node, at: step, expected: "an object")
            return nil
        }
        enter(step)
        defer { leave() }
        return P(node, &self)
    }

    /// Decodes an object with arbitrary members.
    mutating func anyObject(_ node: JSONNode, at step: Step) -> JSONObject? {
        guard node.kind == .object else {
            wrongType(node, at: step, expected: "an object")
            return nil
        }
        refuseNul(in: node, at: step)
        return node.value.object
    }

    // MARK: Containers

    mutating func members<Value>(
        _ node: JSONNode, at step: Step, count: ClosedRange<Int>, names rule: StringRule?,
        _ value: (inout ParamsReader, JSONNode, Step) -> Value?
    ) -> Members<Value>? {
        guard node.kind == .object else {
            wrongType(node, at: step, expected: "an object")
            return nil
        }
        check(node.count, in: count, at: step, of: .members)
        enter(step)
        defer { leave() }
        var members = Members<Value>()
        let rule = rule ?? StringRule()
        node.forEachPair { name, node in
            let text = name.string!
            for breach in rule.breaches(of: text) { add(.member(name), breach, of: rule, text, isName: true) }
            if let value = value(&self, node, .member(name)) { members.append(text, value) }
        }
        return members
    }

    mutating func array<Value: Equatable>(
        _ node: JSONNode, at step: Step, count: ClosedRange<Int>, isUnique: Bool, _ element: (inout ParamsReader, JSONNode, Step) -> Value?
    ) -> [Value]? {
        guard node.kind == .array else {
            wrongType(node, at: step, expected: "an array")
            return nil
        }
        check(node.count, in: count, at: step, of: .elements)
        guard node.count <= count.upperBound else { return nil }
        enter(step)
        var elements: [Value] = []
        node.forEachElement { index, node in
            guard let value = element(&self, node, .index(index)) else { return }
            if isUnique, elements.contains(value) {
                add(.index(index), rule: "uniqueItems", "is a duplicate: the list already contains it.")
            }
            elements.append(value)
        }
        leave()
        return elements
    }

    /// The parts of a value whose number is limited.
    private enum Parts: String {
        case members
        case elements

        /// The rules for the smallest and the largest number.
        var rules: (least: String, most: String) {
            switch self {
            case .members: ("minProperties", "maxProperties")
            case .elements: ("minItems", "maxItems")
            }
        }
    }

    private mutating func check(_ found: Int, in count: ClosedRange<Int>, at step: Step, of parts: Parts) {
        if found < count.lowerBound {
            add(step, rule: parts.rules.least, "must have at least \(count.lowerBound) \(parts.rawValue); it has \(found).")
        }
        if found > count.upperBound {
            add(step, rule: parts.rules.most, "must have at most \(count.upperBound) \(parts.rawValue); it has \(found).")
        }
    }

    // MARK: Members of an object

    /// Reports a missing required member. If the member is present, its value is not valid and has already been reported.
    mutating func missing(_ name: StaticString, in node: JSONNode) {
        if node[name] == nil { add(.known(name), rule: "required", "is missing.") } else { cannotBeLeftOut(.known(name)) }
    }

    mutating func unknown(_ name: JSONNode, among known: @autoclosure () -> [String]) {
        isFine = false
        guard isTracing else { return }
        let known = known()
        let text = name.string!
        let hint = violations.count < 20 ? NearestNames.hint(text, among: known) : ""
        let list = known.isEmpty ? "The method has no parameters." : "Allowed parameters: \(known.joined(separator: ", "))."
        add(.member(name), rule: "unknownParameter", "is unknown.\(hint.isEmpty ? " " + list : hint)")
    }

    mutating func choose(_ rule: StaticString, _ range: ClosedRange<Int>, _ members: @autoclosure () -> [String], given: Int) {
        guard !range.contains(given) else { return }
        isFine = false
        guard isTracing else { return }
        let number = range == 1...1 ? "exactly" : range.lowerBound == 1 ? "at least" : "at most"
        let pointer = pointer()
        add(
            pointer: pointer, rule: rule.description,
            "Give \(number) one of \(members().joined(separator: ", ")). The request contains \(given == 0 ? "none" : String(given)) of them."
        )
    }

    private mutating func refuseNul(in node: JSONNode, at step: Step) {
        switch node.kind {
        case .string: if node.containsNul { add(step, .noNulCharacter, of: StringRule(), "") }
        case .array:
            enter(step)
            node.forEachElement { refuseNul(in: $1, at: .index($0)) }
            leave()
        case .object:
            enter(step)
            node.forEachPair { name, value in
                if name.containsNul { add(.member(name), .noNulCharacter, of: StringRule(), "", isName: true) }
                refuseNul(in: value, at: .member(name))
            }
            leave()
        case .null, .bool, .number: break
        }
    }
}
