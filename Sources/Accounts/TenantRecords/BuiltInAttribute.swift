/// The attributes with predefined names and limits, in the order of a typical form.
enum BuiltInAttribute: String, CaseIterable {
    case displayName, givenName, surname, streetAddress, city, state, postalCode, country, jobTitle

    /// The maximum length of a value, in Unicode scalars.
    var maximumLength: Int {
        switch self {
        case .displayName: 256
        case .givenName, .surname: 64
        case .city, .country, .state, .jobTitle: 128
        case .streetAddress: 1024
        case .postalCode: 40
        }
    }

    /// Whether values must not contain line ends.
    var isOneLine: Bool { self != .streetAddress }

    /// The maximum length of a custom attribute, in Unicode scalars.
    static let maximumCustomLength = 250
}
