/// The description of an option.
public struct ArgumentHelp: ExpressibleByStringInterpolation, Sendable {
    public var text: String
    public var valueName: String?

    public init(_ text: String = "", valueName: String? = nil) {
        self.text = text
        self.valueName = valueName
    }

    public init(stringLiteral value: String) { self.init(value) }
}

/// The values that a shell suggests for an option.
public enum CompletionKind: Sendable {
    case file(extensions: [String])
    case directory
    case list([String])

    public static func file() -> CompletionKind { .file(extensions: []) }
}

/// The names of an option. Without a name, it is the name of the property with hyphens: `--master-key-file`.
public struct NameSpecification: ExpressibleByArrayLiteral, Sendable {
    enum Name: Sendable {
        case property
        case propertyInitial
        case long(String)
        case short(Character)
    }

    let names: [Name]

    public static let long = NameSpecification([.property])
    public static let short = NameSpecification([.propertyInitial])
    public static let shortAndLong = NameSpecification([.propertyInitial, .property])
    public static func customLong(_ name: String) -> NameSpecification { NameSpecification([.long(name)]) }
    public static func customShort(_ name: Character) -> NameSpecification { NameSpecification([.short(name)]) }

    init(_ names: [Name]) { self.names = names }

    public init(arrayLiteral elements: NameSpecification...) { names = elements.flatMap(\.names) }

    /// Returns the names with their hyphens.
    func flags(of property: String) -> [String] {
        names.map { name in
            switch name {
            case .property: "--" + Self.hyphenated(property)
            case .propertyInitial: "-" + property.prefix(1)
            case .long(let name): "--" + name
            case .short(let letter): "-\(letter)"
            }
        }
    }

    /// Names of properties and types are ASCII: the tables of Unicode are not needed for every start of the program.
    static func hyphenated(_ property: String) -> String {
        var name: [UInt8] = []
        for letter in property.utf8 {
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) {
                name += [UInt8(ascii: "-"), letter | 0x20]
            } else {
                name.append(letter)
            }
        }
        return String(decoding: name, as: UTF8.self)
    }
}

/// A value that can be read from an argument.
public protocol ExpressibleByArgument {
    init?(argument: String)
    /// The accepted values, if they can be listed.
    static var allValueStrings: [String] { get }
}

extension ExpressibleByArgument {
    public static var allValueStrings: [String] { [] }
}

extension String: ExpressibleByArgument {
    public init?(argument: String) { self = argument }
}

extension FixedWidthInteger where Self: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument, radix: 10) }
}

extension Int: ExpressibleByArgument {}
extension Int32: ExpressibleByArgument {}
extension Int64: ExpressibleByArgument {}
extension UInt16: ExpressibleByArgument {}

extension ExpressibleByArgument where Self: RawRepresentable, RawValue == String {
    public init?(argument: String) { self.init(rawValue: argument) }
}

extension ExpressibleByArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
    public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}
