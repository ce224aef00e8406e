import Contract

extension TokenUse {
    /// The same kind of token among all kinds.
    package var kind: TokenKind {
        switch self {
        case .pool: .pool
        case .id: .id
        case .access: .access
        case .cookie: .cookie
        }
    }
}
