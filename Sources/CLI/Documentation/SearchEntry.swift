import Contract
import JSON
import Platform

/// A part of the documentation that a search finds: a section of a guide, a method or an error.
struct SearchEntry {
    enum Kind: String {
        case guide, method, error, type, term, option

        var heading: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() + "s" }
    }

    let kind: Kind
    /// The name for `mintmark help`.
    let topic: String
    let title: String
    /// The page of the site with its anchor.
    let place: String
    let text: String

    /// Returns all sections of guides, all methods and all errors.
    static func all(_ documentation: Documentation) -> [SearchEntry] {
        documentation.topics.flatMap { sections(of: $0) } + Contract.MethodTable.all.map(method) + errors
    }

    func contains(_ word: String) -> Bool {
        topic.lowercased().includes(word) || title.lowercased().includes(word) || text.lowercased().includes(word)
    }

    /// Returns the part of the text around the first occurrence of a word, or the beginning of the text.
    func excerpt(around word: String, columns: Int) -> String {
        let text = Array(text.lowercased().includes(word) ? text : title + ": " + text)
        let low = text.map { Character($0.lowercased().count == 1 ? $0.lowercased() : String($0)) }
        let found = String(low).firstRange(of: word).map { String(low).distance(from: String(low).startIndex, to: $0.lowerBound) } ?? 0
        let columns = max(columns, 30)
        var start = max(0, min(found - columns / 3, text.count - columns + 4))
        while start > 0, start < found, text[start - 1] != " " { start += 1 }
        let room = columns - (start > 0 ? 2 : 0)
        let isCut = text.count - start > room
        var end = isCut ? start + room - 2 : text.count
        while isCut, end > start + room / 2, text[end] != " " { end -= 1 }
        return (start > 0 ? "… " : "") + String(text[start..<end]) + (isCut ? " …" : "")
    }

    /// Returns the sections of a guide. The first one is the text before the first heading.
    private static func sections(of guide: Documentation.Guide) -> [SearchEntry] {
        let page = Site.page(ofGuide: guide.name)
        var sections: [(title: String, anchor: String, parts: [String])] = [(guide.title, "", [])]
        for block in Markdown(guide.text).blocks {
            switch block {
            case .heading(1, _): continue
            case .heading(_, let title):
                sections.append((guide.title + " › " + Markdown.plain(title), "#" + Markdown.anchor(title), []))
            default: sections[sections.count - 1].parts.append(Markdown.plain(block))
            }
        }
        return sections.map {
            SearchEntry(
                kind: .guide, topic: guide.name, title: $0.title, place: page + $0.anchor, text: $0.parts.joined(separator: " "))
        }
    }

    private static func method(_ info: MethodInfo) -> SearchEntry {
        let fields = (info.params + info.result).map { "\($0.name): \($0.description)" }
        let names = info.equivalents.map(\.names)
        return SearchEntry(
            kind: .method, topic: info.name, title: info.name, place: Site.page(ofMethod: info.name),
            text: Markdown.withoutMarks(([info.summary, info.description] + fields + names).joined(separator: " ")))
    }

    private static var errors: [SearchEntry] {
        let objects = Documentation.errors
        return Contract.ErrorTable.all.map { error in
            SearchEntry(
                kind: .error, topic: error.type, title: error.type, place: "errors.html#" + error.type,
                text: Markdown.withoutMarks("\(error.when) \(objects[error.type]?["message"]?.string ?? "") \(error.code)"))
        }
    }
}
