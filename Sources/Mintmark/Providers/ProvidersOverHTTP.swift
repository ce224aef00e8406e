import Contract
import Crypto
import JSON
import JSONRPC
import Network
import ServiceContext

/// Accesses login providers over HTTP. A call that must send a request moves to the network lane first. Calls that need the same response
/// wait for it without blocking a thread. A call whose keys are cached stays on its lane.
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
        let outcome: any Error
        do throws(IssuerFailure) {
            switch try keys.lookUp(header, of: address) {
            case .known(let key): return key
            case .mustAsk where mayWait(call), .isAsked where mayWait(call) && !call.mayAnswerLater:
                return try keys.key(for: header, of: address, isCancelled: { call.isCancelled })
            case .isAsked where call.mayAnswerLater:
                outcome = WaitsForOthers { [keys] in keys.whenAnswered(address, $0) }
            case .mustAsk, .isAsked: outcome = MoveToLane(.network)
            }
        } catch { throw answer(to: error, of: provider) }
        throw outcome
    }

    func inspect(issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> IssuerInspection {
        guard mayWait(call) else { throw MoveToLane(.network) }
        let address = address(of: issuer, provider)
        let inspection = keys.inspect(address, isCancelled: { call.isCancelled })
        // The next sign-in must use the updated document, too.
        descriptions.forget(address)
        if inspection.failure?.check == .cancelled { throw CancellationError() }
        return inspection
    }

    func description(of issuer: String, _ provider: ProviderAddress, _ call: any CallContext) throws -> JSONNode {
        let address = address(of: issuer, provider)
        let outcome: any Error
        do throws(IssuerFailure) {
            switch try descriptions.lookUp(address) {
            case .known(let document): return document
            case .mustAsk where mayWait(call), .isAsked where mayWait(call) && !call.mayAnswerLater:
                return try descriptions.description(of: address, isCancelled: { call.isCancelled })
            case .isAsked where call.mayAnswerLater:
                outcome = WaitsForOthers { [descriptions] in descriptions.whenAnswered(address, $0) }
            case .mustAsk, .isAsked: outcome = MoveToLane(.network)
            }
        } catch { throw answer(to: error, of: provider) }
        throw outcome
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
        guard mayWait(call) else { throw MoveToLane(.network) }
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
        do throws(HTTPFailure) { response = try client.send(request) } catch {
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
            case .busy:
                let wait = WaitsForOthers { [turnstile] in turnstile.whenFree(place, $0) }
                guard call is CallAdapter else {
                    wait.untilOver()
                    continue
                }
                throw wait
            case .closed(let failure): throw answer(to: failure, of: provider)
            }
        }
    }

    /// A call from Swift code waits on its own thread.
    private func mayWait(_ call: any CallContext) -> Bool { (call as? CallAdapter)?.mayWaitForOthers ?? true }

    private func answer(to failure: IssuerFailure, of provider: ProviderAddress) -> any Error {
        switch failure.check {
        case .cancelled: CancellationError()
        case .unavailable: ProviderUnavailable(provider: provider.name, reason: failure.reason)
        default: ProviderUnusable(provider: provider.name, check: failure.check.rawValue, reason: failure.reason)
        }
    }
}
