/// Formats times for mail headers (RFC 5322 section 3.3), in UTC: `Fri, 21 Nov 1997 09:55:06 +0000`.
enum MailDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Parameter seconds: The time in seconds since 1970, limited to the years 1970 to 9999.
    static func text(of seconds: Int64) -> String {
        let seconds = min(max(0, seconds), 253_402_300_799)
        let (day, second) = (Int(seconds / 86400), Int(seconds % 86400))
        let date = civil(day)
        let clock = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(days[day % 7]), \(date.day) \(months[date.month - 1]) \(date.year) \(clock) +0000"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns the date of a day since 1970. The calculation uses years that begin in March, so that the leap day is the last day.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let (era, inEra) = (shifted / 146_097, shifted % 146_097)
        let year = (inEra - inEra / 1460 + inEra / 36524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * year + year / 4 - year / 100)
        let month = (5 * inYear + 2) / 153
        return (era * 400 + year + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, inYear - (153 * month + 2) / 5 + 1)
    }
}
