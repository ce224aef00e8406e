import Accounts
import Contract
import IdentityPools

/// The methods whose handlers have phases, because they may have to wait after they have begun: for a thread that may write, for another
/// machine, for another call or for a user. All other handlers run in one go.
struct MethodsInPhases {
    let account: AccountService
    let credentials: CredentialsService
    let credentialsProvider: CredentialsProviderService
    let events: EventsService
    let identity: IdentityService
    let signIn: SignInService
    let token: TokenService

    var bound: [BoundMethod] {
        let (account, credentials, credentialsProvider) = (account, credentials, credentialsProvider)
        let (events, identity, signIn, token) = (events, identity, signIn, token)
        return [
            BoundMethod(AccountLink.self) { try account.linkInPhases($0, $1) },
            BoundMethod(AccountReauthenticate.self) { try account.reauthenticateInPhases($0, $1) },
            BoundMethod(CredentialsGet.self) { try credentials.scoped(to: $1).getInPhases($0, $1) },
            BoundMethod(CredentialsProviderGet.self) { try credentialsProvider.scoped(to: $1).getInPhases($0, $1) },
            BoundMethod(EventsPoll.self) { try events.pollInPhases($0, $1) },
            BoundMethod(IdentityResolve.self) { try identity.scoped(to: $1).resolveInPhases($0, $1) },
            BoundMethod(SignInWithCredential.self) { try signIn.withCredentialInPhases($0, $1) },
            BoundMethod(TokenMint.self) { try token.scoped(to: $1).mintInPhases($0, $1) },
            BoundMethod(TokenMintForDeveloper.self) { try token.scoped(to: $1).mintForDeveloperInPhases($0, $1) },
        ]
    }
}
