/// User pools of Amazon Cognito as login providers: their names have a form of their own, and their app clients matter where roles
/// are mapped (cognito.md 1.4, 1.5).
package enum UserPool {
    /// Whether logins of this name are a user pool's: `cognito-idp.<region>.amazonaws.com/<userPoolId>`.
    package static func isName(_ name: String) -> Bool {
        guard name.hasPrefix("cognito-idp."), let slash = name.firstIndex(of: "/") else { return false }
        let host = name[..<slash]
        guard name.index(after: slash) < name.endIndex else { return false }
        return host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn")
    }

    /// What role mappings call one of its app clients.
    package static func mappingKey(_ name: String, clientId: String) -> String { "\(name):\(clientId)" }
}

extension LoginProvider {
    var isUserPool: Bool { !isSocial && UserPool.isName(name) }

    /// What role mappings call the logins that were made for one of its clients (cognito.md 1.5).
    func mappingKey(clientId: String) -> String { isUserPool ? UserPool.mappingKey(name, clientId: clientId) : name }

    /// Everything that role mappings may call its logins.
    var mappingKeys: [String] { isUserPool ? clientIds.map(mappingKey) : [name] }
}
