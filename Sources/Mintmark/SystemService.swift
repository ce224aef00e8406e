import Contract

/// The methods of the process: `system.*`.
struct SystemService: SystemHandlers {
    /// It retains the services and therefore outlives them.
    unowned let mintmark: Mintmark

    init(_ mintmark: Mintmark) { self.mintmark = mintmark }
}

/// The service description: `rpc.*`.
struct RpcService: RpcHandlers {
    /// It retains the services and therefore outlives them.
    unowned let mintmark: Mintmark

    init(_ mintmark: Mintmark) { self.mintmark = mintmark }
}
