/// A time in the Gregorian calendar, in UTC.
public struct CalendarTime: Sendable, Equatable {
    public let year: Int
    public let month: Int
    public let day: Int
    public let hour: Int
    public let minute: Int
    public let second: Int
    /// The number of the day since 1970-01-01, a Thursday.
    public let daysSince1970: Int

    /// - Parameter seconds: The time in seconds since 1970, limited to the years 1970 to 9999.
    public init(_ seconds: Int64) {
        let seconds = min(max(0, seconds), 253_402_300_799)
        daysSince1970 = Int(seconds / 86_400)
        let clock = Int(seconds % 86_400)
        (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60)
        // The calculation uses years that begin in March, so that the leap day is the last day.
        let shifted = daysSince1970 + 719_468
        let (era, inEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * inYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        day = inYear - (153 * shiftedMonth + 2) / 5 + 1
    }

    /// Returns a number below 100 with two digits.
    public static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
