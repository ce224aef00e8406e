/// A guide in `schemas/guides`.
struct Guide {
    /// The name of the file without its extension.
    let name: String
    /// The text of the first heading.
    let title: String
    /// The guide in Markdown.
    let text: String
}
