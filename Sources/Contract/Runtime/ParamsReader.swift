import JSON

/// Reads parameters and gathers everything that is wrong with them.
public struct ParamsReader {
    /// In the order in which they were found.
    public private(set) var violations: [Violation] = []
    private var path: [Step] = []

    /// So many violations are listed; a request with more of them gets a last one that says so.
    static let mostViolations = 1000

    private static let empty = try! JSONText("{}").root

    mutating func root<P: ContractParams>(_ node: JSONNode?, as: P.Type) -> P? {
        let node = node ?? Self.empty
        guard node.kind == .object else {
            add(pointer: "", rule: "type", "params must be an object: parameters are given by name.")
            return nil
        }
        return P(node, &self)
    }

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
        let known = E.allCases.map(\.rawValue)
        let hint = NearestNames.hint(text, among: known)
        add(step, rule: "enum", "must be one of \(known.joined(separator: ", ")); it is \(Self.quoted(text)).\(hint)")
        return nil
    }

    /// An object with known members.
    mutating func object<P: ContractParams>(_ node: JSONNode, at step: Step) -> P? {
        guard node.kind == .object else {
            wrongType(node, at: step, expected: "an object")
            return nil
        }
        path.append(step)
        defer { path.removeLast() }
        return P(node, &self)
    }

    /// Any object.
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
        check(node.count, in: count, at: step, least: "minProperties", most: "maxProperties", of: "members")
        path.append(step)
        defer { path.removeLast() }
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
        check(node.count, in: count, at: step, least: "minItems", most: "maxItems", of: "elements")
        guard node.count <= count.upperBound else { return nil }
        path.append(step)
        var elements: [Value] = []
        node.forEachElement { index, node in
            guard let value = element(&self, node, .index(index)) else { return }
            if isUnique, elements.contains(value) { add(.index(index), rule: "uniqueItems", "stands in the list already.") }
            elements.append(value)
        }
        path.removeLast()
        return elements
    }

    private mutating func check(_ found: Int, in count: ClosedRange<Int>, at step: Step, least: String, most: String, of what: String) {
        if found < count.lowerBound { add(step, rule: least, "must have at least \(count.lowerBound) \(what); it has \(found).") }
        if found > count.upperBound { add(step, rule: most, "must have at most \(count.upperBound) \(what); it has \(found).") }
    }

    // MARK: Members of an object

    /// A member that must be there; nothing if it is there and wrong, which is known by then.
    mutating func missing(_ name: StaticString, in node: JSONNode) {
        if node[name] == nil { add(.known(name), rule: "required", "is missing.") }
    }

    mutating func unknown(_ name: JSONNode, among known: [String]) {
        let text = name.string!
        let hint = violations.count < 20 ? NearestNames.hint(text, among: known) : ""
        let list = known.isEmpty ? "There are no parameters here." : "Known are \(known.joined(separator: ", "))."
        add(.member(name), rule: "unknownParameter", "is not known here.\(hint.isEmpty ? " " + list : hint)")
    }

    mutating func choose(_ rule: StaticString, _ range: ClosedRange<Int>, _ members: [String], given: Int) {
        guard !range.contains(given) else { return }
        let number = range == 1...1 ? "exactly" : range.lowerBound == 1 ? "at least" : "at most"
        let pointer = pointer()
        add(
            pointer: pointer, rule: rule.description,
            "Give \(number) one of \(members.joined(separator: ", ")); there \(given == 1 ? "is" : "are") \(given == 0 ? "none" : String(given))."
        )
    }

    private mutating func refuseNul(in node: JSONNode, at step: Step) {
        switch node.kind {
        case .string: if node.string!.utf8.contains(0) { add(step, .noNulCharacter, of: StringRule(), "") }
        case .array:
            path.append(step)
            node.forEachElement { refuseNul(in: $1, at: .index($0)) }
            path.removeLast()
        case .object:
            path.append(step)
            node.forEachPair { name, value in
                if name.string!.utf8.contains(0) { add(.member(name), .noNulCharacter, of: StringRule(), "", isName: true) }
                refuseNul(in: value, at: .member(name))
            }
            path.removeLast()
        case .null, .bool, .number: break
        }
    }
}

// MARK: Violations

extension ParamsReader {
    fileprivate func pointer(_ step: Step? = nil) -> String {
        (path + (step.map { [$0] } ?? [])).map { "/" + Step.escaped($0.text) }.joined()
    }

    fileprivate mutating func add(pointer: String, rule: String, _ message: String) {
        guard violations.count < Self.mostViolations else { return }
        if violations.count == Self.mostViolations - 1 {
            violations.append(Violation(pointer: "", rule: "tooManyViolations", message: "There are more violations than are listed here."))
        } else {
            violations.append(Violation(pointer: pointer, rule: rule, message: message))
        }
    }

    /// `message` goes on after the name of what it is about.
    fileprivate mutating func add(_ step: Step, rule: String, _ message: String) {
        guard violations.count < Self.mostViolations else { return }
        let subject: String
        switch (step, path.last) {
        case (.index(let index), let last?): subject = "element \(index) of \(Self.shown(last.text))"
        default: subject = Self.shown(step.text)
        }
        add(pointer: pointer(step), rule: rule, "\(subject) \(message)")
    }

    private mutating func wrongType(_ node: JSONNode, at step: Step, expected: String) {
        let found =
            switch node.kind {
            case .null: "null: leave it out instead"
            case .bool: "true or false"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        add(step, rule: "type", "must be \(expected); it is \(found).")
    }

    private mutating func add(_ step: Step, _ breach: StringRule.Breach, of rule: StringRule, _ text: String, isName: Bool = false) {
        let what = isName ? "is a name that " : ""
        let value = isName || rule.isSecret ? "" : "; it is \(Self.quoted(text))"
        let suffix = isName ? "propertyNames" : nil
        switch breach {
        case .noNulCharacter: add(step, rule: "noNulCharacter", "\(what)must not contain the character U+0000.")
        case .minLength:
            let least = rule.length.lowerBound
            add(
                step, rule: suffix ?? "minLength",
                text.isEmpty && least == 1 ? "\(what)must not be empty." : "\(what)must have at least \(least) characters\(value).")
        case .maxLength:
            let count = text.unicodeScalars.count
            add(step, rule: suffix ?? "maxLength", "\(what)must have at most \(rule.length.upperBound) characters; it has \(count).")
        case .pattern: add(step, rule: suffix ?? "pattern", "\(what)must match \(rule.pattern!.text)\(value).")
        }
    }

    fileprivate static func quoted(_ text: String) -> String { JSONValue.string(shown(text)).text }

    /// Enough of `text` to recognise it.
    fileprivate static func shown(_ text: String) -> String {
        text.unicodeScalars.count <= 64 ? text : String(text.unicodeScalars.prefix(60)) + "…"
    }
}
