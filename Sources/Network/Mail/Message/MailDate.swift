import Platform

/// Formats times for mail headers (RFC 5322 section 3.3), in UTC: `Fri, 21 Nov 1997 09:55:06 +0000`.
enum MailDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Parameter seconds: The time in seconds since 1970, limited to the years 1970 to 9999.
    static func text(of seconds: Int64) -> String {
        let time = CalendarTime(seconds)
        let clock = [time.hour, time.minute, time.second].map(CalendarTime.twoDigits).joined(separator: ":")
        return "\(days[time.daysSince1970 % 7]), \(time.day) \(months[time.month - 1]) \(time.year) \(clock) +0000"
    }
}
