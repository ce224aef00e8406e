/// What the service tells without being asked, as its file under `schemas/notifications` describes it.
struct Notification {
    /// `namespace/event`; the file's name has a dot in the place of the slash.
    let name: String
    let summary: String
    let description: String
    let params: Type
    /// Vendor to the names of the same thing there.
    let equivalents: [(vendor: String, name: String)]

    var namespace: String { String(name.prefix { $0 != "/" }) }
}
