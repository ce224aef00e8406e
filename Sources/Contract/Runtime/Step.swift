import JSON

/// One step of a JSON pointer. Names are converted to text only if a violation needs them.
enum Step: ExpressibleByStringLiteral {
    case known(StaticString)
    case member(JSONNode)
    case index(Int)

    init(stringLiteral value: StaticString) { self = .known(value) }

    /// The name without escapes.
    var text: String {
        switch self {
        case .known(let name): name.description
        case .member(let name): name.string ?? ""
        case .index(let index): String(index)
        }
    }
}
