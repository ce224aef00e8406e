import Arguments
import JSON

/// The values of items, at their places in the parameters.
final class ItemTree {
    private enum Content {
        case none
        case value(JSONValue)
        case object([(key: String, node: ItemTree)])
        case list([Int: ItemTree])
    }

    private var content = Content.none
    /// The item that was first here, without its value.
    private var label = ""

    /// - Throws: `ValidationError` if another item has a value at the same place.
    func set(_ value: JSONValue, at steps: ArraySlice<ParameterPath.Step>, label: String) throws {
        defer { if self.label.isEmpty { self.label = label } }
        guard let step = steps.first else {
            if case .none = content {
                content = .value(value)
                return
            }
            throw conflict(with: label)
        }
        try child(of: step, label).set(value, at: steps.dropFirst(), label: label)
    }

    private func child(of step: ParameterPath.Step, _ label: String) throws -> ItemTree {
        switch step {
        case .key(let key):
            var members: [(key: String, node: ItemTree)] = []
            if case .object(let known) = content { members = known } else if !isEmpty { throw conflict(with: label) }
            if let known = members.first(where: { $0.key == key }) { return known.node }
            members.append((key, ItemTree()))
            content = .object(members)
            return members[members.count - 1].node
        case .index, .append:
            var elements: [Int: ItemTree] = [:]
            if case .list(let known) = content { elements = known } else if !isEmpty { throw conflict(with: label) }
            var index = (elements.keys.max() ?? -1) + 1
            if case .index(let given) = step { index = given }
            if let known = elements[index] { return known }
            elements[index] = ItemTree()
            content = .list(elements)
            return elements[index]!
        }
    }

    private var isEmpty: Bool { if case .none = content { true } else { false } }

    private func conflict(with other: String) -> ValidationError {
        ValidationError(
            self.label == other
                ? "\(other) is given twice. Give each parameter once."
                : "\(self.label) and \(other) exclude each other: both set the same value.")
    }

    /// - Throws: `ValidationError` if an element before the last one of a list is missing.
    func value() throws -> JSONValue {
        switch content {
        case .none: return [:]
        case .value(let value): return value
        case .object(let members):
            var object = JSONObject()
            for member in members { object[member.key] = try member.node.value() }
            return .object(object)
        case .list(let elements):
            let places = elements.keys.sorted()
            for (expected, place) in places.enumerated() where expected != place {
                throw ValidationError("\(label): element \(expected) of this list is missing. The first element is 0.")
            }
            return .array(try places.map { try elements[$0]!.value() })
        }
    }
}
