/// Amazon Cognito user pools as login providers. Their names have a special form, and role mappings distinguish their app clients.
package enum UserPool {
    /// Returns whether a login name is that of a user pool: `cognito-idp.<region>.amazonaws.com/<userPoolId>`.
    package static func isName(_ name: String) -> Bool {
        guard name.hasPrefix("cognito-idp."), let slash = name.firstIndex(of: "/") else { return false }
        let host = name[..<slash]
        guard name.index(after: slash) < name.endIndex else { return false }
        return host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn")
    }

    /// Returns the key of one of its app clients in role mappings.
    package static func mappingKey(_ name: String, clientId: String) -> String { "\(name):\(clientId)" }
}

extension LoginProvider {
    var isUserPool: Bool { !isSocial && UserPool.isName(name) }

    /// Returns the key of logins of one client in role mappings.
    func mappingKey(clientId: String) -> String { isUserPool ? UserPool.mappingKey(name, clientId: clientId) : name }

    /// All keys of the provider's logins in role mappings.
    var mappingKeys: [String] { isUserPool ? clientIds.map(mappingKey) : [name] }
}
