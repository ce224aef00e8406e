import Contract

extension AccountService {
    /// - Throws: `AccountNotFound`, `AccountMerged`.
    public func get(_ request: AccountGet.Params, _ call: any CallContext) throws -> AccountGet.Result {
        try context.database.read { tx in
            guard let account = try tx.account(request.accountId) else { throw try tx.absence(of: request.accountId) }
            return try account.answer(in: tx)
        }
    }
}
