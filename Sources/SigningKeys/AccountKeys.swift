import Contract
import Crypto
import ServiceContext
import Storage

/// The keys of the account of the store, one for each algorithm of `GetWebIdentityToken` in AWS STS.
package enum AccountKeys {
    package static let algorithms: [Crypto.SigningAlgorithm] = [.RS256, .ES384]

    /// Creates the missing keys of the account of the store.
    package static func create(_ signingKeys: SigningKeys, _ context: ServiceContext, at now: Int64) throws {
        let owner = KeyOwner.account(context.realm.account)
        let present = try context.database.read { try signingKeys.ring(of: owner, in: $0) }
        let new = try algorithms.filter { present.active($0, at: now) == nil }.map {
            try NewSigningKey(for: owner, algorithm: $0, activeAt: now, context)
        }
        if new.isEmpty { return }
        try context.database.write { tx in
            try tx.lock([owner.path])
            let ring = try tx.keyRing(of: owner, vault: context.vault)
            // Another process may have created keys since they were read.
            for key in new where ring.active(key.algorithm, at: now) == nil { try tx.insert(key, at: now) }
            try tx.advanceEpoch()
        }
    }
}
