/// The ID and the origins that a relying party accepts (WebAuthn Level 3 sections 5.1.3 and 13.4.9).
public struct RelyingParty: Sendable {
    /// The domain to which passkeys belong.
    public let id: String
    /// The origins of the pages and apps that may use the passkeys, in serialized form. They are compared byte for byte.
    public let origins: [String]
    /// The origins of pages that may embed one of `origins` in a frame. `*` stands for all.
    public let topOrigins: [String]

    public init(id: String, origins: [String], topOrigins: [String] = []) {
        self.id = id
        self.origins = origins
        self.topOrigins = topOrigins
    }
}
