/// How an option finds its value, or an argument its values.
public enum SingleValueParsing: Sendable {
    /// The value must not begin with a hyphen.
    case next
    /// Any value, such as a negative number.
    case unconditional
}

public enum ArgumentArrayParsing: Sendable {
    /// Arguments that are not options.
    case remaining
    /// Everything after the first of them, or after `--`, including options.
    case captureForPassthrough
    /// Everything after `--`.
    case postTerminator
}

/// The place of a value that the parser sets.
final class Slot {
    enum Kind {
        case option
        case flag
        case argument
    }

    let kind: Kind
    let names: NameSpecification
    let help: ArgumentHelp
    let completion: CompletionKind?
    var takesAnyValue = false
    /// The value of an option that stands without one.
    var valueAsFlag: Any?
    var isRequired = false
    var isRepeated = false
    /// How the arguments of a list are found.
    var arrayParsing = ArgumentArrayParsing.remaining
    var value: Any?
    /// The accepted values, for the message about another one.
    var values: [String] = []
    /// Sets the value from text. Returns `false` if the text is not valid.
    var set: (String) -> Bool = { _ in false }

    init(_ kind: Kind, _ names: NameSpecification = .long, help: ArgumentHelp?, completion: CompletionKind? = nil) {
        self.kind = kind
        self.names = names
        self.help = help ?? ArgumentHelp()
        self.completion = completion
    }

    /// Makes the slot take one value.
    func take<Value: ExpressibleByArgument>(_ type: Value.Type) {
        values = Value.allValueStrings
        set = { [unowned self] text in
            guard let parsed = Value(argument: text) else { return false }
            value = parsed
            return true
        }
    }

    /// Makes the slot take many values.
    func takeAll<Value: ExpressibleByArgument>(_ type: Value.Type, initial: [Value]?) {
        values = Value.allValueStrings
        isRepeated = true
        isRequired = initial == nil
        value = initial
        var given: [Value] = []
        set = { [unowned self] text in
            guard let parsed = Value(argument: text) else { return false }
            given.append(parsed)
            value = given
            return true
        }
    }
}

/// A property that the parser fills.
protocol SlotHolder { var slot: Slot { get } }

/// An option with a value: `--store PATH`.
@propertyWrapper
public struct Option<Value>: SlotHolder {
    let slot: Slot

    public var wrappedValue: Value {
        get { slot.value as! Value }
        nonmutating set { slot.value = newValue }
    }
}

extension Option {
    public init<Wrapped: ExpressibleByArgument>(
        wrappedValue: Wrapped? = nil, name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        slot = Slot(.option, name, help: help, completion: completion)
        slot.takesAnyValue = parsing == .unconditional
        slot.take(Wrapped.self)
        slot.value = wrappedValue as Wrapped?
    }

    /// An option that may stand without a value, `--idp` or `--idp shop`. It takes the next word unless that begins with a hyphen.
    public init<Wrapped: ExpressibleByArgument>(
        wrappedValue: Wrapped? = nil, name: NameSpecification = .long, defaultAsFlag: Wrapped, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        slot = Slot(.option, name, help: help, completion: completion)
        slot.valueAsFlag = defaultAsFlag
        slot.take(Wrapped.self)
        slot.value = wrappedValue as Wrapped?
    }

    public init(
        wrappedValue: Value, name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        slot = Slot(.option, name, help: help, completion: completion)
        slot.takesAnyValue = parsing == .unconditional
        slot.take(Value.self)
        slot.value = wrappedValue
    }

    public init(
        name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        slot = Slot(.option, name, help: help, completion: completion)
        slot.takesAnyValue = parsing == .unconditional
        slot.isRequired = true
        slot.take(Value.self)
    }

    public init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value == [Element] {
        slot = Slot(.option, name, help: help, completion: completion)
        slot.takesAnyValue = parsing == .unconditional
        slot.takeAll(Element.self, initial: wrappedValue)
    }
}

/// An option without a value: `--testing`.
@propertyWrapper
public struct Flag: SlotHolder {
    let slot: Slot

    public var wrappedValue: Bool {
        get { slot.value as? Bool ?? false }
        nonmutating set { slot.value = newValue }
    }

    public init(wrappedValue: Bool = false, name: NameSpecification = .long, help: ArgumentHelp? = nil) {
        slot = Slot(.flag, name, help: help)
        slot.value = wrappedValue
        slot.set = { [unowned slot] _ in
            slot.value = true
            return true
        }
    }
}

/// A positional argument.
@propertyWrapper
public struct Argument<Value>: SlotHolder {
    let slot: Slot

    public var wrappedValue: Value {
        get { slot.value as! Value }
        nonmutating set { slot.value = newValue }
    }
}

extension Argument {
    public init<Wrapped: ExpressibleByArgument>(
        wrappedValue: Wrapped? = nil, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        slot = Slot(.argument, help: help, completion: completion)
        slot.take(Wrapped.self)
        slot.value = wrappedValue as Wrapped?
    }

    public init(wrappedValue: Value, help: ArgumentHelp? = nil, completion: CompletionKind? = nil) where Value: ExpressibleByArgument {
        slot = Slot(.argument, help: help, completion: completion)
        slot.take(Value.self)
        slot.value = wrappedValue
    }

    public init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) where Value: ExpressibleByArgument {
        slot = Slot(.argument, help: help, completion: completion)
        slot.isRequired = true
        slot.take(Value.self)
    }

    public init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], parsing: ArgumentArrayParsing = .remaining, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == [Element] {
        slot = Slot(.argument, help: help, completion: completion)
        slot.arrayParsing = parsing
        slot.takeAll(Element.self, initial: wrappedValue)
    }

    public init<Element: ExpressibleByArgument>(
        parsing: ArgumentArrayParsing = .remaining, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == [Element] {
        slot = Slot(.argument, help: help, completion: completion)
        slot.arrayParsing = parsing
        slot.takeAll(Element.self, initial: nil)
    }
}

/// A property with options that several commands share.
protocol GroupHolder {
    var title: String { get }
    var group: Any { get }
}

@propertyWrapper
public struct OptionGroup<Group: ParsableArguments>: GroupHolder {
    public var wrappedValue: Group
    /// The heading of the options in help.
    let title: String

    public init(title: String = "") {
        wrappedValue = Group()
        self.title = title
    }

    var group: Any { wrappedValue }
}
