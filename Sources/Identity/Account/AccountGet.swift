import Contract

extension AccountService {
    /// - Throws: `AccountNotFound`.
    public func get(_ request: AccountGet.Params, _ call: any CallContext) throws -> AccountGet.Result {
        guard let account = try surroundings.database.read({ try $0.account(request.accountId)?.answer(in: $0) }) else {
            throw AccountNotFound(accountId: request.accountId)
        }
        return account
    }
}
