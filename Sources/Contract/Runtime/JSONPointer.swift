/// JSON pointers (RFC 6901).
public enum JSONPointer {
    /// Escapes a name for use in a pointer (section 3).
    public static func escaped(_ name: String) -> String {
        var escaped = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": escaped += "~0"
            case "/": escaped += "~1"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
