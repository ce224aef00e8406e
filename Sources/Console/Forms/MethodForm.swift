import JSON

/// Generates the fields of a form from the schema of a method.
struct MethodForm {
    private static let deepest = 2

    let schema: FormSchema
    /// The values that were sent before, or that the link to the form contains.
    let values: Fields

    /// - Parameter names: The parameters to show, or `nil` for all.
    func fields(only names: [String]? = nil) -> HTML {
        let shown = schema.fields.filter { names?.contains($0.name) ?? true }
        return shown.map { field([$0.name], $0.schema, isRequired: $0.isRequired) }.joined("\n")
    }

    private func field(_ path: [String], _ schema: JSONValue, isRequired: Bool) -> HTML {
        let name = ParameterPath.text(path)
        let properties = schema["properties"]?.object
        if schema["secret"]?.bool == true, schema["type"]?.string != "object" {
            return labeled(path, schema, isRequired) { id in
                "<input type=\"password\" id=\"\(id)\" name=\"\(name)\" autocomplete=\"new-password\">"
            }
        }
        if let choices = schema["enum"]?.array { return select(path, schema, isRequired, choices: choices.compactMap(\.string)) }
        switch schema["type"]?.string {
        case "boolean": return box(path, schema, isRequired)
        case "object" where properties != nil && path.count <= Self.deepest:
            let required = (schema["required"]?.array ?? []).compactMap(\.string)
            let inner = properties!.members.map {
                field(path + [$0.name], FormSchema.resolved($0.value), isRequired: required.contains($0.name))
            }
            let isOpen = isRequired || values.all.contains { $0.name.hasPrefix(name + "[") && !$0.value.isEmpty }
            return """
                <details class="group"\(isOpen ? " open" : HTML.none)><summary>\(name)\(mark(isRequired))</summary>\(hint(schema))\
                \(inner.joined("\n"))</details>
                """
        case "object":
            if let entry = schema["additionalProperties"], entry.object != nil, isScalar(FormSchema.resolved(entry)) {
                return map(path, schema, FormSchema.resolved(entry), isRequired)
            }
            return json(path, schema, isRequired, "{ }")
        case "array":
            guard let items = schema["items"].map({ FormSchema.resolved($0) }), isScalar(items) else {
                return json(path, schema, isRequired, "[ ]")
            }
            return list(path, schema, items, isRequired: isRequired)
        default: return input(path, schema, isRequired)
        }
    }

    private func isScalar(_ schema: JSONValue) -> Bool { !["object", "array"].contains(schema["type"]?.string ?? "") }

    // MARK: Kinds of fields

    private func labeled(_ path: [String], _ schema: JSONValue, _ isRequired: Bool, _ control: (_ id: String) -> HTML) -> HTML {
        let id = "field-" + ParameterPath.text(path)
        return """
            <div class="field"><label for="\(id)"><code>\(path.last ?? "")</code>\(mark(isRequired))</label>\
            \(control(id))\(hint(schema))</div>
            """
    }

    private func mark(_ isRequired: Bool) -> HTML { isRequired ? " <span class=\"need\">required</span>" : .none }

    private func hint(_ schema: JSONValue) -> HTML {
        schema["description"]?.string.map { "<p class=\"hint\">\(Self.marked($0))</p>" } ?? .none
    }

    /// Returns text whose identifiers in backticks are code.
    static func marked(_ text: String) -> HTML {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part -> HTML in
            index % 2 == 1 ? "<code>\(String(part))</code>" : HTML(String(part))
        }.joined()
    }

    private func input(_ path: [String], _ schema: JSONValue, _ isRequired: Bool) -> HTML {
        let name = ParameterPath.text(path)
        let mode: HTML = schema["type"]?.string == "integer" ? " inputmode=\"numeric\"" : .none
        let standard = schema["default"].map { $0.string ?? $0.text } ?? ""
        return labeled(path, schema, isRequired) { id in
            "<input id=\"\(id)\" name=\"\(name)\" value=\"\(values[name] ?? "")\" placeholder=\"\(standard)\"\(mode) autocomplete=\"off\">"
        }
    }

    private func select(_ path: [String], _ schema: JSONValue, _ isRequired: Bool, choices: [String]) -> HTML {
        let name = ParameterPath.text(path)
        let standard = schema["default"]?.string
        let options = choices.map { "<option\($0 == values[name] ? " selected" : HTML.none)>\($0)</option>" as HTML }.joined()
        let none: HTML = "<option value=\"\">\(standard.map { "default: \($0)" } ?? "–")</option>"
        return labeled(path, schema, isRequired) { id in "<select id=\"\(id)\" name=\"\(name)\">\(none)\(options)</select>" }
    }

    private func box(_ path: [String], _ schema: JSONValue, _ isRequired: Bool) -> HTML {
        let name = ParameterPath.text(path)
        let standard = schema["default"]?.bool == true
        let wasSent = values.all.contains { $0.name == "_token" }
        let isChecked = values[name].map { $0 == "true" || $0 == "on" } ?? (standard && !wasSent)
        let note: HTML = standard ? "<input type=\"hidden\" name=\"_box\" value=\"\(name)\">" : .none
        return """
            <div class="field box"><label><input type="checkbox" name="\(name)" value="true"\(isChecked ? " checked" : HTML.none)> \
            <code>\(path.last ?? "")</code>\(mark(isRequired))</label>\(note)\(hint(schema))</div>
            """
    }

    private func list(_ path: [String], _ schema: JSONValue, _ items: JSONValue, isRequired: Bool) -> HTML {
        let name = ParameterPath.text(path)
        let sent = values.all.filter { $0.name == name + "[]" && !$0.value.isEmpty }.map(\.value)
        if let choices = items["enum"]?.array?.compactMap(\.string) {
            let boxes = choices.map { choice -> HTML in
                let isChecked: HTML = sent.contains(choice) ? " checked" : .none
                return
                    "<label class=\"inline\"><input type=\"checkbox\" name=\"\(name)[]\" value=\"\(choice)\"\(isChecked)> \(choice)</label>"
            }
            return labeled(path, schema, isRequired) { id in "<div id=\"\(id)\" class=\"boxes\">\(boxes.joined(" "))</div>" }
        }
        let type: HTML = items["secret"]?.bool == true ? "password" : "text"
        let inputs = (sent + ["", ""]).enumerated().map { index, value -> HTML in
            let shown = items["secret"]?.bool == true ? "" : value
            return
                """
                <input type="\(type)" name="\(name)[]" value="\(shown)" aria-label="\(name), entry \(index + 1)" autocomplete="off">
                """
        }
        return labeled(path, schema, isRequired) { id in "<div id=\"\(id)\" class=\"entries\">\(inputs.joined())</div>" }
    }

    private func map(_ path: [String], _ schema: JSONValue, _ entry: JSONValue, _ isRequired: Bool) -> HTML {
        let name = ParameterPath.text(path)
        let isSecret = entry["secret"]?.bool == true
        let type: HTML = isSecret ? "password" : "text"
        var known = values.all.filter { $0.name.hasPrefix(name + "[") && $0.name.hasSuffix("]") }.map(\.name)
        known += values.all.filter { $0.name.hasPrefix("_key:\(name):") && !$0.value.isEmpty }.map { "\(name)[\($0.value)]" }
        let entries = known.map { field -> HTML in
            let shown = isSecret ? "" : values[field] ?? ""
            return """
                <label class="entry"><code>\(String(field.dropFirst(name.count + 1).dropLast()))</code>\
                <input type="\(type)" name="\(field)" value="\(shown)" autocomplete="off"></label>
                """
        }
        let blanks = (0..<2).map { index -> HTML in
            """
            <div class="entry"><input name="_key:\(name):\(index)" placeholder="name" aria-label="\(name), name \(index + 1)" \
            autocomplete="off">\
            <input type="\(type)" name="_value:\(name):\(index)" placeholder="value" aria-label="\(name), value \(index + 1)" \
            autocomplete="off"></div>
            """
        }
        return labeled(path, schema, isRequired) { id in "<div id=\"\(id)\" class=\"entries\">\((entries + blanks).joined())</div>" }
    }

    private func json(_ path: [String], _ schema: JSONValue, _ isRequired: Bool, _ sample: String) -> HTML {
        let name = ParameterPath.text(path)
        return labeled(path, schema, isRequired) { id in
            """
            <textarea id="\(id)" name="\(name)" rows="3" placeholder="\(sample) as JSON" spellcheck="false">\(values[name] ?? "")</textarea>
            """
        }
    }
}
