import Accounts
import Contract
import Logging
import Loopback
import Messages
import Network
import ServiceContext
import Storage
import VendorAPIs

/// The services that the testing methods use.
struct TestedServices {
    let accounts: AccountsContext
    let tenants: TenantConfigurationCache
    let account: AccountService
    let housekeeping: MaintenanceScheduler
    let loopback: LoopbackCompat
    let compat: CompatService
    /// The client for requests to other machines.
    let http: any HTTPClient
}

// A program built with MINTMARK_WITHOUT_TEST_SUPPORT does not contain the module TestSupport, and refuses testing stores.
#if MINTMARK_WITHOUT_TEST_SUPPORT

    /// The additions of testing stores to the services: none in this program.
    final class TestingParts: Sendable {
        static let isIncluded = false

        static func database(_ database: any Database, _ faults: Faults?) -> any Database { database }
        static func carrier(of service: ServiceContext) -> MessageSender? { nil }

        let service: (any TestHandlers)? = nil

        init(_ services: TestedServices, log: Logger) {}

        func stop() {}
    }

#else

    import TestSupport

    /// The additions of testing stores to the services: the `test.*` methods and the test provider.
    final class TestingParts: Sendable {
        static let isIncluded = true

        /// Returns the database with injected faults.
        static func database(_ database: any Database, _ faults: Faults?) -> any Database {
            faults.map { FaultableDatabase(database, $0) } ?? database
        }

        /// Replaces the delivery while a test injects faults into it.
        static func carrier(of service: ServiceContext) -> MessageSender? { .outbox(of: service) }

        /// The provider for `test.idp`.
        private let provider: TestProvider
        let service: (any TestHandlers)?

        init(_ services: TestedServices, log: Logger) {
            let (housekeeping, loopback, compat) = (services.housekeeping, services.loopback, services.compat)
            let hooks = TestHooks(
                tables: Schema.tables, settle: { try housekeeping.settle() },
                serveHTTP: { request throws(LoopbackFailure) in
                    let endpoint = request.firebase.map {
                        FirebaseEndpoint.test(projectId: $0.projectId, signsTokens: $0.tokens == .signed)
                    }
                    return try loopback.server(
                        port: request.port.map { UInt16($0) }, firebase: endpoint, allowOrigins: request.allowOrigins
                    ).baseURL
                },
                openFirebase: { project, call in try compat.openFirebase(project: project, call) })
            let host = TestProvider.Host(
                failures: .logged(to: log), native: .served(by: compat), documents: .fetched(with: services.http))
            provider = TestProvider(services.accounts, services.tenants, accounts: services.account, host: host)
            service = TestService(services.accounts, services.tenants, provider: provider, hooks: hooks)
        }

        func stop() { provider.stop() }
    }

    extension ClientDocumentSource {
        /// The documents of clients, from public addresses and from this machine.
        fileprivate static func fetched(with http: any HTTPClient) -> ClientDocumentSource {
            ClientDocumentSource { url, maximumBytes in
                let policy = HTTPPolicy(
                    allowsInsecureLoopback: true, maximumBytes: maximumBytes, timeoutMilliseconds: timeoutMilliseconds, maximumRedirects: 0)
                do throws(HTTPFailure) {
                    let response = try http.send(HTTPRequest(url: url, headers: [("Accept", "application/json")], policy: policy))
                    return .received(
                        status: response.status, contentType: response.contentType, maxAgeSeconds: response.maxAgeSeconds,
                        body: response.body)
                } catch { return .failed("\(error)") }
            }
        }
    }

    extension NativeAuthorization {
        /// The native authorization of the applications of the store.
        fileprivate static func served(by compat: CompatService) -> NativeAuthorization {
            NativeAuthorization(
                challenge: { request, tenantId, proven in
                    compat.nativeAuthorization(
                        request, tenantId: tenantId, authenticated: proven.clientId, thumbprint: proven.thumbprint)
                },
                redeem: { request in
                    do {
                        let found = try compat.redeem(
                            nativeCode: request.code, verifier: request.verifier, thumbprint: request.thumbprint,
                            clientId: request.clientId, tenantId: request.tenantId)
                        return found.map { .granted(refreshToken: $0.refreshToken, scope: $0.scope, audience: $0.audience) } ?? .foreign
                    } catch let refused as RefusedNativeCode { return .refused(refused.reason) }
                })
        }
    }

#endif
