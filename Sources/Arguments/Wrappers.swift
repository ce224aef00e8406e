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
    /// The value of an option that is given without one.
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

/// A property of a command: an option, a flag, an argument, or a group of them. A superclass and not a protocol: the first conversion of
/// each type to a protocol searches all conformances of the program, which took a tenth of the time to the first response.
public class CommandProperty {}

/// A property that the parser fills.
public class SlotHolder: CommandProperty {
    let slot: Slot

    init(_ slot: Slot) { self.slot = slot }
}

/// An option with a value: `--store PATH`.
@propertyWrapper
public final class Option<Value>: SlotHolder {
    public var wrappedValue: Value {
        get { slot.value as! Value }
        set { slot.value = newValue }
    }
}

extension Option {
    public convenience init<Wrapped: ExpressibleByArgument>(
        wrappedValue: Wrapped? = nil, name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(Slot(.option, name, help: help, completion: completion))
        slot.takesAnyValue = parsing == .unconditional
        slot.take(Wrapped.self)
        slot.value = wrappedValue as Wrapped?
    }

    /// An option that can be given without a value, `--idp` or `--idp shop`. It takes the next word unless that begins with a hyphen.
    public convenience init<Wrapped: ExpressibleByArgument>(
        wrappedValue: Wrapped? = nil, name: NameSpecification = .long, defaultAsFlag: Wrapped, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(Slot(.option, name, help: help, completion: completion))
        slot.valueAsFlag = defaultAsFlag
        slot.take(Wrapped.self)
        slot.value = wrappedValue as Wrapped?
    }

    public convenience init(
        wrappedValue: Value, name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        self.init(Slot(.option, name, help: help, completion: completion))
        slot.takesAnyValue = parsing == .unconditional
        slot.take(Value.self)
        slot.value = wrappedValue
    }

    public convenience init(
        name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        self.init(Slot(.option, name, help: help, completion: completion))
        slot.takesAnyValue = parsing == .unconditional
        slot.isRequired = true
        slot.take(Value.self)
    }

    public convenience init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], name: NameSpecification = .long, parsing: SingleValueParsing = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(Slot(.option, name, help: help, completion: completion))
        slot.takesAnyValue = parsing == .unconditional
        slot.takeAll(Element.self, initial: wrappedValue)
    }
}

/// An option without a value: `--testing`.
@propertyWrapper
public final class Flag: SlotHolder {
    public var wrappedValue: Bool {
        get { slot.value as? Bool ?? false }
        set { slot.value = newValue }
    }

    public convenience init(wrappedValue: Bool = false, name: NameSpecification = .long, help: ArgumentHelp? = nil) {
        self.init(Slot(.flag, name, help: help))
        slot.value = wrappedValue
        slot.set = { [unowned slot] _ in
            slot.value = true
            return true
        }
    }
}

/// A positional argument.
@propertyWrapper
public final class Argument<Value>: SlotHolder {
    public var wrappedValue: Value {
        get { slot.value as! Value }
        set { slot.value = newValue }
    }
}

extension Argument {
    public convenience init<Wrapped: ExpressibleByArgument>(
        wrappedValue: Wrapped? = nil, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(Slot(.argument, help: help, completion: completion))
        slot.take(Wrapped.self)
        slot.value = wrappedValue as Wrapped?
    }

    public convenience init(wrappedValue: Value, help: ArgumentHelp? = nil, completion: CompletionKind? = nil)
    where Value: ExpressibleByArgument {
        self.init(Slot(.argument, help: help, completion: completion))
        slot.take(Value.self)
        slot.value = wrappedValue
    }

    public convenience init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) where Value: ExpressibleByArgument {
        self.init(Slot(.argument, help: help, completion: completion))
        slot.isRequired = true
        slot.take(Value.self)
    }

    public convenience init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], parsing: ArgumentArrayParsing = .remaining, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(Slot(.argument, help: help, completion: completion))
        slot.arrayParsing = parsing
        slot.takeAll(Element.self, initial: wrappedValue)
    }

    public convenience init<Element: ExpressibleByArgument>(
        parsing: ArgumentArrayParsing = .remaining, help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(Slot(.argument, help: help, completion: completion))
        slot.arrayParsing = parsing
        slot.takeAll(Element.self, initial: nil)
    }
}

/// A property with options that several commands share.
public class GroupHolder: CommandProperty {
    /// The heading of the options in help.
    let title: String
    let group: any ParsableArguments

    init(title: String, group: any ParsableArguments) {
        self.title = title
        self.group = group
    }
}

/// `Group` has no requirement on purpose: the first use of each type with a requirement searches all conformances of the program.
@propertyWrapper
public final class OptionGroup<Group>: GroupHolder {
    public let wrappedValue: Group

    public init(title: String = "") where Group: ParsableArguments {
        wrappedValue = Group()
        super.init(title: title, group: wrappedValue)
    }
}
