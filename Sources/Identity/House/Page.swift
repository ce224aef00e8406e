import Contract
import Platform

/// One page of a list that is ordered by a text: the rows, and the cursor for the next page.
struct Page<Element> {
    let elements: [Element]
    let nextCursor: String?

    /// - Parameters:
    ///   - found: up to `limit` + 1 rows; the one too many only says that there is another page.
    ///   - place: what the row is ordered by.
    init(_ found: [Element], limit: Int64, place: (Element) -> String) {
        elements = Array(found.prefix(Int(limit)))
        nextCursor = found.count > limit ? elements.last.map { Base64URL.encode(Array(place($0).utf8)) } : nil
    }
}

/// What a cursor of `method` stands for; the empty text is the place before everything.
///
/// - Throws: `InvalidCursor`.
func place(after cursor: String?, of method: String) throws -> String {
    guard let cursor else { return "" }
    guard let bytes = Base64URL.decode(cursor), let text = String(validating: bytes, as: UTF8.self) else {
        throw InvalidCursor(method: method)
    }
    return text
}
