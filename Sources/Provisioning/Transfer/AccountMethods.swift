import Accounts
import Contract

/// The methods of accounts: those of `Accounts`, and import and export, which are in this module.
extension AccountService: AccountHandlers {}
