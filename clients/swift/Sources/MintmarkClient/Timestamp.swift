import FoundationEssentials
import JSON

/// A time in whole seconds.
public struct Timestamp: WireValue, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Seconds since 1970-01-01T00:00:00Z.
    public var secondsSince1970: Int

    public init(_ secondsSince1970: Int) { self.secondsSince1970 = secondsSince1970 }
    public init(integerLiteral value: Int) { self.init(value) }
    /// The start of the second that contains `date`.
    public init(_ date: Date) { self.init(Int(date.timeIntervalSince1970.rounded(.down))) }

    public var date: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }

    public init(wire: JSONValue) throws { self.init(try Int(wire: wire)) }
    public var wire: JSONValue { secondsSince1970.wire }
    public var description: String { String(secondsSince1970) }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.secondsSince1970 < b.secondsSince1970 }
    /// Returns the time a number of seconds later.
    public static func + (moment: Timestamp, seconds: Int) -> Timestamp { Timestamp(moment.secondsSince1970 + seconds) }
}
