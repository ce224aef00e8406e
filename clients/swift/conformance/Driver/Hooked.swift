import MintmarkClient
import Synchronization

/// The hooks that a client has answered.
actor Asked {
    private(set) var all: [JSONValue] = []
    private var client: Mintmark?

    func add(_ request: HookRequest) { all.append(["hook": .string(request.hook), "params": .object(request.params)]) }
    func set(_ client: Mintmark) { self.client = client }

    /// Returns a function of this behavior.
    nonisolated func hook(_ behavior: String) -> Mintmark.HookFunction {
        { [self] request in
            await add(request)
            switch behavior {
            case "changes":
                var answer = HookAnswer(displayName: "Hooked", claims: ["role": "staff"], sessionClaims: ["desk": 7])
                answer.photoUrl = "https://example.com/hooked.png"
                answer.emailVerified = true
                return answer
            case "refuses": throw HookRefused("not on the list")
            case "fails": throw DirectoryDown()
            case "calls":
                let _: JSONValue? = try await client?.call("account.find", ["username": .string(request.account?.username ?? "")])
                return nil
            default: return nil
            }
        }
    }

    /// The functions that a step names.
    nonisolated func hooks(_ step: Step) -> Mintmark.HookFunctions {
        let behaviors = step["hooks"]?.object ?? [:]
        var hooks = Mintmark.HookFunctions()
        hooks.beforeCreate = behaviors["beforeCreate"]?.string.map(hook)
        hooks.beforeSignIn = behaviors["beforeSignIn"]?.string.map(hook)
        hooks.beforeSendMessage = behaviors["beforeSendMessage"]?.string.map(hook)
        return hooks
    }
}

/// The error with which a hook fails.
struct DirectoryDown: Error, CustomStringConvertible { let description = "the directory is down" }
