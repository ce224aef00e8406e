import Contract
import JSON
import Patterns
import Platform

/// Validates user attributes against the attribute definitions of a tenant.
package enum AttributeRules {
    /// The source of the values. A user must accept every required consent; the developer may also record that a consent was not given.
    package enum Speaker: Sendable { case oneself, others }

    /// Returns the values of a submission in stored form, without empty values.
    /// - Throws: `InvalidAttributes` with every problem. The whole submission is then rejected.
    static func accepted(
        _ given: JSONObject, by definitions: [TenantAttribute], of speaker: Speaker = .oneself
    ) throws -> JSONObject {
        var accepted = JSONObject()
        var failures: [AttributeFailure] = []
        for (name, value) in given.members {
            guard let definition = definitions.first(where: { $0.name == name }) else {
                failures.append(unknown(name, among: definitions.map(\.name)))
                continue
            }
            if value.isNull || value.string == "" { continue }
            do { accepted[name] = try self.value(value, of: definition, speaker) } catch {
                failures.append(error.failure(of: name))
            }
        }
        if !failures.isEmpty { throw InvalidAttributes(attributes: failures) }
        return accepted
    }

    /// Attributes that a sign-in with a provider sets in every tenant, with their maximum length in characters.
    package static let setByProviders = ["displayName": 256, "picture": 2048]

    /// Validates a change of an account's attributes by the developer and returns it in stored form. It can contain attributes that the
    /// tenant
    /// defines, attributes that providers set, and the removal of any attribute of the account.
    /// - Throws: `InvalidAttributes` with every problem.
    static func change(
        _ given: JSONObject, of present: JSONObject, by definitions: [TenantAttribute]
    ) throws -> JSONObject {
        var (changed, asked) = (JSONObject(), JSONObject())
        var failures: [AttributeFailure] = []
        for (name, value) in given.members {
            let isAskedFor = definitions.contains { $0.name == name }
            if !isAskedFor, value.isNull || value.string == "", present[name] != nil || setByProviders[name] != nil { continue }
            guard !isAskedFor, let most = setByProviders[name] else {
                asked[name] = value
                continue
            }
            do throws(Flaw) {
                guard let text = value.string else { throw Flaw(rule: .type, message: "It must be a string.") }
                try check(text, most: most, isOneLine: true)
                changed[name] = value
            } catch { failures.append(error.failure(of: name)) }
        }
        do {
            for (name, value) in try accepted(asked, by: definitions, of: .others).members { changed[name] = value }
        } catch let error as InvalidAttributes { failures += error.attributes }
        if !failures.isEmpty { throw InvalidAttributes(attributes: failures) }
        return changed
    }

    /// Returns the previously accepted values that are still valid: the tenant's definitions may have changed.
    static func stillFitting(
        _ accepted: JSONObject, by definitions: [TenantAttribute]
    ) -> JSONObject {
        var fitting = JSONObject()
        for (name, value) in accepted.members {
            fitting[name] = (try? self.accepted([name: value], by: definitions))?[name]
        }
        return fitting
    }

    /// Returns the definitions of required attributes that have no value.
    static func missing(_ definitions: [TenantAttribute], in accepted: JSONObject) -> [TenantAttribute] {
        definitions.filter { $0.required && accepted[$0.name] == nil }
    }

    private static func unknown(_ name: String, among known: [String]) -> AttributeFailure {
        let message = "The tenant does not define this attribute.\(NearestNames.hint(name, among: known))"
        return AttributeFailure(name: name, rule: .unknown, message: message, nearest: NearestNames.of(name, among: known))
    }

    private struct Flaw: Error {
        let rule: AttributeRule
        let message: String
        func failure(of name: String) -> AttributeFailure { AttributeFailure(name: name, rule: rule, message: message) }
    }

    private static func value(_ value: JSONValue, of definition: TenantAttribute, _ speaker: Speaker)
        throws(Flaw) -> JSONValue
    {
        switch definition.type {
        case .string:
            guard let text = value.string else { throw Flaw(rule: .type, message: "It must be a string.") }
            let accepted = try string(text, of: definition)
            if let pattern = definition.pattern { try check(accepted, against: pattern) }
            return .string(accepted)
        case .boolean:
            guard let flag = value.bool ?? boolean(value.string) else { throw Flaw(rule: .type, message: "It must be true or false.") }
            if definition.required, !flag, speaker == .oneself {
                throw Flaw(rule: .consent, message: "The sign-up requires this consent.")
            }
            return .bool(flag)
        case .integer:
            guard let number = integer(value) else { throw Flaw(rule: .type, message: "It must be a 64-bit integer.") }
            return .number(JSONNumber(number))
        }
    }

    private static func string(_ text: String, of definition: TenantAttribute) throws(Flaw) -> String {
        let most = BuiltInAttribute(rawValue: definition.name)?.maximumLength ?? BuiltInAttribute.maximumCustomLength
        try check(text, most: most, isOneLine: BuiltInAttribute(rawValue: definition.name)?.isOneLine ?? false)
        if definition.required, AttributeText.isBlank(text) { throw Flaw(rule: .blank, message: "It must not be blank.") }
        guard let options = definition.options else { return text }
        var chosen: [String] = [text]
        if definition.multiple {
            // Accept a space after a comma: the samples of the Entra native authentication API use both forms.
            chosen = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.hasPrefix(" ") ? $0.dropFirst() : $0) }
        }
        let known = options.map(\.value)
        if let twice = chosen.first(where: { one in known.contains(one) && chosen.filter { $0 == one }.count > 1 }) {
            throw Flaw(rule: .option, message: "The option \(twice) occurs twice.")
        }
        guard chosen.allSatisfy({ known.contains($0) }) else {
            throw Flaw(
                rule: .option, message: "It must be \(definition.multiple ? "chosen from" : "one of"): \(known.joined(separator: ", ")).")
        }
        return chosen.joined(separator: ",")
    }

    private static func check(_ text: String, most: Int, isOneLine: Bool) throws(Flaw) {
        if text.unicodeScalars.count > most { throw Flaw(rule: .tooLong, message: "It can have at most \(most) characters.") }
        if AttributeText.hasControls(text, isOneLine: isOneLine) {
            throw Flaw(rule: .disallowedCharacters, message: "It contains line ends or control characters.")
        }
    }

    private static func check(_ text: String, against pattern: String) throws(Flaw) {
        let compiled: Pattern
        // Stores of earlier versions can contain patterns that are no longer supported.
        do { compiled = try Pattern(pattern) } catch {
            let message =
                "The value cannot be checked, because the pattern of the attribute cannot be used: \(error). "
                + "The administrator must change the pattern with tenant.update."
            throw Flaw(rule: .pattern, message: message)
        }
        if !compiled.matches(text) { throw Flaw(rule: .pattern, message: "The value does not have the required format.") }
    }

    private static func boolean(_ text: String?) -> Bool? {
        switch text.map(Username.fold) {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Parses a JSON number without a fraction or an exponent, or a string of digits.
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
