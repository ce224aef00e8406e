import Accounts
import Contract
import JSON
import ServiceContext
import Storage

/// A declared identity provider with its stored state.
struct PlannedIdp {
    let place: Int
    let before: IdpRecord?
    let after: IdpRecord
    let difference: Difference

    var writes: Bool { difference.change != .unchanged }

    /// - Parameter sealed: The encrypted client secret, if the document contains one.
    /// - Returns: `nil` if the settings are not valid. A violation is then added.
    init?(
        _ declared: Declared<IdpDeclaration>, sealed: [UInt8]?, existing: IdpRecord?, _ facts: ApplyFacts, _ problems: inout ApplyProblems
    ) throws {
        let (place, declaration) = (declared.place, declared.declaration)
        // An unchanged secret is not encrypted again, so that applying a document twice writes nothing.
        let isSame = try declaration.clientSecret != nil && declaration.clientSecret == existing?.openSecret(facts.vault)
        do {
            after = try declaration.over(
                existing, isSame ? existing?.clientSecret : sealed, at: facts.now, allowsPlainLoopback: facts.allowsPlainLoopback)
        } catch let error as InvalidIdp {
            problems.add("/idps/\(place)\(error.pointer)", rule: InvalidIdp.type, error.message)
            return nil
        }
        self.place = place
        before = existing
        let (old, new) = (existing?.settings.stored ?? [:], after.settings.stored)
        difference = Difference(
            isNew: existing == nil,
            Self.members.map { ($0, old[$0] != new[$0]) } + [("clientSecret", existing?.clientSecret != after.clientSecret)])
    }

    /// The members that a document can change, in the order of the declaration.
    private static let members = [
        "clientId", "clientAuthentication", "issuer", "displayName", "enabled", "responseType", "scopes", "requiredAcr",
        "maxAuthAgeSeconds", "openidOnly", "trustEmail",
        "moreClientIds", "keys",
        "endpoint", "allowInsecure",
        "allowPrivateNetwork",
    ]

    func write(in tx: Transaction) throws {
        guard before == nil else { return try tx.update(after) }
        guard try tx.insert(after) else { throw SerializationConflict() }
    }
}
