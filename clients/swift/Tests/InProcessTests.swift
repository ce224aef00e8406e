import MintmarkClient
import MintmarkInProcess
import Testing

@Suite("The library behind the client's interface", .timeLimit(.minutes(10)))
struct InProcessTests {
    @Test("a first program runs without a process")
    func firstProgram() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let pool = try await m.pool.create(name: "shop", developerProvider: "login.shop")
        let alice = try await m.token.mintForDeveloper(poolId: pool.poolId, logins: ["login.shop": "alice"])
        #expect(alice.isNewIdentity)
        #expect(try await m.token.verify(token: alice.token, audience: pool.poolId).claims["sub"]?.string == alice.identityId)
        await m.close()
    }

    @Test("errors have specific types, and an unknown method fails with similar names")
    func errors() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let nowhere = "local-1:00000000-0000-0000-0000-000000000000"
        let missing = await #expect(throws: PoolNotFoundError.self) { try await m.pool.get(poolId: nowhere, trace: "order-17") }
        #expect(missing?.poolId == nowhere)
        #expect(missing?.answer.trace == "order-17")
        let unknown = await #expect(throws: MethodNotFoundError.self) { try await m.call("pool.creat", as: JSONValue.self) }
        #expect(unknown?.nearest.first == "pool.create")
        let wrong = await #expect(throws: InvalidParamsError.self) { try await m.pool.create(name: "") }
        #expect(wrong?.violations.first?.pointer == "/name")
        await m.close()
    }

    @Test("a testing method without a testing store fails with advice")
    func testingMethods() async throws {
        let m = try await Mintmark.inProcess(store: ":memory:", log: .discarded)
        let refused = await #expect(throws: MethodNotFoundError.self) { try await TestMethods(m).reset() }
        #expect(refused?.answer.message.contains("TestingMintmark") == true)
        await m.close()
    }

    @Test("a canceled call ends immediately, and the client remains usable")
    func cancellation() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let waiting = Task { try await m.test.outbox(to: "nobody@example.com", waitSeconds: 60) }
        while await inFlight(m) < 2 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        // The library cancels the request: the call no longer waits for a message.
        while await inFlight(m) > 1 { await Task.yield() }
        #expect(try await m.system.ping().now > 0)
        await m.close()
    }

    /// The number of calls in flight, including this one.
    private func inFlight(_ m: any Caller) async -> Int {
        (try? await m.system.metrics().inFlight) ?? -1
    }

    @Test("a call that takes longer than its time limit ends")
    func timeout() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let late = await #expect(throws: CallTimeoutError.self) {
            try await m.test.outbox(to: "nobody@example.com", waitSeconds: 60, timeout: .milliseconds(50))
        }
        #expect(late?.method == "test.outbox")
        await #expect(throws: UsageError.self) { try await m.system.ping(timeout: .zero) }
        await m.close()
    }

    @Test("a time limit beyond the range of the clock counts as no limit")
    func endlessTimeout() async throws {
        let m = try await Mintmark.inProcess(store: ":memory:", timeout: .seconds(Int64.max), log: .discarded)
        #expect(try await m.system.ping().now > 0)
        #expect(try await m.system.ping(timeout: .seconds(Int64.max)).now > 0)
        await m.close(within: .seconds(Int64.max))
    }

    @Test("notifications arrive in order and end with the client")
    func notifications() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let heard = m.notifications
        let pool = try await m.pool.create(name: "shop", allowUnauthenticated: true, developerProvider: "login.shop").poolId
        let shopper = try await m.role.put(name: "shopper", poolId: pool).roleArn
        try await m.pool.setRoles(poolId: pool, roles: RolesByKind(authenticated: shopper))
        let alice = try await m.token.mintForDeveloper(poolId: pool, logins: ["login.shop": "alice"]).identityId
        let provider = CredentialsProvider(m, poolId: pool) { required in
            let minted = try await m.token.mintForDeveloper(poolId: pool, logins: required.logins)
            return (minted.identityId, minted.token)
        }
        let guest = try await provider.identityId()
        try await provider.setLogins(["login.shop": "alice"])
        #expect(try await provider.identityId() == alice)
        await m.close()
        var all: [Mintmark.Notification] = []
        for await each in heard { all.append(each) }
        #expect(all.map(\.method) == ["credentialsProvider/identityChanged"])
        let change = try IdentityChange(wire: .object(all.first?.params ?? [:]))
        #expect(change.oldIdentityId == guest && change.newIdentityId == alice)
    }

    @Test("close lets calls finish, later calls fail, and a second close succeeds")
    func close() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let slow = Task { try await m.pool.create(name: "slow", signingAlgorithm: .RS512) }
        while true {
            let (isUnderway, isDone) = (await inFlight(m) > 1, try await !m.pool.list().pools.isEmpty)
            if isUnderway || isDone { break }
            await Task.yield()
        }
        await m.close(within: .seconds(300))
        #expect(try await slow.value.name == "slow")
        await #expect(throws: ClientClosedError.self) { try await m.system.ping() }
        await m.close()
    }

    @Test("a released client closes itself")
    func letGo() async throws {
        var m: TestingMintmark? = try await TestingMintmark.inProcess(log: .discarded)
        let heard = try #require(m?.notifications)
        _ = try await m?.system.ping()
        m = nil
        for await _ in heard {}
    }

    @Test("requests that are too long or too deeply nested fail as in Mintmark")
    func refusedRequests() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let deep = (0..<70).reduce(1 as JSONValue) { value, _ in [value] }
        await #expect(throws: ParseError.self) { try await m.call("pool.create", ["name": deep], as: JSONValue.self) }
        let long = String(repeating: "x", count: 1_100_000)
        await #expect(throws: InvalidRequestError.self) { try await m.pool.create(name: long) }
        #expect(try await m.pool.list().pools.isEmpty)
        await m.close()
    }

    @Test("an untyped result hides its values when it is printed, and has them")
    func untyped() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let pool = try await m.pool.create(name: "shop", developerProvider: "login.shop").poolId
        let result = try await m.call("token.mintForDeveloper", ["poolId": .string(pool), "logins": ["login.shop": "alice"]])
        let token = try #require(result.token?.string)
        var dumped = ""
        dump(result, to: &dumped)
        for text in ["\(result)", String(reflecting: result), "\([result])", "\(Optional(result)!.token!)", dumped] {
            #expect(!text.contains(token) && !text.contains("eyJ"))
        }
        #expect("\(result)".contains("token: …"))
        #expect(result.json["token"]?.string == token)
        #expect(result.isNewIdentity?.bool == true)
        #expect(result["nothing"] == nil)
        await m.close()
    }

    @Test("calls that are not finished within the grace period of close fail")
    func cutOff() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let waiting = Task { try await m.test.outbox(to: "nobody@example.com", waitSeconds: 60) }
        while await inFlight(m) < 2 { await Task.yield() }
        await m.close(within: .milliseconds(10))
        await #expect(throws: ShuttingDownError.self) { try await waiting.value }
    }

    @Test("a missing store, two stores and invalid options fail with UsageError")
    func options() async throws {
        await #expect(throws: UsageError.self) { try await Mintmark.inProcess() }
        await #expect(throws: UsageError.self) { try await Mintmark.inProcess(store: ":memory:", app: "shop") }
        await #expect(throws: UsageError.self) { try await Mintmark.inProcess(store: "http://shop") }
        for (store, app) in [("", nil), (nil, "")] as [(String?, String?)] {
            let empty = await #expect(throws: UsageError.self) { try await Mintmark.inProcess(store: store, app: app) }
            #expect(empty?.description.contains("is empty") == true)
        }
        var options = Mintmark.Options()
        (options.store, options.testing, options.issuer) = (":memory:", true, "https://id.shop.com")
        let foolish = options
        let refused = await #expect(throws: UsageError.self) { try await Mintmark.inProcess(foolish) }
        #expect(refused?.description.contains("issuer") == true)
    }

    @Test("1,000 concurrent calls each receive their own response")
    func manyCalls() async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let pool = try await m.pool.create(name: "shop").poolId
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                group.addTask { try await m.role.put(name: "role-\(number)", poolId: pool).roleArn.hasSuffix("/role-\(number)") }
            }
            for try await isOwn in group { #expect(isOwn) }
        }
        var names: Set<String> = []
        for try await page in m.role.listPages(limit: 60) { names.formUnion(page.roles.map(\.name)) }
        #expect(names.count == 1000)
        await m.close()
    }
}
