/// A notification of the service, as described by its file under `schemas/notifications`.
struct Notification {
    /// The name, in the form `namespace/event`. In the name of the file, a dot replaces the slash.
    let name: String
    let summary: String
    let description: String
    let params: Type
    /// The corresponding names in other products, by vendor.
    let equivalents: [(vendor: String, name: String)]

    var namespace: String { String(name.prefix { $0 != "/" }) }
}
