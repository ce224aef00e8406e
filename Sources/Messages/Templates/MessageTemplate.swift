import Platform

/// An email template with placeholders.
public struct MailTemplate: Hashable, Sendable {
    private let subject: TemplateText
    private let text: TemplateText
    private let html: TemplateText?

    /// The maximum length of the subject, text and HTML, in Unicode scalars.
    public static let maximum = (subject: 256, text: 16_384, html: 65_536)

    /// - Throws: `TemplateRefusal` with all problems.
    public init(subject: String, text: String, html: String? = nil, for purpose: MessagePurpose) throws(TemplateRefusal) {
        var reader = TemplateReader(purpose: purpose)
        self.subject = reader.read(subject, .subject, maximum: Self.maximum.subject)
        self.text = reader.read(text, .text, maximum: Self.maximum.text)
        self.html = html.map { reader.read($0, .html, maximum: Self.maximum.html) }
        try reader.finish()
    }

    /// Returns the email for the given values. Values in HTML are escaped, and a subject is one line.
    public func filled(with values: MessageValues) -> MailText {
        MailText(
            subject: subject.filled(with: values), text: text.filled(with: values),
            html: html?.filled(with: values, escape: Markup.escaped))
    }
}

/// The texts of an email.
public struct MailText: Hashable, Sendable {
    public let subject: String
    public let text: String
    public let html: String?
}

/// A text message template with placeholders.
public struct TextMessageTemplate: Hashable, Sendable {
    private let text: TemplateText

    /// The maximum length of the text, in Unicode scalars: five parts of a concatenated SMS in the GSM 7-bit alphabet.
    public static let maximumText = 765

    /// - Throws: `TemplateRefusal` with all problems.
    public init(text: String, for purpose: MessagePurpose) throws(TemplateRefusal) {
        var reader = TemplateReader(purpose: purpose)
        self.text = reader.read(text, .text, maximum: Self.maximumText)
        try reader.finish()
    }

    /// Returns the message for the given values.
    public func filled(with values: MessageValues) -> String { text.filled(with: values) }
}

/// Parses the parts of one template and collects their problems.
private struct TemplateReader {
    let purpose: MessagePurpose
    private var violations: [TemplateRefusal.Violation] = []

    init(purpose: MessagePurpose) { self.purpose = purpose }

    mutating func read(_ source: String, _ part: TemplateRefusal.Part, maximum: Int) -> TemplateText {
        var problems: [TemplateRefusal.Problem] = []
        let count = source.unicodeScalars.count
        if source.unicodeScalars.allSatisfy({ $0.properties.isWhitespace }) { problems.append(.empty) }
        if count > maximum { problems.append(.tooLong(maximum: maximum)) }
        if part == .subject, source.unicodeScalars.contains(where: TemplateText.breaksLine) { problems.append(.controlCharacter) }
        let text = TemplateText(count > maximum ? "" : source, for: purpose, problems: &problems)
        if problems.isEmpty, part != .subject, purpose.carriesCode, !text.contains(.code) { problems.append(.missing(.code)) }
        if problems.isEmpty, part != .subject, purpose.carriesLink, !text.contains(.link) { problems.append(.missing(.link)) }
        violations += problems.map { .init(part: part, problem: $0) }
        return text
    }

    func finish() throws(TemplateRefusal) {
        if !violations.isEmpty { throw TemplateRefusal(violations: violations) }
    }
}
