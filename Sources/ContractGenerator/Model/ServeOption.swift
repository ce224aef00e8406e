/// An option of `mintmark serve` that clients offer by name, as `schemas/options.json` describes it.
struct ServeOption {
    enum Kind: String, CaseIterable {
        case string, integer, boolean
        /// A file or a folder: clients pass it as an absolute path, because a restart can happen in another current folder.
        case path
        /// A time: clients take the language's own type and pass seconds since 1970-01-01 UTC.
        case time
    }

    /// The name in clients, in camel case; a unit is part of it: `drainSeconds`.
    let name: String
    /// The option on the command line: `--drain`.
    let flag: String
    let kind: Kind
    let description: String
}
