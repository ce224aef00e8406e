/// An option of `mintmark serve` that clients offer by name, as described in `schemas/options.json`.
struct ServeOption {
    enum Kind: String, CaseIterable {
        case string, integer, boolean
        /// A file or a directory. Clients pass it as an absolute path, because the working directory can differ at a restart.
        case path
        /// A time. Clients accept the time type of the language and pass seconds since 1970-01-01 UTC.
        case time
    }

    /// The name in clients, in camel case and with the unit: `drainSeconds`.
    let name: String
    /// The command-line option: `--drain`.
    let flag: String
    let kind: Kind
    /// The accepted values of a string, or an empty list if there are no fixed values.
    let values: [String]
    let description: String
}
