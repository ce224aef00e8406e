import Contract
import JSON
import Platform

/// The pages of the types, the errors and the commands.
extension Site {
    var typeList: String {
        let text = HTMLText(root: "")
        var content = "<h1>Types</h1>\n<p class=\"lead\">The types that several methods share.</p>\n"
        for name in types.names {
            let schema = types.schema(name) ?? .null
            let id = HTMLText.escaped(name)
            content += "<section class=\"entry\" id=\"\(id)\">\n<h2><code>\(id)</code></h2>\n"
            if let description = schema["description"]?.string { content += "<p>\(text.description(description))</p>\n" }
            let members = types.members(name) ?? []
            guard !members.isEmpty else {
                content += "<p><span class=\"soft\">\(typeText(schema, text))</span></p>\n</section>\n"
                continue
            }
            let required = schema["required"]?.array ?? []
            content += "<dl>\n"
            for member in members {
                let need = required.contains(.string(member.name)) ? " <span class=\"need\">required</span>" : ""
                content +=
                    "<dt><code>\(HTMLText.escaped(member.name))</code> <span class=\"sign\">\(typeText(member.value, text))</span>"
                    + "\(need)</dt>\n"
                let description = member.value["description"]?.string ?? types.target(of: member.value)?.schema["description"]?.string
                content += "<dd>\(text.description(description ?? ""))</dd>\n"
            }
            content += "</dl>\n</section>\n"
        }
        let side = "<h2>Types</h2>\n<ul>\n" + links(types.names.map { ("#" + $0, $0, false) }) + "</ul>\n"
        return frame("types.html", title: "Types", side: side, content)
    }

    func typeText(_ schema: JSONValue, _ text: HTMLText) -> String {
        let isOwn = types.target(of: schema) == nil
        return text.type(types.text(of: schema, isShort: !isOwn), among: typeNames)
    }

    // MARK: Errors

    var errorList: String {
        let text = HTMLText(root: "")
        var content =
            "<h1>Errors</h1>\n<p class=\"lead\">Every error has a number, a stable name, a message for humans, and data. Program against"
        content +=
            " the name and the data; the words of the message can change. The <a href=\"guides/errors.html\">guide about errors</a> "
        content += "explains what they have in common.</p>\n"
        for error in Contract.ErrorTable.all {
            let id = HTMLText.escaped(error.type)
            content += "<section class=\"entry\" id=\"\(id)\">\n<h2><code>\(id)</code></h2>\n<ul class=\"marks\"><li>\(error.code)</li>"
            if error.isRetryable { content += "<li class=\"public\">retry after retryAfterSeconds</li>" }
            if error.isStoreError { content += "<li>the store cannot be used</li>" }
            content += "</ul>\n<p>\(text.description(error.when))</p>\n"
            if let message = errors[error.type]?["message"]?.string {
                content += HTMLText.code(message, caption: "Message", isMessage: true)
            }
            let data = (errorData[error.type]?["properties"]?.object?.members ?? []).filter { $0.name != "type" }
            if !data.isEmpty {
                content += "<dl>\n"
                for member in data {
                    content +=
                        "<dt><code>\(HTMLText.escaped(member.name))</code> <span class=\"sign\">\(typeText(member.value, text))</span>"
                        + "</dt>\n"
                    let description = member.value["description"]?.string ?? types.target(of: member.value)?.schema["description"]?.string
                    content += "<dd>\(text.description(description ?? ""))</dd>\n"
                }
                content += "</dl>\n"
            }
            let methods = Contract.MethodTable.all.filter { $0.errors.contains(error.type) }.map { text.identifier($0.name) }
            if !methods.isEmpty { content += "<p class=\"soft\">Returned by \(methods.joined(separator: ", ")).</p>\n" }
            content += "</section>\n"
        }
        let side = "<h2>Errors</h2>\n<ul>\n" + links(Contract.ErrorTable.all.map { ("#" + $0.type, $0.type, false) }) + "</ul>\n"
        return frame("errors.html", title: "Errors", side: side, content)
    }

    // MARK: Commands

    var commandList: String {
        let text = HTMLText(root: "")
        var content =
            "<h1>Commands and options</h1>\n<p class=\"lead\">Every option can also be given in the environment; the option takes"
        content += " precedence. The <a href=\"guides/exit-codes.html\">exit codes</a> have a guide.</p>\n"
        for command in commands.commands {
            let name = HTMLText.escaped(command.name)
            content +=
                "<section class=\"entry\" id=\"\(name)\">\n<h2><code>mintmark \(name)</code></h2>\n"
                + "<p>\(text.description(command.abstract))</p>\n"
            for paragraph in command.discussion.pieces(separatedBy: "\n\n") where !paragraph.isEmpty {
                content +=
                    paragraph.includes("\n  ") || paragraph.hasPrefix("  ")
                    ? HTMLText.code(String(paragraph)) : "<p>\(text.commandText(String(paragraph).replacing("\n", with: " ")))</p>\n"
            }
            let own = commands.own(command)
            if !own.isEmpty { content += "<dl>\n" + own.map { item($0, isServe: command.name == "serve", text) }.joined() + "</dl>\n" }
            let shared = commands.shared(command).map { "<a href=\"#option-\($0.dropFirst(2))\"><code>\(HTMLText.escaped($0))</code></a>" }
            if !shared.isEmpty {
                content += "<p class=\"soft\">It also has these options of serve: \(shared.joined(separator: ", ")).</p>\n"
            }
            content += "</section>\n"
        }
        let side = "<h2>Commands</h2>\n<ul>\n" + links(commands.commands.map { ("#" + $0.name, $0.name, false) }) + "</ul>\n"
        return frame("commands.html", title: "Commands and options", side: side, content)
    }

    /// The options of `serve` have an anchor, the variable of the environment and the name in clients.
    func item(_ option: CommandTable.Option, isServe: Bool, _ text: HTMLText) -> String {
        let known = isServe ? documentation.options.first { option.names.contains($0.flag) } : nil
        let anchor = known.map { " id=\"option-\(HTMLText.escaped(String($0.flag.dropFirst(2))))\"" } ?? anchor(option, isServe)
        let description = text.description(known?.description ?? option.description)
        let more = known.map {
            " <span class=\"soft\">In clients: <code>\($0.name)</code>. Variable: <code>\(ManPage.variable($0.flag))</code>.</span>"
        }
        return "<dt\(anchor)><code>\(HTMLText.escaped(option.usage))</code></dt>\n<dd>\(description)\(more ?? "")</dd>\n"
    }

    func anchor(_ option: CommandTable.Option, _ isServe: Bool) -> String {
        guard isServe, let name = option.names.last, name.hasPrefix("--") else { return "" }
        return " id=\"option-\(HTMLText.escaped(String(name.dropFirst(2))))\""
    }
}
