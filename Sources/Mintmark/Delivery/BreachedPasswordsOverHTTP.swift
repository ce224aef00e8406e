import Accounts
import Contract
import JSONRPC
import Network

/// Looks up passwords at breached-password range services, on a lane that may wait for other machines.
struct BreachedPasswordsOverHTTP: BreachedPasswordLookup {
    let client: any HTTPClient

    func look(up password: String, by check: BreachedPasswordCheck, _ call: any CallContext) throws -> BreachedPasswords.Outcome {
        // A call from Swift code waits on its own thread.
        guard (call as? CallAdapter)?.mayWaitForOthers ?? true else { throw MoveToLane(.network) }
        return BreachedPasswords(url: check.url, http: client, policy: check.policy).look(up: Array(password.utf8))
    }
}
