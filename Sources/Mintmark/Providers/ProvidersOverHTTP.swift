import Contract
import Crypto
import JSON
import JSONRPC
import Network
import Platform
import ServiceContext

/// Accesses login providers over HTTP. While a call waits here, its lane starts another thread. `lookUp` does not wait on a thread that
/// must not: it returns what to wait for. A call whose keys are cached stays on its lane.
struct ProvidersOverHTTP: LoginProviderClient {
    private let client: any HTTPClient
    private let keys: IssuerKeys
    private let descriptions: IssuerDescriptions
    private let turnstile = ProviderConcurrencyLimiter()
    let allowsPlainLoopback: Bool

    init(_ client: any HTTPClient, allowsPlainLoopback: Bool, log: ProviderLog) {
        self.client = client
        self.allowsPlainLoopback = allowsPlainLoopback
        keys = IssuerKeys(client, report: { log.asked($0.issuer, $1) })
        descriptions = IssuerDescriptions(client)
    }

    /// Clears recorded failures, so that every provider is contacted again.
    func forgetFailures() {
        keys.forgetFailures()
        descriptions.forgetFailures()
        turnstile.reopen()
    }

    func key(for header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> PublicKey? {
        let address = address(of: issuer, provider)
        do throws(IssuerFailure) {
            switch try keys.lookUp(header, of: address) {
            case .known(let key): return key
            case .mustAsk: return try ask(call) { () throws(IssuerFailure) in try fetchKey(for: header, of: address, call) }
            case .isAsked: return try join(call) { () throws(IssuerFailure) in try fetchKey(for: header, of: address, call) }
            }
        } catch { throw answer(to: error, of: provider) }
    }

    func lookUp(
        _ header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext
    ) throws -> KeyLookup {
        let address = address(of: issuer, provider)
        do throws(IssuerFailure) {
            switch try keys.lookUp(header, of: address) {
            case .known(let key): return .known(key)
            case .isAsked where call.mayAnswerLater:
                return .waits(.event(AwaitedEvent(isBrief: true) { [keys] in keys.whenAnswered(address, $0) }))
            case .mustAsk, .isAsked: if !mayWait(call) { return .waits(.network) }
            }
            return .known(try fetchKey(for: header, of: address, call))
        } catch { throw answer(to: error, of: provider) }
    }

    private func fetchKey(for header: JWSHeader, of address: IssuerAddress, _ call: any CallContext) throws(IssuerFailure) -> PublicKey? {
        try keys.key(for: header, of: address, isCancelled: { call.isCancelled })
    }

    func inspect(issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> IssuerInspection {
        let address = address(of: issuer, provider)
        let inspection = ask(call) { keys.inspect(address, isCancelled: { call.isCancelled }) }
        // The next sign-in must use the updated document, too.
        descriptions.forget(address)
        if inspection.failure?.check == .cancelled { throw Cancelled() }
        return inspection
    }

    func description(of issuer: String, _ provider: ProviderAddress, _ call: any CallContext) throws -> JSONNode {
        let address = address(of: issuer, provider)
        do throws(IssuerFailure) {
            switch try descriptions.lookUp(address) {
            case .known(let document): return document
            case .mustAsk: return try ask(call) { () throws(IssuerFailure) in try fetchDescription(of: address, call) }
            case .isAsked: return try join(call) { () throws(IssuerFailure) in try fetchDescription(of: address, call) }
            }
        } catch { throw answer(to: error, of: provider) }
    }

    private func fetchDescription(of address: IssuerAddress, _ call: any CallContext) throws(IssuerFailure) -> JSONNode {
        try descriptions.description(of: address, isCancelled: { call.isCancelled })
    }

    func forgetDescription(of issuer: String, _ provider: ProviderAddress) { descriptions.forget(address(of: issuer, provider)) }

    private func address(of issuer: String, _ provider: ProviderAddress) -> IssuerAddress {
        IssuerAddress(
            issuer, allowsInsecureLoopback: provider.allowsInsecure || allowsPlainLoopback,
            allowsPrivateNetwork: provider.allowsPrivateNetwork, keySetURL: provider.keySetURL)
    }

    func object(_ question: LoginProviderRequest, of provider: ProviderAddress, _ call: any CallContext) throws -> (
        status: Int, object: JSONNode
    ) {
        let place = ProviderPlace(of: question.url)
        try pass(place, provider, call)
        var timeout: IssuerFailure?
        defer { turnstile.leave(place, timeout: timeout) }
        let policy =
            question.issuer.map { address(of: $0, provider).policy(forNamed: question.url) }
            ?? HTTPPolicy(
                allowsInsecureLoopback: provider.allowsInsecure || allowsPlainLoopback, allowsPrivateNetwork: provider.allowsPrivateNetwork)
        let kind = question.body == nil ? [] : [(name: "Content-Type", value: question.contentType)]
        let request = HTTPRequest(
            question.body == nil ? .GET : .POST, url: question.url,
            headers: [("Accept", "application/json"), ("User-Agent", "mintmark")] + kind + question.headers, body: question.body,
            policy: policy, isCancelled: { call.isCancelled })
        let response: HTTPResponse
        do throws(HTTPFailure) {
            response = try ask(call) { () throws(HTTPFailure) in try client.send(request) }
        } catch {
            if case .timedOut = error.reason { timeout = IssuerFailure(error) }
            throw answer(to: IssuerFailure(error), of: provider)
        }
        let failure = IssuerFailure(status: response.status, to: "a token verification request")
        if failure.check == .unavailable { throw answer(to: failure, of: provider) }
        guard let object = try? JSONText(response.body).root, object.kind == .object else {
            let isOdd = response.status == 200
            throw answer(to: isOdd ? IssuerFailure(.document, "The response is not a JSON object.") : failure, of: provider)
        }
        return (response.status, object)
    }

    /// Returns when a request to the provider is allowed.
    private func pass(_ place: ProviderPlace, _ provider: ProviderAddress, _ call: any CallContext) throws {
        while true {
            switch turnstile.enter(place) {
            case .free: return
            case .busy: try AwaitedEvent(isBrief: true) { [turnstile] in turnstile.whenFree(place, $0) }.pass(call)
            case .closed(let failure): throw answer(to: failure, of: provider)
            }
        }
    }

    /// Whether the thread of a call is one of those for requests to other machines. A call from Swift code has its own thread.
    private func mayWait(_ call: any CallContext) -> Bool { (call as? CallAdapter)?.mayWaitForOthers ?? true }

    /// Runs `body`, which sends a request. A thread of another lane is replaced in the meantime.
    private func ask<R, E: Error>(_ call: any CallContext, _ body: () throws(E) -> R) throws(E) -> R {
        mayWait(call) ? try body() : try join(call, body)
    }

    /// Runs `body`, which waits for a request that another call has sent. The thread is replaced in the meantime.
    private func join<R, E: Error>(_ call: any CallContext, _ body: () throws(E) -> R) throws(E) -> R {
        try call.blocking { Result { () throws(E) in try body() } }.get()
    }

    private func answer(to failure: IssuerFailure, of provider: ProviderAddress) -> any Error {
        switch failure.check {
        case .cancelled: Cancelled()
        case .unavailable: ProviderUnavailable(provider: provider.name, reason: failure.reason)
        default: ProviderUnusable(provider: provider.name, check: failure.check.rawValue, reason: failure.reason)
        }
    }
}
