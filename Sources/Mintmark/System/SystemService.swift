import Contract

/// The process itself: `system.*`.
struct SystemService: SystemHandlers {
    /// Which holds the services, and so outlives them.
    unowned let mintmark: Mintmark

    init(_ mintmark: Mintmark) { self.mintmark = mintmark }
}

/// The description of what is offered: `rpc.*`.
struct RpcService: RpcHandlers {
    /// Which holds the services, and so outlives them.
    unowned let mintmark: Mintmark

    init(_ mintmark: Mintmark) { self.mintmark = mintmark }
}
