import JSON

/// Generates the fields of a form from the schema of a method.
struct MethodForm {
    private static let deepest = 2

    let schema: FormSchema
    /// The values that were sent before, or that the link to the form contains.
    let values: Fields

    /// A field of the form.
    private struct Field {
        let path: [String]
        let schema: JSONValue
        let isRequired: Bool
        var name: String { ParameterPath.text(path) }
        var id: String { "field-" + name }
        var label: String { path.last ?? "" }
    }

    /// - Parameter names: The parameters to show, or `nil` for all.
    func fields(only names: [String]? = nil) -> HTML {
        let shown = schema.fields.filter { names?.contains($0.name) ?? true }
        return shown.map { html(Field(path: [$0.name], schema: $0.schema, isRequired: $0.isRequired)) }.joined("\n")
    }

    private func html(_ field: Field) -> HTML {
        let (name, schema) = (field.name, field.schema)
        let properties = schema["properties"]?.object
        if schema["secret"]?.bool == true, schema["type"]?.string != "object" {
            return labeled(field) { id in
                "<input type=\"password\" id=\"\(id)\" name=\"\(name)\" autocomplete=\"new-password\">"
            }
        }
        if let choices = schema["enum"]?.array { return select(field, choices: choices.compactMap(\.string)) }
        switch schema["type"]?.string {
        case "boolean": return box(field)
        case "object" where properties != nil && field.path.count <= Self.deepest:
            let required = (schema["required"]?.array ?? []).compactMap(\.string)
            let inner = properties!.members.map {
                html(
                    Field(path: field.path + [$0.name], schema: FormSchema.resolved($0.value), isRequired: required.contains($0.name)))
            }
            let isOpen = field.isRequired || values.all.contains { $0.name.hasPrefix(name + "[") && !$0.value.isEmpty }
            return """
                <details class="group"\(isOpen ? " open" : HTML.none)><summary>\(name)\(mark(field))</summary>\(hint(field))\
                \(inner.joined("\n"))</details>
                """
        case "object":
            if let entry = schema["additionalProperties"], entry.object != nil, isScalar(FormSchema.resolved(entry)) {
                return map(field, of: FormSchema.resolved(entry))
            }
            return json(field, sample: "{ }")
        case "array":
            guard let items = schema["items"].map({ FormSchema.resolved($0) }), isScalar(items) else {
                return json(field, sample: "[ ]")
            }
            return list(field, of: items)
        default: return input(field)
        }
    }

    private func isScalar(_ schema: JSONValue) -> Bool { !["object", "array"].contains(schema["type"]?.string ?? "") }

    // MARK: Kinds of fields

    private func labeled(_ field: Field, _ control: (_ id: String) -> HTML) -> HTML {
        """
        <div class="field"><label for="\(field.id)"><code>\(field.label)</code>\(mark(field))</label>\
        \(control(field.id))\(hint(field))</div>
        """
    }

    private func mark(_ field: Field) -> HTML { field.isRequired ? " <span class=\"need\">required</span>" : .none }

    private func hint(_ field: Field) -> HTML {
        field.schema["description"]?.string.map { "<p class=\"hint\">\(Self.marked($0))</p>" } ?? .none
    }

    /// Returns text whose identifiers in backticks are code.
    static func marked(_ text: String) -> HTML {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part -> HTML in
            index % 2 == 1 ? "<code>\(String(part))</code>" : HTML(String(part))
        }.joined()
    }

    private func input(_ field: Field) -> HTML {
        let name = field.name
        let mode: HTML = field.schema["type"]?.string == "integer" ? " inputmode=\"numeric\"" : .none
        let standard = field.schema["default"].map { $0.string ?? $0.text } ?? ""
        return labeled(field) { id in
            "<input id=\"\(id)\" name=\"\(name)\" value=\"\(values[name] ?? "")\" placeholder=\"\(standard)\"\(mode) autocomplete=\"off\">"
        }
    }

    private func select(_ field: Field, choices: [String]) -> HTML {
        let name = field.name
        let standard = field.schema["default"]?.string
        let options = choices.map { "<option\($0 == values[name] ? " selected" : HTML.none)>\($0)</option>" as HTML }.joined()
        let none: HTML = "<option value=\"\">\(standard.map { "default: \($0)" } ?? "–")</option>"
        return labeled(field) { id in "<select id=\"\(id)\" name=\"\(name)\">\(none)\(options)</select>" }
    }

    private func box(_ field: Field) -> HTML {
        let name = field.name
        let standard = field.schema["default"]?.bool == true
        let wasSent = values.all.contains { $0.name == "_token" }
        let isChecked = values[name].map { $0 == "true" || $0 == "on" } ?? (standard && !wasSent)
        let note: HTML = standard ? "<input type=\"hidden\" name=\"_box\" value=\"\(name)\">" : .none
        return """
            <div class="field box"><label><input type="checkbox" name="\(name)" value="true"\(isChecked ? " checked" : HTML.none)> \
            <code>\(field.label)</code>\(mark(field))</label>\(note)\(hint(field))</div>
            """
    }

    private func list(_ field: Field, of items: JSONValue) -> HTML {
        let name = field.name
        let sent = values.all.filter { $0.name == name + "[]" && !$0.value.isEmpty }.map(\.value)
        if let choices = items["enum"]?.array?.compactMap(\.string) {
            let boxes = choices.map { choice -> HTML in
                let isChecked: HTML = sent.contains(choice) ? " checked" : .none
                return
                    "<label class=\"inline\"><input type=\"checkbox\" name=\"\(name)[]\" value=\"\(choice)\"\(isChecked)> \(choice)</label>"
            }
            return labeled(field) { id in "<div id=\"\(id)\" class=\"boxes\">\(boxes.joined(" "))</div>" }
        }
        let type: HTML = items["secret"]?.bool == true ? "password" : "text"
        let inputs = (sent + ["", ""]).enumerated().map { index, value -> HTML in
            let shown = items["secret"]?.bool == true ? "" : value
            return
                """
                <input type="\(type)" name="\(name)[]" value="\(shown)" aria-label="\(name), entry \(index + 1)" autocomplete="off">
                """
        }
        return labeled(field) { id in "<div id=\"\(id)\" class=\"entries\">\(inputs.joined())</div>" }
    }

    private func map(_ field: Field, of entry: JSONValue) -> HTML {
        let name = field.name
        let isSecret = entry["secret"]?.bool == true
        let type: HTML = isSecret ? "password" : "text"
        var known = values.all.filter { $0.name.hasPrefix(name + "[") && $0.name.hasSuffix("]") }.map(\.name)
        known += values.all.filter { $0.name.hasPrefix("_key:\(name):") && !$0.value.isEmpty }.map { "\(name)[\($0.value)]" }
        let entries = known.map { member -> HTML in
            let shown = isSecret ? "" : values[member] ?? ""
            return """
                <label class="entry"><code>\(String(member.dropFirst(name.count + 1).dropLast()))</code>\
                <input type="\(type)" name="\(member)" value="\(shown)" autocomplete="off"></label>
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
        return labeled(field) { id in "<div id=\"\(id)\" class=\"entries\">\((entries + blanks).joined())</div>" }
    }

    private func json(_ field: Field, sample: String) -> HTML {
        let name = field.name
        return labeled(field) { id in
            """
            <textarea id="\(id)" name="\(name)" rows="3" placeholder="\(sample) as JSON" spellcheck="false">\(values[name] ?? "")</textarea>
            """
        }
    }
}
