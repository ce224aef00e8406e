import Contract
import JSON

/// Describes an error: its message, its data, and the methods that return it.
enum ErrorDescription {
    /// Returns an error as JSON.
    static func object(_ error: ErrorInfo) -> JSONValue {
        var object: JSONObject = ["type": .string(error.type), "code": .number(JSONNumber(Int64(error.code))), "when": .string(error.when)]
        object["message"] = Documentation.errors[error.type]?["message"]
        object["data"] = OpenRPCDocument.errorDataSchemas[error.type]
        object["methods"] = .array(
            Contract.MethodTable.all.filter { $0.errors.contains(error.type) }.map { .string($0.name) })
        return .object(object)
    }

    /// Prints an error for a reader.
    static func show(_ error: ErrorInfo) throws {
        try Printing.out("\(Printing.bold(error.type))  \(Printing.dim("error \(error.code)"))\n  \(error.when)\n")
        if let message = Documentation.errors[error.type]?["message"]?.string {
            try Printing.out("\(Printing.bold("Message"))\n  \(message)\n")
        }
        let types = TypeDescriptions()
        let data = (OpenRPCDocument.errorDataSchemas[error.type]?["properties"]?.object?.members ?? []).filter { $0.name != "type" }
        if !data.isEmpty {
            try Printing.out(Printing.bold("Data"))
            for member in data {
                try Printing.out("  \(Printing.cyan(member.name))  \(Printing.dim(types.text(of: member.value, isShort: true)))")
                if let description = member.value["description"]?.string { try Printing.out("      \(description)") }
            }
            try Printing.out("")
        }
        let methods = Contract.MethodTable.all.filter { $0.errors.contains(error.type) }.map(\.name)
        let text = methods.isEmpty ? "every method that can meet this condition" : methods.joined(separator: ", ")
        try Printing.out("\(Printing.bold("Exit code of commands"))\n  \(error.isStoreError ? 2 : 1)\n")
        try Printing.out("\(Printing.bold("Returned by"))\n  \(text)")
    }
}
