import Platform

/// The time format of AWS signatures.
enum AmzDate {
    /// Returns the seconds since 1970-01-01 UTC of a time such as `20261121T120000Z`, or `nil` for any other text.
    static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            guard bytes[range].allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
            return bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
            let minute = number(11..<13), let second = number(13..<15), 1...12 ~= month, 1...daysIn(month, year) ~= day, hour < 24,
            minute < 60,
            second < 60
        else { return nil }
        return days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func daysIn(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar. The calculation uses years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Formats seconds since 1970-01-01 UTC as `20261121T120000Z`.
    static func text(_ seconds: Int64) -> String {
        let time = CalendarTime(seconds)
        let date = [time.month, time.day].map(CalendarTime.twoDigits).joined()
        return String(time.year) + date + "T" + [time.hour, time.minute, time.second].map(CalendarTime.twoDigits).joined() + "Z"
    }

    /// Converts an HTTP date such as `Sat, 21 Nov 2026 12:00:00 GMT` (RFC 9110 §5.6.7) to `20261121T120000Z`. Also accepts the offsets
    /// +0000 and -0000 of email libraries, and the format of signatures itself. Returns `nil` for any other text.
    static func fromHTTPDate(_ text: String) -> String? {
        if seconds(text) != nil { return text }
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, ["GMT", "+0000", "-0000"].contains(parts[5]), parts[1].utf8.count == 2, parts[3].utf8.count == 4,
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        let time = parts[4].split(separator: ":").joined()
        let written = "\(parts[3])\(number)\(parts[1])T\(time)Z"
        return seconds(written) == nil ? nil : written
    }
}
