/// The attributes whose names and limits are known (native-auth.md 1.4), in the order in which a form would ask for them.
enum BuiltInAttribute: String, CaseIterable {
    case displayName, givenName, surname, streetAddress, city, state, postalCode, country, jobTitle

    /// The most Unicode scalars that a value has.
    var maximumLength: Int {
        switch self {
        case .displayName: 256
        case .givenName, .surname: 64
        case .city, .country, .state, .jobTitle: 128
        case .streetAddress: 1024
        case .postalCode: 40
        }
    }

    /// Whether a value has no line ends.
    var isOneLine: Bool { self != .streetAddress }

    /// The most of a tenant's own attribute.
    static let maximumCustomLength = 250
}
