import Accounts
import Contract
import Network

/// Looks up passwords at breached-password range services. The lane of the call starts another thread in the meantime.
struct BreachedPasswordsOverHTTP: BreachedPasswordLookup {
    let client: any HTTPClient

    func look(up password: String, by check: BreachedPasswordCheck, _ call: any CallContext) throws -> BreachedPasswords.Outcome {
        call.blocking { BreachedPasswords(url: check.url, http: client, policy: check.policy).look(up: Array(password.utf8)) }
    }
}
