import JSON

/// The enumerated values of requests in the order of the original API, whose clients for Android send their numbers.
enum FirebaseEnumeration {
    static let requestType = [
        "OOB_REQ_TYPE_UNSPECIFIED", "PASSWORD_RESET", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT", "VERIFY_EMAIL", "RECOVER_EMAIL",
        "EMAIL_SIGNIN", "VERIFY_AND_CHANGE_EMAIL", "REVERT_SECOND_FACTOR_ADDITION",
    ]
    static let attribute = [
        "USER_ATTRIBUTE_NAME_UNSPECIFIED", "EMAIL", "DISPLAY_NAME", "PROVIDER", "PHOTO_URL", "PASSWORD", "RAW_USER_INFO",
    ]
    static let operation = ["VERIFY_OP_UNSPECIFIED", "SIGN_UP_OR_IN", "REAUTH", "UPDATE", "LINK"]
    static let order = ["ORDER_UNSPECIFIED", "ASC", "DESC"]
    static let sorting = ["SORT_BY_FIELD_UNSPECIFIED", "USER_ID", "NAME", "CREATED_AT", "LAST_LOGIN_AT", "USER_EMAIL"]
    static let hashOrder = ["UNSPECIFIED_ORDER", "SALT_AND_PASSWORD", "PASSWORD_AND_SALT"]
}

extension FirebaseInput {
    /// The name of an enumerated value that is given by its name or its number; `nil` if it is missing.
    ///
    /// - Throws: `FirebaseError` if the value is not one of `values`.
    func choice(_ name: String, of values: [String]) throws -> String? {
        try filled(name).map { try Self.choice($0, name, of: values) }
    }

    /// The names of a list of enumerated values. A single value is a list of one element.
    ///
    /// - Throws: `FirebaseError` if a value is not one of `values`.
    func choices(_ name: String, of values: [String]) throws -> [String] {
        guard has(name), let given = members[name] else { return [] }
        return try (given.array ?? [given]).map { element in
            switch element {
            case .number(let number): try Self.choice(number.text, name, of: values)
            default: try Self.choice(element.string ?? "", name, of: values)
            }
        }
    }

    private static func choice(_ text: String, _ name: String, of values: [String]) throws -> String {
        if values.contains(text) { return text }
        guard let number = Int(text), values.indices.contains(number) else {
            throw FirebaseError.payload("Invalid value at '\(name)' (TYPE_ENUM). Allowed are \(values.joined(separator: ", ")).")
        }
        return values[number]
    }
}
