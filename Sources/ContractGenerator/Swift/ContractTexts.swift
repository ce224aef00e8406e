/// The texts of the contract that the program needs only to describe itself, 1.4 MB of them. They are joined to blocks, and each block is
/// compressed; `ContractText` of the module `Contract` reads them.
struct ContractTexts {
    /// The name of the text with the components of the OpenRPC document.
    static let components = "components"
    /// The length from which a block takes no further text. A longer block is smaller, and reading one text of it takes longer.
    private static let fullBlock = 1 << 16

    /// The place of each text, as Swift code. The names are those of the methods and notifications, and `components`.
    private(set) var places: [String: String] = [:]
    private var blocks: [String] = [""]

    init(contract: Contract) {
        let document = OpenRPCEmitter(contract: contract)
        let fields = FieldText(contract: contract)
        for method in contract.methods {
            // One line for each: none of them has a line end, because JSON escapes it.
            let lines = [
                document.method(method).text, fields.json(method.params.properties).text, fields.json(fields.members(method.result)).text,
            ]
            add(lines.joined(separator: "\n"), named: method.name)
        }
        for notification in contract.notifications { add(document.notification(notification).text, named: notification.name) }
        // Alone in its block: the reader of the whole document does not decompress it for another text.
        add(document.components.text, named: Self.components, inNewBlock: true)
    }

    private mutating func add(_ text: String, named name: String, inNewBlock: Bool = false) {
        if inNewBlock || blocks.last!.utf8.count >= Self.fullBlock { blocks.append("") }
        let place = blocks.count - 1
        places[name] = "ContractText(block: \(place), start: \(blocks[place].utf8.count), count: \(text.utf8.count))"
        blocks[place] += text
    }

    var file: GeneratedFile {
        var source = SwiftSource(from: "")
        source.block("extension ContractText") { source in
            source.doc("The blocks of all texts, compressed. `CompressedText` reads them.")
            source.line("static let blocks: [StaticString] = [")
            for block in blocks {
                source.line("    ##\"\"\"")
                for line in TextCompressor.printable(TextCompressor.compress(block)) { source.line("        " + line) }
                source.line("        \"\"\"##,")
            }
            source.line("]")
        }
        return GeneratedFile(path: "\(SwiftEmitter.folder)/ContractTextBlocks.swift", text: source.text)
    }
}
