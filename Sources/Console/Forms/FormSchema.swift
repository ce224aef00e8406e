import Contract
import JSON
import Platform

/// The schema of a method's parameters, with references resolved.
struct FormSchema {
    struct Field {
        let name: String
        let isRequired: Bool
        let schema: JSONValue
    }

    private static let shared = OpenRPCDocument.sharedSchemas

    let fields: [Field]
    /// Sentences about parameters that exclude each other.
    let choices: [String]

    init(_ method: MethodInfo) {
        let object = (try? JSONValue(parsing: method.openRPC)) ?? [:]
        fields = (object["params"]?.array ?? []).map { param in
            var schema = Self.resolved(param["schema"] ?? [:])
            if let description = param["description"], var object = schema.object {
                object["description"] = description
                schema = .object(object)
            }
            return Field(name: param["name"]?.string ?? "", isRequired: param["required"]?.bool == true, schema: schema)
        }
        let words = ["exactlyOne": "Give exactly one of", "atMostOne": "Give at most one of", "atLeastOne": "Give at least one of"]
        choices = (object["x-choices"]?.array ?? []).map { choice in
            let names = (choice["of"]?.array ?? []).compactMap(\.string).map { "`\($0)`" }.joined(separator: ", ")
            return "\(words[choice["rule"]?.string ?? ""] ?? "Give one of") \(names)."
        }
    }

    /// Follows a reference. The other members of the schema take precedence over those of the target.
    static func resolved(_ schema: JSONValue) -> JSONValue {
        guard let name = schema["$ref"]?.string?.split(separator: "/").last else { return schema }
        var target = resolved(shared[String(name)] ?? [:]).object ?? [:]
        for (name, value) in schema.object?.members ?? [] where name != "$ref" { target[name] = value }
        return .object(target)
    }

    /// Returns the schema at a path, or `nil` if it is not known.
    func schema(at path: [String]) -> JSONValue? {
        var current = fields.first { $0.name == path.first }?.schema
        for step in path.dropFirst() {
            guard let schema = current else { return nil }
            let next =
                schema["properties"]?[step] ?? (schema["items"] ?? schema["additionalProperties"].flatMap { $0.object == nil ? nil : $0 })
            current = next.map { Self.resolved($0) }
        }
        return current
    }
}

/// The parts of a parameter path such as `logins[login.shop]`.
enum ParameterPath {
    /// No schema has deeper parameters.
    private static let deepest = 16

    /// Returns the steps of a path, or `nil` if it is not one or is too deep. An empty step appends to a list.
    static func steps(_ text: String) -> [String]? {
        guard let open = text.firstIndex(of: "[") else { return text.isEmpty ? nil : [text] }
        guard open > text.startIndex, text.hasSuffix("]") else { return nil }
        let inner = text[text.index(after: open)...].dropLast()
        let steps = inner.pieces(separatedBy: "][", maxSplits: deepest).map(String.init)
        return steps.count < deepest ? [String(text[..<open])] + steps : nil
    }

    static func text(_ steps: [String]) -> String { steps[0] + steps.dropFirst().map { "[\($0)]" }.joined() }
}

/// Converts the fields of a form to the parameters of a method.
struct FormParams {
    let schema: FormSchema

    /// Returns what is wrong with the fields themselves, in plain sentences. Such fields have no effect on the parameters, so the method
    /// must not be called without them.
    func problems(_ form: Fields) -> [String] {
        var found: [String] = []
        if let text = form.given("_json"), (try? JSONValue(parsing: text))?.object == nil {
            found.append("The field “More parameters as JSON” is not a JSON object\(Self.reason(text)).")
        }
        for (name, value) in form.all where !name.hasPrefix("_") && !value.isEmpty {
            guard let path = ParameterPath.steps(name) else {
                found.append("The field name \(name.prefix(100)) is not the path of a parameter, such as codes[length].")
                continue
            }
            let type = schema.schema(at: path)?["type"]?.string
            if ["object", "array"].contains(type ?? ""), (try? JSONValue(parsing: value)) == nil {
                found.append("The field \(name) is not valid JSON\(Self.reason(value)).")
            }
        }
        return found
    }

    private static func reason(_ text: String) -> String {
        do { _ = try JSONText(text) } catch { return ": \(error)" }
        return ""
    }

    func params(_ form: Fields) -> JSONObject {
        var root: JSONValue = .object([:])
        if let text = form.given("_json"), let object = try? JSONValue(parsing: text), object.object != nil { root = object }
        for (name, value) in form.all where !name.hasPrefix("_") && !value.isEmpty {
            guard let path = ParameterPath.steps(name) else { continue }
            Self.insert(converted(value, schema.schema(at: path)), at: path[...], into: &root)
        }
        // Entries of maps: the name of the entry is the value of a field.
        for (name, value) in form.all where name.hasPrefix("_key:") && !value.isEmpty {
            let place = name.dropFirst(5)
            guard let path = ParameterPath.steps(String(place.prefix { $0 != ":" })), let text = form["_value:" + place] else { continue }
            Self.insert(converted(text, schema.schema(at: path + [value])), at: (path + [value])[...], into: &root)
        }
        // A box that is checked by default and was not sent was unchecked.
        for (name, value) in form.all where name == "_box" && form[value] == nil {
            guard let path = ParameterPath.steps(value) else { continue }
            Self.insert(false, at: path[...], into: &root)
        }
        return root.object ?? [:]
    }

    /// Returns text as the schema describes it. Text that does not fit stays a string, so that the service names the violation.
    private func converted(_ text: String, _ schema: JSONValue?) -> JSONValue {
        switch schema?["type"]?.string {
        case "integer": return Int64(text).map { .number(JSONNumber($0)) } ?? .string(text)
        case "boolean": return text == "true" || text == "on" ? true : text == "false" ? false : .string(text)
        case "object", "array": return (try? JSONValue(parsing: text)) ?? .string(text)
        case "string": return .string(text)
        default: return schema?["enum"] != nil || schema == nil ? .string(text) : (try? JSONValue(parsing: text)) ?? .string(text)
        }
    }

    private static func insert(_ value: JSONValue, at path: ArraySlice<String>, into target: inout JSONValue) {
        guard let step = path.first else {
            target = value
            return
        }
        if case .array(var elements) = target {
            let index = step.isEmpty ? elements.count : Int(step) ?? -1
            guard 0...elements.count ~= index else { return }
            if index == elements.count { elements.append(.null) }
            insert(value, at: path.dropFirst(), into: &elements[index])
            target = .array(elements)
            return
        }
        var object = target.object ?? [:]
        let isList = path.count > 1 && (path[path.startIndex + 1].isEmpty || path[path.startIndex + 1] == "0")
        var member = object[step] ?? (isList ? .array([]) : path.count > 1 ? .object([:]) : .null)
        insert(value, at: path.dropFirst(), into: &member)
        object[step] = member
        target = .object(object)
    }
}
