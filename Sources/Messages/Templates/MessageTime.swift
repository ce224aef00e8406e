import Platform

/// Formats times for notices, in UTC: `2026-11-22 20:52 UTC`.
enum MessageTime {
    /// - Parameter seconds: The time in seconds since 1970, limited to the years 1970 to 9999.
    static func text(of seconds: Int64) -> String {
        let time = CalendarTime(seconds)
        let (month, day) = (CalendarTime.twoDigits(time.month), CalendarTime.twoDigits(time.day))
        return "\(time.year)-\(month)-\(day) \(CalendarTime.twoDigits(time.hour)):\(CalendarTime.twoDigits(time.minute)) UTC"
    }
}
