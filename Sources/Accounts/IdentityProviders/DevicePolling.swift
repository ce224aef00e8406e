import Contract
import Federation
import JSON
import Platform
import ServiceContext
import Synchronization

/// Polls a provider for the result of a device authorization (RFC 8628 §3.4 and §3.5).
struct DevicePolling: Sendable {
    let context: AccountsContext
    let secrets: IdpFlowSecrets

    enum Outcome {
        case answered(String)
        case later(AwaitedEvent)
    }

    /// - Throws: `SignInRefused` or `InvalidCredential`, which end the flow; `ProviderUnavailable` or `ProviderUnusable`, which leave the
    ///   flow unchanged.
    func ask(_ flow: IdpFlow, _ idp: IdpRecord, _ call: any CallContext) throws -> Outcome {
        guard let endpoint = flow.tokenEndpoint, let sealed = flow.sealed else { throw FlowUsed() }
        let pause = UInt64(flow.intervalSeconds) * 1_000_000_000
        if let left = context.deviceTurns.take(flow.id, pause: pause) { return .later(wait(left)) }
        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", try secrets.open(sealed, of: flow.id)),
        ]
        let question = try TokenEndpoint.question(endpoint, form, idp, vault: context.vault)
        let (status, node) = try context.foreign.object(question, of: idp.address, call)
        switch node["error"]?.string {
        case "authorization_pending": return .later(wait(pause))
        case "slow_down":
            let interval = min(flow.intervalSeconds + 5, 60)
            try context.database.write { try $0.slowDown(flow.id, to: interval) }
            return .later(wait(UInt64(interval) * 1_000_000_000))
        case "access_denied"?, "expired_token"?:
            try end(flow)
            let error = node["error"]?.string ?? ""
            throw SignInRefused(
                providerId: idp.providerId, error: error, reason: ProviderErrorText.refusal(error, node["error_description"]?.string))
        case nil where status == 200 && (node["id_token"] != nil || node["access_token"] != nil):
            var object = node.value.object ?? [:]
            object[ProviderGrant.receivedAt] = .number(JSONNumber(context.clock.now))
            let answer = JSONValue.object(object).text
            let moved = try context.database.write {
                try $0.move(flow, from: .open, to: .redeemed, sealed: secrets.seal(answer, of: flow.id))
            }
            guard moved else { throw FlowUsed() }
            return .answered(answer)
        default:
            try end(flow)
            throw InvalidCredential(
                providerId: idp.providerId, check: "deviceCode", reason: TokenEndpoint.refusal(node, status: status, "the device code"))
        }
    }

    private func end(_ flow: IdpFlow) throws {
        _ = try context.database.write { try $0.move(flow, from: .open, to: .used, sealed: nil) }
    }

    private func wait(_ nanoseconds: UInt64) -> AwaitedEvent {
        let alarms = context.alarms
        return AwaitedEvent { alarms.afterOrHere(nanoseconds: nanoseconds, $0) }
    }
}
