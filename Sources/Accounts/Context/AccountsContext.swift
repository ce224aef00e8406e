import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// The dependencies of account flows in addition to the service context: message delivery, password hashing, and the blocking parts of
/// sign-ins at identity providers.
public final class AccountsContext: Sendable {
    public let service: ServiceContext
    /// The store, with the access of the call for which this context is. After a transaction queues notices, they are sent.
    public let database: StoreHandle
    private let parts: Parts

    /// The dependencies that all calls share.
    private final class Parts: Sendable {
        let notices = Notices()
        let noticePositions = Positions()
        let delivery: Delivery
        let faultyCarrier: @Sendable () -> MessageSender?
        let breachedPasswords: (any BreachedPasswordLookup)?
        let passwords: PasswordHasher
        let alarms = TimerThread()
        let callbacks: CallbackListener
        let deviceTurns = DevicePollingLimiter()
        let grantRefreshes: GrantRefreshCoordinator
        let hooks: Hooks
        let authenticatorMetadata = AuthenticatorMetadataFiles()

        init(
            delivery: Delivery, faultyCarrier: @escaping @Sendable () -> MessageSender?, breachedPasswords: (any BreachedPasswordLookup)?,
            passwords: PasswordHasher, hooks: HookTransports
        ) {
            self.hooks = Hooks(hooks)
            self.delivery = delivery
            self.faultyCarrier = faultyCarrier
            self.breachedPasswords = breachedPasswords
            self.passwords = passwords
            callbacks = CallbackListener(alarms: alarms)
            grantRefreshes = GrantRefreshCoordinator(alarms: alarms)
        }
    }

    /// - Parameter faultyCarrier: Replaces the delivery while a test injects faults into it; returns `nil` outside of testing stores.
    public init(
        _ service: ServiceContext, delivery: Delivery = .none, faultyCarrier: @escaping @Sendable () -> MessageSender? = { nil },
        passwords: PasswordProtection = PasswordProtection(), hooks: HookTransports = HookTransports()
    ) {
        self.service = service
        parts = Parts(
            delivery: delivery, faultyCarrier: faultyCarrier, breachedPasswords: passwords.breached,
            passwords: PasswordHasher(cost: passwords.cost, vault: service.vault, random: service.random), hooks: hooks)
        database = StoreHandle(NoticingDatabase(inner: service.database, notices: parts.notices), service.database.access)
    }

    private init(_ context: AccountsContext, _ service: ServiceContext) {
        self.service = service
        parts = context.parts
        database = context.database.with(service.database.access)
    }

    /// Returns this context for one call, whose transactions have its access to the store.
    package func scoped(to call: any CallContext) -> AccountsContext {
        let scoped = service.scoped(to: call)
        return scoped === service ? self : AccountsContext(self, scoped)
    }

    /// The notices to users that wait to be sent.
    public var notices: Notices { parts.notices }
    /// Sends messages.
    public var delivery: Delivery { parts.delivery }
    /// Looks up leaked passwords; `nil` if no service can be reached.
    var breachedPasswords: (any BreachedPasswordLookup)? { parts.breachedPasswords }
    package var passwords: PasswordHasher { parts.passwords }
    var alarms: TimerThread { parts.alarms }
    /// Receives the redirects of identity providers on the loopback interface.
    public var callbacks: CallbackListener { parts.callbacks }
    var deviceTurns: DevicePollingLimiter { parts.deviceTurns }
    var authenticatorMetadata: AuthenticatorMetadataFiles { parts.authenticatorMetadata }
    var grantRefreshes: GrantRefreshCoordinator { parts.grantRefreshes }

    /// Asks the hooks of tenants.
    package var hooks: Hooks { parts.hooks }

    /// The ID of a notice, ordered by time. No response contains it, so that a seed need not repeat it.
    func newNoticeId(at now: Int64) -> String { SystemRandom().uuid(at: now, position: parts.noticePositions.next(in: now)) }

    /// Sends messages; `nil` if they stay in the store.
    var carrier: MessageSender? { parts.faultyCarrier() ?? delivery.carrier }
}

/// The protection of the passwords of accounts.
public struct PasswordProtection: Sendable {
    /// The cost of hashing a password.
    let cost: Int
    /// Looks up leaked passwords; `nil` if no service can be reached.
    let breached: (any BreachedPasswordLookup)?

    public init(cost: Int = PasswordHasher.cost, breached: (any BreachedPasswordLookup)? = nil) {
        self.cost = cost
        self.breached = breached
    }
}

extension AccountsContext {
    public var realm: Deployment { service.realm }
    package var driver: any Database { service.driver }
    public var faults: Faults? { service.faults }
    public var clock: any WallClock { service.clock }
    public var random: any RandomSource { service.random }
    public var vault: Vault { service.vault }
    var isTesting: Bool { service.isTesting }
    package var audit: AuditLog { service.audit }
    public var foreign: any LoginProviderClient { service.foreign }

    func newIdentifier() -> String { service.newIdentifier() }
    func seededKey(_ purpose: String) -> SecretBytes? { service.seededKey(purpose) }
}
