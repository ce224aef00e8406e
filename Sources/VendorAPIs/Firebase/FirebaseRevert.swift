import Accounts
import Contract
import JSON
import ServiceContext
import Storage

/// Links that remove a second factor which was added without the user's consent.
extension FirebaseCall {
    static let revertFactor = "REVERT_SECOND_FACTOR_ADDITION"

    /// Gives the user a link that removes a new second factor. Only at the address of a test, where the link is read: the messages of the
    /// store have no text for it.
    func issueRevert(of factor: FactorRecord, for account: AccountRecord) throws {
        guard endpoint.isTest, let email = account.email else { return }
        try issue(Self.revertFactor, Username.fold(email), factor: factor)
    }

    /// Removes the second factor of a code.
    func revertFactor(_ code: String, _ record: JSONObject) throws -> JSONObject {
        guard let id = record["accountId"]?.string, let facts = try facts(id), let factor = record["factor"]?["mfaEnrollmentId"]?.string,
            facts.factors.contains(where: { $0.id == factor })
        else { throw FirebaseError("INVALID_OOB_CODE") }
        if facts.account.isDisabled { throw FirebaseError("USER_DISABLED") }
        try use(code)
        try setFactors(facts.factors.filter { $0.id != factor }, of: id)
        // Whoever added the factor may still be signed in.
        var change = AccountUpdate.Params(accountId: id)
        change.tokensValidSince = now
        _ = try service.account.update(change, by: Self.method, call)
        return try shown(id)
    }
}
