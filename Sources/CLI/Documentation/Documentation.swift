import Contract
import JSON
import Platform

/// The documentation in the program: the guides, the options of `serve`, and the calls of each method in the client languages.
struct Documentation {
    struct Guide {
        /// The name of the file without its extension.
        let name: String
        let title: String
        /// The guide in Markdown.
        let text: String
    }

    struct ServeOption {
        let name: String
        let flag: String
        let description: String
    }

    let guides: [Guide]
    let options: [ServeOption]
    /// The calls by method, each by language.
    let calls: JSONObject
    let style: String
    let script: String

    /// Decompresses the documentation.
    init() {
        let document = (try? JSONValue(parsing: CompressedText.bytes(Self.compressed))) ?? .null
        func text(_ value: JSONValue, _ name: String) -> String { value[name]?.string ?? "" }
        guides = (document["guides"]?.array ?? []).map {
            Guide(name: text($0, "name"), title: text($0, "title"), text: text($0, "text"))
        }
        options = (document["options"]?.array ?? []).map {
            ServeOption(name: text($0, "name"), flag: text($0, "flag"), description: text($0, "description"))
        }
        calls = document["calls"]?.object ?? [:]
        style = text(document, "style")
        script = text(document, "script")
    }

    /// The errors in the OpenRPC document, by type.
    static var errors: JSONObject {
        (try? JSONValue(parsing: OpenRPCDocument.describing { _ in false }.bytes))?["components"]?["errors"]?.object ?? [:]
    }

    /// The guides that explain a task or a subject: all except the list of guides.
    var topics: [Guide] { guides.filter { $0.name != "README" } }
}
