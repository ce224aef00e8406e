import Contract

/// The process itself: `system.*`.
struct SystemService: SystemHandlers {
    let mintmark: Mintmark

    init(_ mintmark: Mintmark) { self.mintmark = mintmark }
}

/// The description of what is offered: `rpc.*`.
struct RpcService: RpcHandlers {
    let mintmark: Mintmark

    init(_ mintmark: Mintmark) { self.mintmark = mintmark }
}
