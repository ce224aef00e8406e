import Contract
import JSON
import Patterns

/// What people say of themselves at sign-up, held against what their tenant asks for (native-auth.md 1.4, 6.13 to 6.16).
enum AttributeRules {
    /// Who says it: a person of oneself, who has to agree to what must be agreed to, or the developer of others, who notes what is so.
    enum Speaker: Sendable { case oneself, others }

    /// The values of a submission as they are kept; what was left empty is not among them.
    ///
    /// - Throws: `InvalidAttributes` with everything that is wrong. Nothing of such a submission counts.
    static func accepted(
        _ given: JSONObject, by definitions: [TenantAttribute], patterns: [String: BoundedPattern] = [:], of speaker: Speaker = .oneself
    ) throws -> JSONObject {
        var accepted = JSONObject()
        var failures: [AttributeFailure] = []
        for (name, value) in given.members {
            guard let definition = definitions.first(where: { $0.name == name }) else {
                failures.append(unknown(name, among: definitions.map(\.name)))
                continue
            }
            if value.isNull || value.string == "" { continue }
            do { accepted[name] = try self.value(value, of: definition, patterns[name], speaker) } catch {
                failures.append(error.failure(of: name))
            }
        }
        if !failures.isEmpty { throw InvalidAttributes(attributes: failures) }
        return accepted
    }

    /// What was accepted before, without what does not fit any more: the tenant may have been changed since.
    static func stillFitting(
        _ accepted: JSONObject, by definitions: [TenantAttribute], patterns: [String: BoundedPattern] = [:]
    ) -> JSONObject {
        var fitting = JSONObject()
        for (name, value) in accepted.members {
            fitting[name] = (try? self.accepted([name: value], by: definitions, patterns: patterns))?[name]
        }
        return fitting
    }

    /// What is asked for and not yet there.
    static func missing(_ definitions: [TenantAttribute], in accepted: JSONObject) -> [TenantAttribute] {
        definitions.filter { $0.required && accepted[$0.name] == nil }
    }

    private static func unknown(_ name: String, among known: [String]) -> AttributeFailure {
        let message = "The tenant asks for no such attribute.\(NearestNames.hint(name, among: known))"
        return AttributeFailure(name: name, rule: .unknown, message: message, nearest: NearestNames.of(name, among: known))
    }

    private struct Flaw: Error {
        let rule: AttributeRule
        let message: String
        func failure(of name: String) -> AttributeFailure { AttributeFailure(name: name, rule: rule, message: message) }
    }

    private static func value(_ value: JSONValue, of definition: TenantAttribute, _ pattern: BoundedPattern?, _ speaker: Speaker)
        throws(Flaw) -> JSONValue
    {
        switch definition.type {
        case .string:
            guard let text = value.string else { throw Flaw(rule: .type, message: "It must be a string.") }
            let accepted = try string(text, of: definition)
            switch pattern?.matches(accepted) {
            case nil, .yes: return .string(accepted)
            case .no: throw Flaw(rule: .pattern, message: "It is not written as it must be.")
            case .tooExpensive: throw Flaw(rule: .pattern, message: "It cannot be checked: the pattern takes too long with it.")
            }
        case .boolean:
            guard let flag = value.bool ?? boolean(value.string) else { throw Flaw(rule: .type, message: "It must be true or false.") }
            if definition.required, !flag, speaker == .oneself {
                throw Flaw(rule: .consent, message: "Nobody signs up without agreeing to it.")
            }
            return .bool(flag)
        case .integer:
            guard let number = integer(value) else { throw Flaw(rule: .type, message: "It must be a whole number of 64 bits.") }
            return .number(JSONNumber(number))
        }
    }

    private static func string(_ text: String, of definition: TenantAttribute) throws(Flaw) -> String {
        let most = BuiltInAttribute(rawValue: definition.name)?.maximumLength ?? BuiltInAttribute.maximumCustomLength
        if text.unicodeScalars.count > most { throw Flaw(rule: .tooLong, message: "It may have at most \(most) characters.") }
        if AttributeText.hasControls(text, isOneLine: BuiltInAttribute(rawValue: definition.name)?.isOneLine ?? false) {
            throw Flaw(rule: .disallowedCharacters, message: "It has line ends or characters that control how text is shown.")
        }
        if definition.required, AttributeText.isBlank(text) { throw Flaw(rule: .blank, message: "It must have more than blanks.") }
        guard let options = definition.options else { return text }
        var chosen: [String] = [text]
        if definition.multiple {
            // A blank may follow a comma; the samples of the model are of two minds about it.
            chosen = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.hasPrefix(" ") ? $0.dropFirst() : $0) }
        }
        let known = options.map(\.value)
        if let twice = chosen.first(where: { one in known.contains(one) && chosen.filter { $0 == one }.count > 1 }) {
            throw Flaw(rule: .option, message: "Each can be chosen once: \(twice) stands there twice.")
        }
        guard chosen.allSatisfy({ known.contains($0) }) else {
            throw Flaw(
                rule: .option, message: "It must be \(definition.multiple ? "chosen from" : "one of"): \(known.joined(separator: ", ")).")
        }
        return chosen.joined(separator: ",")
    }

    private static func boolean(_ text: String?) -> Bool? {
        switch text.map(Username.fold) {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// A JSON number without a fraction or an exponent, or its digits as text.
    private static func integer(_ value: JSONValue) -> Int64? {
        let text: String
        switch value {
        case .string(let string): text = string
        case .number: text = value.text
        default: return nil
        }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
