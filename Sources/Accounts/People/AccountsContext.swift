import Crypto
import Platform
import ServiceContext
import Storage

/// The dependencies of account flows in addition to the service context: message delivery, password hashing, and the blocking parts of
/// sign-ins at identity providers.
public final class AccountsContext: Sendable {
    public let service: ServiceContext
    /// The store. After a transaction queues notices, they are sent.
    public let database: any Database
    /// The notices to users that wait to be sent.
    public let notices = Notices()
    private let noticePositions = Positions()
    /// Sends messages.
    public let delivery: Delivery
    /// Replaces the delivery while a test injects faults into it; `nil` outside of testing stores.
    private let faultyCarrier: @Sendable () -> MessageSender?
    /// Looks up leaked passwords; `nil` if no service can be reached.
    let breachedPasswords: (any BreachedPasswordLookup)?
    package let passwords: PasswordHasher
    let alarms = TimerThread()
    /// Receives the redirects of identity providers on the loopback interface.
    public let callbacks: CallbackListener
    let deviceTurns = DevicePollingLimiter()
    let grantRefreshes: GrantRefreshCoordinator

    public init(
        _ service: ServiceContext, delivery: Delivery = .none, faultyCarrier: @escaping @Sendable () -> MessageSender? = { nil },
        breachedPasswords: (any BreachedPasswordLookup)? = nil, passwordCost: Int = PasswordHasher.cost
    ) {
        self.service = service
        database = NoticingDatabase(inner: service.database, notices: notices)
        self.delivery = delivery
        self.faultyCarrier = faultyCarrier
        self.breachedPasswords = breachedPasswords
        callbacks = CallbackListener(alarms: alarms)
        grantRefreshes = GrantRefreshCoordinator(alarms: alarms)
        passwords = PasswordHasher(cost: passwordCost, vault: service.vault, random: service.random)
        notices.whenCommitted { [weak self] in self?.sendNotices() }
    }

    /// The ID of a notice, ordered by time. No response contains it, so that a seed need not repeat it.
    func newNoticeId(at now: Int64) -> String { SystemRandom().uuid(at: now, position: noticePositions.next(in: now)) }

    /// Sends messages; `nil` if they stay in the store.
    var carrier: MessageSender? { faultyCarrier() ?? delivery.carrier }
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
