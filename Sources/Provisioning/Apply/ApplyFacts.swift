import IdentityPools
import ServiceContext
import Storage

/// The facts that every part of a plan needs in addition to its declaration.
struct ApplyFacts {
    let realm: Deployment
    let vault: Vault
    /// Whether requests to a provider on a loopback address may use plain HTTP.
    let allowsPlainLoopback: Bool
    let now: Int64
    /// The transaction in which the plan reads the store.
    let tx: Transaction
}

/// A declaration and its place in the list of the document.
struct Declared<Declaration> {
    let place: Int
    let declaration: Declaration

    static func all(_ declarations: [Declaration]?) -> [Declared] {
        (declarations ?? []).enumerated().map { Declared(place: $0, declaration: $1) }
    }
}
