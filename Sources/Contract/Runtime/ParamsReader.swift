import JSON
import Platform

/// Decodes parameters and collects all violations.
///
/// The first pass only determines whether the params are valid; it records no path and builds no messages. If they are not valid, a second
/// pass collects the violations. A value that is missing or not valid becomes a placeholder, so that decoding continues; the caller
/// discards the result if `isFine` is false.
public struct ParamsReader {
    /// Whether this is the second pass.
    private(set) var isTracing = false
    /// Whether no violation has been found.
    @usableFromInline
    var isFine = true

    var found: [(place: Place, violation: Violation)] = []
    var path: [Step] = []
    /// The place in the text of the value that is being decoded. Recorded in the second pass only.
    var place = Place(offset: 0)
    /// The members of the object that is being decoded.
    private var members: MemberLookup

    /// The maximum number of violations. If a request has more, the last entry states that the list is incomplete.
    static let mostViolations = 1000

    /// - Parameter params: Omitted params are equivalent to an empty object.
    /// - Throws: `InvalidParams` if the params are not an object.
    @usableFromInline
    init(params: JSONNode?) throws(InvalidParams) {
        let object = params ?? Self.empty
        guard object.kind == .object else {
            throw InvalidParams(violations: [
                Violation(pointer: "", rule: "type", message: "params must be an object: parameters are passed by name.")
            ])
        }
        members = MemberLookup(object)
    }

    /// Begins the second pass.
    @usableFromInline
    mutating func trace() {
        isTracing = true
        members = MemberLookup(members.object)
    }

    private static let empty = try! JSONText("{}").root

    private mutating func enter(_ step: Step) { if isTracing { path.append(step) } }
    private mutating func leave() { if isTracing { path.removeLast() } }
    private mutating func reach(_ node: JSONNode) { if isTracing { place = Place(offset: node.offset) } }

    // MARK: Members of an object

    /// Returns the value of a member, if it is present.
    private mutating func member(_ name: StaticString) -> JSONNode? {
        let node = members.value(of: name)
        if let node { reach(node) }
        return node
    }

    mutating func boolean(ifPresent name: StaticString) -> Bool? {
        guard let node = member(name) else { return nil }
        return boolean(node, at: .known(name))
    }

    mutating func integer(ifPresent name: StaticString, _ range: ClosedRange<Int64>) -> Int64? {
        guard let node = member(name) else { return nil }
        return integer(node, at: .known(name), range)
    }

    mutating func string(ifPresent name: StaticString, _ rule: StringRule) -> String? {
        guard let node = member(name) else { return nil }
        return string(node, at: .known(name), rule)
    }

    mutating func enumeration<E: RawRepresentable<String> & CaseIterable>(ifPresent name: StaticString) -> E? {
        guard let node = member(name) else { return nil }
        return enumeration(node, at: .known(name))
    }

    mutating func object<P: ContractParams>(ifPresent name: StaticString) -> P? {
        guard let node = member(name) else { return nil }
        return object(node, at: .known(name))
    }

    mutating func anyObject(ifPresent name: StaticString) -> JSONObject? {
        guard let node = member(name) else { return nil }
        return anyObject(node, at: .known(name))
    }

    mutating func map<Value>(
        ifPresent name: StaticString, count: ClosedRange<Int>, names rule: StringRule?,
        _ value: (inout ParamsReader, JSONNode, Step) -> Value?
    ) -> Members<Value>? {
        guard let node = member(name) else { return nil }
        return map(node, at: .known(name), count: count, names: rule, value)
    }

    mutating func array<Value: Equatable>(
        ifPresent name: StaticString, count: ClosedRange<Int>, isUnique: Bool, _ element: (inout ParamsReader, JSONNode, Step) -> Value?
    ) -> [Value]? {
        guard let node = member(name) else { return nil }
        return array(node, at: .known(name), count: count, isUnique: isUnique, element)
    }

    // MARK: Required members

    mutating func boolean(_ name: StaticString) -> Bool { boolean(ifPresent: name) ?? missing(name, false) }

    mutating func integer(_ name: StaticString, _ range: ClosedRange<Int64>) -> Int64 {
        integer(ifPresent: name, range) ?? missing(name, range.lowerBound)
    }

    mutating func string(_ name: StaticString, _ rule: StringRule) -> String { string(ifPresent: name, rule) ?? missing(name, "") }

    mutating func enumeration<E: RawRepresentable<String> & CaseIterable>(_ name: StaticString) -> E {
        enumeration(ifPresent: name) ?? missing(name, Self.placeholder())
    }

    mutating func object<P: ContractParams>(_ name: StaticString) -> P { object(ifPresent: name) ?? missing(name, Self.placeholder()) }

    mutating func anyObject(_ name: StaticString) -> JSONObject { anyObject(ifPresent: name) ?? missing(name, JSONObject()) }

    mutating func map<Value>(
        _ name: StaticString, count: ClosedRange<Int>, names rule: StringRule?, _ value: (inout ParamsReader, JSONNode, Step) -> Value?
    ) -> Members<Value> {
        map(ifPresent: name, count: count, names: rule, value) ?? missing(name, Members())
    }

    mutating func array<Value: Equatable>(
        _ name: StaticString, count: ClosedRange<Int>, isUnique: Bool, _ element: (inout ParamsReader, JSONNode, Step) -> Value?
    ) -> [Value] {
        array(ifPresent: name, count: count, isUnique: isUnique, element) ?? missing(name, [])
    }

    /// Returns the placeholder of a required member without a valid value.
    private mutating func missing<Value>(_ name: StaticString, _ placeholder: @autoclosure () -> Value) -> Value {
        report(missing: name)
        return placeholder()
    }

    /// Reports a missing required member. If the member is present, its value is not valid and has already been reported.
    private mutating func report(missing name: StaticString) {
        isFine = false
        guard isTracing else { return }
        guard members.object[name] == nil else { return cannotBeLeftOut(.known(name)) }
        place = Place(offset: members.object.endOffset, rank: .missing)
        add(.known(name), rule: "required", "is missing.")
    }

    static func placeholder<E: CaseIterable>() -> E { E.allCases.first! }

    static func placeholder<P: ContractParams>() -> P {
        var nothing = try! ParamsReader(params: nil)
        return P(&nothing)
    }

    // MARK: Rules of an object

    /// Reports members that were not looked up.
    ///
    /// - Parameter known: The names of all members, separated by spaces.
    mutating func refuseOthers(than known: StaticString) {
        guard members.hasOthers else { return }
        isFine = false
        guard isTracing else { return }
        let names = Self.names(known)
        members.object.forEachPair { name, _ in
            let text = name.string!
            guard !names.contains(text) else { return }
            reach(name)
            let hint = found.count < 20 ? NearestNames.hint(text, among: names) : ""
            let list = names.isEmpty ? "The method has no parameters." : "Allowed parameters: \(names.joined(separator: ", "))."
            add(.member(name), rule: "unknownParameter", "is unknown.\(hint.isEmpty ? " " + list : hint)")
        }
    }

    /// Reports an object that has too few or too many of several members.
    ///
    /// - Parameter choice: Their names, separated by spaces.
    mutating func choose(_ rule: StaticString, _ range: ClosedRange<Int>, _ choice: StaticString) {
        let given = members.object.count(ofMembers: choice)
        guard !range.contains(given) else { return }
        isFine = false
        guard isTracing else { return }
        place = Place(offset: members.object.endOffset, rank: .choice)
        let number = range == 1...1 ? "exactly" : range.lowerBound == 1 ? "at least" : "at most"
        let pointer = pointer()
        add(
            pointer: pointer, rule: rule.description,
            "Give \(number) one of \(Self.names(choice).joined(separator: ", ")). "
                + "The request contains \(given == 0 ? "none" : String(given)) of them.")
    }

    private static func names(_ list: StaticString) -> [String] { list.description.split(separator: " ").map(String.init) }

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
        report(text, at: step, noneOf: E.allCases.map(\.rawValue))
        return nil
    }

    private mutating func report(_ text: String, at step: Step, noneOf known: @autoclosure () -> [String]) {
        isFine = false
        guard isTracing else { return }
        let known = known()
        let hint = NearestNames.hint(text, among: known)
        add(step, rule: "enum", "must be one of \(known.joined(separator: ", ")); it is \(Self.quoted(text)).\(hint)")
    }

    /// Decodes an object with known members.
    mutating func object<P: ContractParams>(_ node: JSONNode, at step: Step) -> P? {
        guard node.kind == .object else {
            wrongType(node, at: step, expected: "an object")
            return nil
        }
        enter(step)
        let outer = members
        members = MemberLookup(node)
        let value = P(&self)
        members = outer
        leave()
        return value
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

    mutating func map<Value>(
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
        node.forEachPair { name, node in
            let text = self.name(name, rule ?? .any)
            if let value = value(&self, node, .member(name)) { members.append(text, value) }
        }
        return members
    }

    /// Decodes the name of a member of a map.
    private mutating func name(_ name: JSONNode, _ rule: StringRule) -> String {
        reach(name)
        let text = name.string!
        for breach in rule.breaches(of: text) { add(.member(name), breach, of: rule, text, isName: true) }
        return text
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
            reach(node)
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

    private mutating func refuseNul(in node: JSONNode, at step: Step) {
        switch node.kind {
        case .string: if node.containsNul { add(step, .noNulCharacter, of: .any, "") }
        case .array:
            enter(step)
            node.forEachElement { refuseNul(in: $1, at: .index($0)) }
            leave()
        case .object:
            enter(step)
            node.forEachPair { name, value in
                if name.containsNul { add(.member(name), .noNulCharacter, of: .any, "", isName: true) }
                refuseNul(in: value, at: .member(name))
            }
            leave()
        case .null, .bool, .number: break
        }
    }
}
