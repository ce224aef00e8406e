import Contract
import IdentityPools

/// The switch of AWS IAM for `GetWebIdentityToken` of AWS STS.
extension IAMProtocol {
    static let outboundOperations: [String: Operation] = [
        "EnableOutboundWebIdentityFederation": { try $0.enable() },
        "DisableOutboundWebIdentityFederation": { try $0.disable() },
        "GetOutboundWebIdentityFederationInfo": { try $0.federationInfo() },
    ]

    private static let disabled = WireError(
        "FeatureDisabled", "Outbound web identity federation is disabled for this account. Enable it first.", status: 404)

    private func change(to isEnabled: Bool) throws -> Bool {
        try service.meetFault(of: TokenOutboundFederation.self, context)
        return try service.outbound.setEnabled(isEnabled, by: TokenOutboundFederation.info.name, context)
    }

    private func enable() throws -> [XMLElement]? {
        guard try change(to: true) else {
            throw WireError(
                "FeatureEnabled", "Outbound web identity federation is already enabled for this account.", status: 409)
        }
        return [XMLElement("IssuerIdentifier", service.outbound.issuer)]
    }

    private func disable() throws -> [XMLElement]? {
        guard try change(to: false) else { throw Self.disabled }
        return nil
    }

    private func federationInfo() throws -> [XMLElement]? {
        guard try service.outbound.isEnabled() else { throw Self.disabled }
        return [XMLElement("IssuerIdentifier", service.outbound.issuer), XMLElement("JwtVendingEnabled", "true")]
    }
}
