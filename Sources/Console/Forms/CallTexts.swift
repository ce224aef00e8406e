import JSON
import Platform

/// The same call on the command line and in each language.
struct CallTexts {
    let method: String
    /// The parameters, without secrets.
    let params: JSONObject

    var all: [(title: String, text: String)] {
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": .object(params)]
        let quoted = JSONValue.string(method).text
        let json = JSONValue.object(params).text
        let words = method.split(separator: ".").map(String.init)
        return [
            ("Command line", "mintmark call \(method)" + (params.isEmpty ? "" : " " + shell(json))), ("JSON line", request.text),
            ("Python", "m.call(\(quoted), \(literal(.object(params), .python)))"),
            ("Node", "await m.\(words.joined(separator: "."))(\(params.isEmpty ? "" : json));"),
            ("Go", "err := m.Call(ctx, \(quoted), \(literal(.object(params), .go)), &result)"),
            ("Java", "m.call(\(quoted), \(literal(.object(params), .java)));"),
            ("Ruby", "m.call(\(quoted), \(literal(.object(params), .ruby)))"),
            ("bash", "mintmark_call \(method)" + params.members.map { " " + item($0.name, $0.value) }.joined()),
            ("Swift", "let result: JSONValue = try await m.call(\(quoted), \(literal(.object(params), .swift)))"),
        ]
    }

    private enum Language { case python, go, java, ruby, swift }

    private func literal(_ value: JSONValue, _ language: Language) -> String {
        switch value {
        case .null: return [.python: "None", .java: "null"][language] ?? "nil"
        case .bool(let bool): return language == .python ? (bool ? "True" : "False") : value.text
        case .number: return value.text
        case .string:
            return language == .ruby
                ? value.text.replacing("#{", with: "\\#{") : value.text
        case .array(let elements):
            let inner = elements.map { literal($0, language) }.joined(separator: ", ")
            return language == .go ? "[]any{\(inner)}" : language == .java ? "List.of(\(inner))" : "[\(inner)]"
        case .object(let object):
            let sign = [.ruby: " => ", .java: ", "][language] ?? ": "
            let inner = object.members.map { JSONValue.string($0.name).text + sign + literal($0.value, language) }.joined(separator: ", ")
            switch language {
            case .go: return "map[string]any{\(inner)}"
            case .java:
                if object.count <= 10 { return "Map.of(\(inner))" }
                let entries = object.members.map { "Map.entry(\(JSONValue.string($0.name).text), \(literal($0.value, language)))" }
                return "Map.ofEntries(\(entries.joined(separator: ", ")))"
            case .swift: return object.isEmpty ? "[:]" : "[\(inner)]"
            default: return "{\(inner)}"
            }
        }
    }

    private func item(_ name: String, _ value: JSONValue) -> String {
        if case .string(let text) = value { return "\(name)=\(shell(text))" }
        return "\(name):=\(shell(value.text))"
    }

    private func shell(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || "-_./:@+%,".utf8.contains(byte)
            }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
