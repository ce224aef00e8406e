import Accounts
import Contract
import Crypto
import IdentityPools
import Platform
import ServiceContext
import Storage

extension TestService {
    /// Derives all randomness of the processes on this store from a seed.
    public func seed(_ request: TestSeed.Params, _ call: any CallContext) throws -> TestSeed.Result {
        let key = SessionKeySetup.NewKey(SeededRandomGenerator.bytes(40, of: request.seed, draw: -1), vault: context.vault)
        try context.driver.write { tx in
            try tx.lock(["seed", "session_key"])
            try tx.advanceEpoch()
            try tx.setSeed(request.seed)
            try tx.replaceSessionKeys(with: key)
        }
        return TestSeed.Result(seed: request.seed)
    }
}
