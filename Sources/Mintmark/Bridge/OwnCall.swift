import ServiceContext

/// The call with which a Swift program uses the methods in its own process.
public typealias OwnCall = InProcessCall
