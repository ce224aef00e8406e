import JSON

/// The call of a method in each client language, with the parameters of its first example that returns a result.
struct CallExamples {
    let contract: Contract

    /// Returns the calls by method and language.
    var all: JSONObject {
        let go = GoCalls(contract: contract)
        var calls = JSONObject()
        for method in contract.methods {
            guard let params = params(of: method) else { continue }
            calls[method.name] = [
                "Command line": .string(ShellCalls(contract: contract, program: "mintmark call").call(method, params)),
                "bash": .string(ShellCalls(contract: contract).call(method, params)),
                "Python": .string(PythonCalls().call(method, params)),
                "Node": .string(NodeCalls().call(method, params)),
                "Go": .string(go.call(method, params)),
                "Java": .string(JavaCalls(contract: contract).call(method, params)),
                "Ruby": .string(RubyCalls().call(method, params)),
                "Swift": .string(SwiftCalls(contract: contract).call(method, params)),
            ]
        }
        return calls
    }

    private func params(of method: Method) -> JSONObject? {
        let example =
            method.examples.first { if case .result = $0.outcome { true } else { false } } ?? method.examples.first
        return example.map { RecordedValues.fill($0.params).object ?? [:] }
    }
}

/// Calls with the functions for bash, or with the program.
struct ShellCalls {
    let contract: Contract
    /// The words before the method.
    var program = "mintmark_call"

    func call(_ method: Method, _ params: JSONObject) -> String {
        let items = params.members.map { name, value in
            guard case .string(let text) = value else { return Layout.leaf("\(name):=\(quoted(value.text))") }
            return Layout.leaf("\(name)=\(quoted(text))")
        }
        let open = "\(program) \(method.name)" + (items.isEmpty ? "" : " ")
        guard !items.isEmpty else { return open }
        let call = Layout.group(open: open, items: items, close: "", separator: " \\", trailing: "").text()
        // Only the opening line lacks its continuation sign.
        guard let end = call.firstIndex(of: "\n"), call[..<end].hasSuffix(method.name) else { return call }
        return call[..<end] + " \\" + call[end...]
    }

    private func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./:@+%".contains($0)) }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

/// Calls of the Python client.
struct PythonCalls {
    func call(_ method: Method, _ params: JSONObject) -> String {
        let items = params.members.map { Layout.labeled(PythonNames.member($0.name, in: .method) + "=", literal($0.value)) }
        return Layout.list("m.\(PythonNames.member(method.namespace)).\(PythonNames.member(method.verb))(", items, ")").text()
    }

    private func literal(_ value: JSONValue) -> Layout {
        switch value {
        case .null: .leaf("None")
        case .bool(let bool): .leaf(bool ? "True" : "False")
        case .number, .string: .leaf(value.text)
        case .array(let elements): .list("[", elements.map(literal), "]")
        case .object(let object):
            .list("{", object.members.map { .labeled(JSONValue.string($0.name).text + ": ", literal($0.value)) }, "}")
        }
    }
}

/// Calls of the Node client.
struct NodeCalls {
    func call(_ method: Method, _ params: JSONObject) -> String {
        let head = "await m.\(method.namespace).\(method.verb)("
        guard !params.isEmpty else { return head + ");" }
        guard case .group(_, let items, _, _, _) = literal(.object(params)) else { return "" }
        return Layout.list(head + "{ ", items, " });").text(indent: "  ")
    }

    private func literal(_ value: JSONValue) -> Layout {
        switch value {
        case .null, .bool, .number, .string: .leaf(value.text)
        case .array(let elements): .list("[", elements.map(literal), "]")
        case .object(let object): .list("{ ", object.members.map { .labeled(name($0.name) + ": ", literal($0.value)) }, " }")
        }
    }

    private func name(_ name: String) -> String {
        let isPlain = name.first?.isNumber == false && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isPlain ? name : JSONValue.string(name).text
    }
}

/// Calls of the Ruby client. Objects inside parameters are hashes with the names of the contract.
struct RubyCalls {
    func call(_ method: Method, _ params: JSONObject) -> String {
        let head = "m.\(RubyNames.member(method.namespace)).\(RubyNames.member(method.verb))"
        let items = params.members.map { Layout.labeled(RubyNames.member($0.name) + ": ", literal($0.value)) }
        return items.isEmpty ? head : Layout.list(head + "(", items, ")").text(indent: "  ")
    }

    private func literal(_ value: JSONValue) -> Layout {
        switch value {
        case .null: .leaf("nil")
        case .bool, .number: .leaf(value.text)
        case .string(let text): .leaf(JSONValue.string(text).text.replacing("#{", with: "\\#{"))
        case .array(let elements): .list("[", elements.map(literal), "]")
        case .object(let object):
            .list("{", object.members.map { .labeled(JSONValue.string($0.name).text + " => ", literal($0.value)) }, "}")
        }
    }
}
