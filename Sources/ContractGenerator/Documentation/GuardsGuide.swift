/// The guide `guards`: what every door does under every guard, as a table from the schemas.
struct GuardsGuide: Emitter {
    static let folder = ""
    static let file = "guards.md"

    func files(for contract: Contract) -> [GeneratedFile] {
        [GeneratedFile(path: "schemas/guides/\(Self.file)", text: Self.text(of: contract.methods))]
    }

    static func text(of methods: [Method]) -> String {
        let doors = methods.filter { $0.guards != nil }
        var reasons: [String] = []
        var rows: [String] = []
        for method in doors {
            guard let guards = method.guards else { continue }
            rows.append(row("`\(method.name)`", Guard.allCases.map { guards.outcomes[$0] }, &reasons))
            for each in guards.cases {
                let cells = Guard.allCases.map { each.outcomes[$0] ?? guards.outcomes[$0] }
                rows.append(row("`\(method.name)`, \(each.name)", cells, &reasons))
            }
        }
        let notes = reasons.enumerated().map { wrapped("\($0.offset + 1). \($0.element)") }.joined(separator: "\n")
        return """
            # Guards: what each method does for a locked, disabled or deleted account

            This table lists every method that returns tokens or continuation tokens, or that changes how users sign in, and
            what it does if the account may not be used. It is generated from the schemas, and a test calls every cell. For
            an auditor, it is the list of all ways to authenticate (OWASP ASVS 5.0, 6.1.3 and 6.3.4).

            | in a cell | meaning |
            |---|---|
            | a word | the error of the request, or the state of the response, which then contains no tokens |
            | passes | the request continues; the note says why |
            | – | cannot occur; the note says why |
            | passes / a word | passes in ordinary tenants; the word is the answer if the settings of the tenant are stricter |

            With `enumerationProtection`, requests that name only an address do not reveal these conditions: they continue as for an
            unknown address.

            | method | \(Guard.allCases.map(\.heading).joined(separator: " | ")) |
            |---|\(Guard.allCases.map { _ in "---|" }.joined())
            \(rows.joined(separator: "\n"))

            ## Notes

            \(notes)

            """
    }

    /// Returns a note in lines of at most 120 characters.
    private static func wrapped(_ note: String) -> String {
        var lines = [""]
        for word in note.split(separator: " ") {
            if lines[lines.count - 1].count + word.count >= 120 { lines.append("  ") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.joined(separator: "\n")
    }

    private static func row(_ name: String, _ outcomes: [GuardOutcome?], _ reasons: inout [String]) -> String {
        let cells = outcomes.map { outcome in
            switch outcome {
            case .refuses(let word): "`\(word)`"
            case .passes(let reason, let strict): "passes (\(note(reason, &reasons)))" + (strict.map { " / `\($0)`" } ?? "")
            case .never(let reason): "– (\(note(reason, &reasons)))"
            case nil: ""
            }
        }
        return "| \(name) | \(cells.joined(separator: " | ")) |"
    }

    /// Returns the number of the note with this text.
    private static func note(_ reason: String, _ reasons: inout [String]) -> Int {
        if let known = reasons.firstIndex(of: reason) { return known + 1 }
        reasons.append(reason)
        return reasons.count
    }
}
