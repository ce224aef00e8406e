import Glibc
import Platform

/// The terminal settings before the editor changed them. A global variable because a signal handler reads it.
nonisolated(unsafe) private var settingsBefore = termios()

/// Edits a line on a terminal, with the keys of Emacs, a history and completion.
struct LineEditor {
    enum Outcome {
        case line(String)
        /// Ctrl-C.
        case interrupted
        /// Ctrl-D on an empty line, or the end of the terminal.
        case end
    }

    /// Returns the candidates for the word before the cursor, each with the text that replaces it.
    typealias Completion = (_ textBeforeCursor: String) -> (wordLength: Int, candidates: [String])

    var history: [String] = []
    var complete: Completion = { _ in (0, []) }
    /// Called for `?` at the end of a line. Returns the text to show, or `nil` to insert the character.
    var explain: (String) -> String? = { _ in nil }

    private var keys = KeyReader()
    private var prompt = ""
    private var text: [Character] = []
    private var cursor = 0
    private var killed: [Character] = []
    private var place = 0
    private var draft: [Character] = []
    private var wasTab = false

    /// Reads a line from the terminal.
    mutating func read(prompt: String) -> Outcome {
        self.prompt = prompt
        (text, cursor, place, wasTab) = ([], 0, history.count, false)
        tcgetattr(0, &settingsBefore)
        var raw = settingsBefore
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
        let endings = [SIGTERM, SIGHUP]
        for ending in endings {
            signal(ending) { ending in
                tcsetattr(0, TCSANOW, &settingsBefore)
                _exit(128 + ending)
            }
        }
        tcsetattr(0, TCSADRAIN, &raw)
        Self.put("\u{1B}[?2004h")
        defer {
            Self.put("\u{1B}[?2004l\n")
            tcsetattr(0, TCSADRAIN, &settingsBefore)
            for ending in endings { signal(ending, SIG_DFL) }
        }
        refresh()
        while let key = keys.next() {
            if let outcome = handle(key) { return outcome }
            wasTab = key == .control("I")
            refresh()
        }
        return .end
    }

    private mutating func handle(_ key: KeyReader.Key) -> Outcome? {
        switch key {
        case .control("M"), .control("J"): return finished()
        case .control("C"):
            Self.put("^C")
            return .interrupted
        case .control("D"):
            if text.isEmpty { return .end }
            delete(cursor..<min(cursor + 1, text.count))
        case .control("I"): completeWord()
        case .control("R"): return search()
        case .control("L"): Self.put("\u{1B}[H\u{1B}[2J")
        case .character("?") where cursor == text.count:
            guard let explanation = explain(String(text)) else {
                insert(["?"])
                break
            }
            note(explanation)
        case .character(let character): insert([character])
        case .paste(let pasted): insert(pasted.map { $0.isNewline ? " " : $0 })
        default: move(key)
        }
        return nil
    }

    private mutating func finished() -> Outcome {
        cursor = text.count
        refresh()
        return .line(String(text))
    }

    private mutating func move(_ key: KeyReader.Key) {
        switch key {
        case .control("A"), .home: cursor = 0
        case .control("E"), .end: cursor = text.count
        case .control("B"), .left: cursor = max(0, cursor - 1)
        case .control("F"), .right: cursor = min(text.count, cursor + 1)
        case .control("H"), .backspace: delete(max(0, cursor - 1)..<cursor)
        case .delete: delete(cursor..<min(cursor + 1, text.count))
        case .control("K"): kill(cursor..<text.count)
        case .control("U"): kill(0..<cursor)
        case .control("W"): kill(wordStart()..<cursor)
        case .control("Y"): insert(killed)
        case .control("T"):
            guard cursor > 0, text.count > 1 else { return }
            let second = min(cursor, text.count - 1)
            text.swapAt(second - 1, second)
            cursor = second + 1
        case .control("P"), .up: recall(place - 1)
        case .control("N"), .down: recall(place + 1)
        case .meta("b"): cursor = wordStart()
        case .meta("f"): cursor = wordEnd()
        case .meta("d"): kill(cursor..<wordEnd())
        default: break
        }
    }

    private func wordStart() -> Int {
        var start = cursor
        while start > 0, text[start - 1] == " " { start -= 1 }
        while start > 0, text[start - 1] != " " { start -= 1 }
        return start
    }

    private func wordEnd() -> Int {
        var end = cursor
        while end < text.count, text[end] == " " { end += 1 }
        while end < text.count, text[end] != " " { end += 1 }
        return end
    }

    private mutating func insert(_ characters: [Character]) {
        text.insert(contentsOf: characters, at: cursor)
        cursor += characters.count
    }

    private mutating func delete(_ range: Range<Int>) {
        text.removeSubrange(range)
        cursor = range.lowerBound
    }

    private mutating func kill(_ range: Range<Int>) {
        if !range.isEmpty { killed = Array(text[range]) }
        delete(range)
    }

    private mutating func recall(_ wanted: Int) {
        guard 0...history.count ~= wanted else { return }
        if place == history.count { draft = text }
        place = wanted
        text = place == history.count ? draft : Array(history[place])
        cursor = text.count
    }

    // MARK: Completion and search

    private mutating func completeWord() {
        let (length, candidates) = complete(String(text[..<cursor]))
        guard let first = candidates.first else { return Self.put("\u{07}") }
        let common = candidates.dropFirst().reduce(first) { String(zip($0, $1).prefix { $0 == $1 }.map(\.0)) }
        if common.count > length || candidates.count == 1 {
            delete(cursor - length..<cursor)
            // A name is followed by its value, a variable can be followed by a member, other words by a space.
            let isWhole = candidates.count == 1 && !common.hasSuffix("=") && !common.hasPrefix("$")
            insert(Array(common) + (isWhole && cursor == text.count ? [" "] : []))
        } else if wasTab {
            note(Self.columns(candidates))
        } else {
            Self.put("\u{07}")
        }
    }

    /// Finds the newest line of the history that contains what is typed.
    private mutating func search() -> Outcome? {
        var (wanted, from) = ("", history.count)
        func newest(before: Int) -> Int? { history[..<before].lastIndex { $0.includes(wanted) } }
        while true {
            let found = wanted.isEmpty ? nil : newest(before: from)
            Self.put("\r(search '\(wanted)') \(found.map { history[$0] } ?? "")\u{1B}[K")
            guard let key = keys.next() else { return .end }
            switch key {
            case .character(let character): wanted.append(character)
            case .control("H"), .backspace:
                _ = wanted.popLast()
                from = history.count
            case .control("R"): from = found ?? from
            case .control("G"), .control("C"): return nil
            default:
                if let found {
                    text = Array(history[found])
                    cursor = text.count
                    place = found
                }
                if key == .control("M") || key == .control("J") { return finished() }
                move(key)
                return nil
            }
        }
    }

    // MARK: Display

    /// Shows text below the line, and the line again below the text.
    private func note(_ text: String) {
        Self.put("\n" + text + "\n")
    }

    /// Shows the part of the line around the cursor.
    private func refresh() {
        let room = max(10, (TextWidth.available() ?? 80) - TextWidth.columns(of: prompt) - 1)
        let shown = text.map { TextWidth.escaped(String($0)) }
        let widths = shown.map { TextWidth.columns(of: $0) }
        var start = 0
        while widths[start..<cursor].reduce(0, +) >= room { start += 1 }
        var (end, used) = (start, 0)
        while end < shown.count, used + widths[end] <= room {
            used += widths[end]
            end += 1
        }
        let column = TextWidth.columns(of: prompt) + widths[start..<cursor].reduce(0, +)
        Self.put("\r\(prompt)\(shown[start..<end].joined())\u{1B}[K\r" + (column > 0 ? "\u{1B}[\(column)C" : ""))
    }

    private static func columns(_ words: [String]) -> String {
        let width = (words.map(\.count).max() ?? 0) + 2
        let count = max(1, (TextWidth.available() ?? 80) / width)
        return stride(from: 0, to: words.count, by: count).map { start in
            words[start..<min(start + count, words.count)].map { TextWidth.padded($0, to: width) }.joined()
        }.joined(separator: "\n")
    }

    private static func put(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }
}

/// Reads keys from a terminal in raw mode.
struct KeyReader {
    enum Key: Equatable {
        case character(Character)
        case control(Character)
        case meta(Character)
        case paste([Character])
        case up, down, left, right, home, end, delete, backspace, unknown
    }

    private var buffer: [UInt8] = []

    /// Returns the next key, or `nil` at the end of the terminal.
    mutating func next() -> Key? {
        guard let byte = byte() else { return nil }
        switch byte {
        case 0x1B: return escape()
        case 0x7F: return .backspace
        case ..<0x20: return .control(Character(Unicode.Scalar(byte + 0x40)))
        default: return character(byte).map { .character($0) } ?? .unknown
        }
    }

    private mutating func escape() -> Key? {
        guard let second = byte() else { return nil }
        guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else { return .meta(Character(Unicode.Scalar(second))) }
        var parameters = ""
        while let next = byte() {
            if 0x40...0x7E ~= next { return sequence(parameters, Character(Unicode.Scalar(next))) }
            parameters.append(Character(Unicode.Scalar(next)))
        }
        return nil
    }

    private mutating func sequence(_ parameters: String, _ final: Character) -> Key {
        switch (final, parameters) {
        case ("A", _): return .up
        case ("B", _): return .down
        case ("C", _): return .right
        case ("D", _): return .left
        case ("H", _), ("~", "1"), ("~", "7"): return .home
        case ("F", _), ("~", "4"), ("~", "8"): return .end
        case ("~", "3"): return .delete
        case ("~", "200"): return .paste(pasted())
        default: return .unknown
        }
    }

    /// Returns the text until the end of a bracketed paste.
    private mutating func pasted() -> [Character] {
        var bytes: [UInt8] = []
        let end = Array("\u{1B}[201~".utf8)
        while !bytes.suffix(end.count).elementsEqual(end), let next = byte() { bytes.append(next) }
        return Array(String(decoding: bytes.dropLast(end.count), as: UTF8.self))
    }

    private mutating func character(_ first: UInt8) -> Character? {
        var bytes = [first]
        for _ in 0..<(first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3) { if let next = byte() { bytes.append(next) } }
        return String(validating: bytes, as: UTF8.self)?.first
    }

    private mutating func byte() -> UInt8? {
        if buffer.isEmpty {
            var bytes = [UInt8](repeating: 0, count: 1024)
            var count = 0
            repeat { count = read(0, &bytes, bytes.count) } while count < 0 && errno == EINTR
            guard count > 0 else { return nil }
            buffer = Array(bytes[..<count])
        }
        return buffer.removeFirst()
    }
}
