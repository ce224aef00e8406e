import Accounts
import Contract
import JSONRPC
import Network

/// Asks range services for passwords that have leaked, where a call may wait for other machines.
struct BreachedPasswordsOverHTTP: BreachedPasswordLookup {
    let client: any HTTPClient

    func look(up password: String, by check: BreachedPasswordCheck, _ call: any CallContext) throws -> BreachedPasswords.Outcome {
        // A Swift program's own call waits where it is.
        guard (call as? CallAdapter)?.mayWaitForOthers ?? true else { throw MoveToLane(.network) }
        return BreachedPasswords(url: check.url, http: client, policy: check.policy).look(up: Array(password.utf8))
    }
}
