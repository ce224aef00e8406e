import Identity

/// The call with which a Swift program uses the methods in process.
public typealias OwnCall = Identity.OwnCall
