import Contract
import JSON
import ServiceContext

/// The state and the configured issuers of the test provider at one time.
struct ProviderSnapshot: Sendable {
    var state = ProviderState()
    var issuers: [TestIssuer] = []

    /// The kind of a record.
    private enum Kind: String {
        case issuer, code, login, grant, device, answers, claims, revoked, registration, assertion, pushed
    }

    /// All records, in a stable order.
    var records: [JSONObject] {
        var records: [JSONObject] = []
        func add(_ kind: Kind, _ name: String, _ value: JSONValue) {
            records.append(["provider": .string(kind.rawValue), "name": .string(name), "value": value])
        }
        func sorted<V>(_ values: BoundedCache<V>) -> [(name: String, value: V)] { values.all.sorted { $0.name < $1.name } }
        for issuer in issuers { add(.issuer, issuer.name, .object(issuer.record)) }
        for (name, code) in sorted(state.codes) { add(.code, name, .object(code.record)) }
        for (uri, request) in sorted(state.pushed) { add(.pushed, uri, .object(request.record)) }
        for (name, login) in sorted(state.logins) { add(.login, name, .object(login.record)) }
        for (name, grant) in sorted(state.grants) { add(.grant, name, .object(grant.record)) }
        for (name, device) in sorted(state.devices) { add(.device, name, .object(device.record)) }
        for (issuer, answers) in state.queue.sorted(by: { $0.key < $1.key }) {
            add(.answers, issuer, .array(answers.map { .object($0.record) }))
        }
        for (id, claims) in sorted(state.extras) { add(.claims, id, .object(claims)) }
        for (id, end) in sorted(state.revoked) { add(.revoked, id, .number(JSONNumber(end))) }
        for (id, client) in sorted(state.registrations) { add(.registration, id, .object(client.record)) }
        for (id, _) in sorted(state.assertions) { add(.assertion, id, true) }
        return records
    }

    /// Adds one of `records`. Returns `false` if it is not valid.
    mutating func take(_ record: JSONObject) -> Bool {
        guard let kind = record["provider"]?.string.flatMap(Kind.init), let name = record["name"]?.string, let value = record["value"]
        else { return false }
        func keep<V>(_ value: V?, in place: WritableKeyPath<ProviderState, BoundedCache<V>>) -> Bool {
            state[keyPath: place][name] = value
            return value != nil
        }
        switch kind {
        case .issuer:
            guard let issuer = TestIssuer(record: value) else { return false }
            issuers.append(issuer)
            return true
        case .code: return keep(ProviderState.Code(record: value), in: \.codes)
        case .login: return keep(ProviderState.Login(record: value), in: \.logins)
        case .grant: return keep(ProviderState.Grant(record: value), in: \.grants)
        case .device: return keep(ProviderDevice(record: value), in: \.devices)
        case .claims: return keep(value.object, in: \.extras)
        case .revoked: return keep(value.int ?? (value.bool == true ? VirtualClock.range.upperBound : nil), in: \.revoked)
        case .registration: return keep(RegisteredClient(id: name, record: value), in: \.registrations)
        case .pushed: return keep(PushedRequest(record: value), in: \.pushed)
        case .assertion: return keep(value.bool, in: \.assertions)
        case .answers:
            guard let answers = value.array?.map({ TestEnqueue.Params.Answer(record: $0) }) else { return false }
            state.queue[name] = answers.compactMap(\.self)
            return !answers.contains { $0 == nil }
        }
    }
}

extension TestProvider {
    /// The current state and issuers.
    var snapshot: ProviderSnapshot { ProviderSnapshot(state: memory.withLock { $0 }, issuers: named) }

    /// Restores a snapshot. Issuers that were configured since under other names are kept.
    func resume(_ snapshot: ProviderSnapshot) {
        take(snapshot.issuers)
        memory.withLock { $0 = snapshot.state }
    }
}
