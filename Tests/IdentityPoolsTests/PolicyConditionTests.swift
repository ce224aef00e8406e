import JSON
import Testing

@testable import IdentityPools

/// Policy conditions: every operator with a missing, a single-valued and a multivalued key.
struct PolicyConditionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let op: String
        let policy: JSONValue
        /// The value of the key in the request, or `nil` if the key is missing.
        let request: PolicyContext.Value?
        let holds: Bool

        init(_ op: String, _ policy: JSONValue, _ request: PolicyContext.Value?, _ holds: Bool) {
            (self.op, self.policy, self.request, self.holds) = (op, policy, request, holds)
        }

        var testDescription: String { "\(op) \(policy.text) on \(request.map { "\($0)" } ?? "nothing") is \(holds)" }
    }

    private static func row(_ operators: [String], _ policy: JSONValue, _ request: PolicyContext.Value?, _ holds: Bool) -> [Row] {
        operators.map { Row($0, policy, request, holds) }
    }

    private static let positive = ["StringEquals", "StringEqualsIgnoreCase", "StringLike"]
    private static let negated = ["StringNotEquals", "StringNotEqualsIgnoreCase", "StringNotLike"]

    static let addresses: [Row] =
        row(["IpAddress"], "10.0.0.0/8", .single("10.255.0.1"), true) + row(["NotIpAddress"], "10.0.0.0/8", .single("10.255.0.1"), false)
        + row(["IpAddress"], ["10.0.0.0/8", "2001:db8::/32"], .single("2001:db8::1"), true)
        + row(["IpAddress"], "10.0.0.0/8", .single("11.0.0.1"), false) + row(["NotIpAddress"], "10.0.0.0/8", .single("11.0.0.1"), true)
        + row(["IpAddress"], "10.0.0.1", .single("10.0.0.1"), true) + row(["IpAddress"], "10.0.0.1", .single("10.0.0.2"), false)
        // A value that is not an address is outside every range.
        + row(["IpAddress"], "0.0.0.0/0", .single("10.0.0.256"), false) + row(["NotIpAddress"], "0.0.0.0/0", .single("here"), true)
        + row(["IpAddress"], "10.0.0.0/8", nil, false) + row(["NotIpAddress"], "10.0.0.0/8", nil, true)
        + row(["IpAddressIfExists"], "10.0.0.0/8", nil, true)
        + row(["ForAnyValue:IpAddress"], "10.0.0.0/8", .many(["9.9.9.9", "10.0.0.1"]), true)
        + row(["BinaryEquals"], "aGk=", .single("hi"), true) + row(["BinaryEquals"], "aGk=", .single("ho"), false)
        + row(["BinaryEquals"], "aGk=", nil, false)

    static let text: [Row] =
        row(positive, "a", .single("a"), true) + row(negated, "a", .single("a"), false)
        + row(positive, "a", .single("b"), false) + row(negated, "a", .single("b"), true)
        // Several values in the policy: one must match; for negated operators, none may match.
        + row(positive, ["a", "b"], .single("b"), true) + row(negated, ["a", "b"], .single("b"), false)
        + row(positive, ["a", "b"], .single("c"), false) + row(negated, ["a", "b"], .single("c"), true)
        // A missing key: false for positive operators, true for negated ones, true with `IfExists`.
        + row(positive, "a", nil, false) + row(negated, "a", nil, true)
        + row((positive + negated).map { $0 + "IfExists" }, "a", nil, true)
        + row(positive.map { $0 + "IfExists" }, "a", .single("b"), false)
        + row(negated.map { $0 + "IfExists" }, "a", .single("a"), false)
        // A multivalued key without a set operator: false for positive operators.
        + row(positive, "a", .many(["a"]), false) + row(positive, "a", .many(["a", "b"]), false)
        + row(positive.map { $0 + "IfExists" }, "a", .many(["a"]), false)
        + row(negated, "a", .many(["a", "b"]), false) + row(negated, "a", .many(["b", "c"]), true)
        // `ForAnyValue` with a missing or empty key: false.
        + row(positive.map { "ForAnyValue:" + $0 }, "a", .many(["b", "a"]), true)
        + row(positive.map { "ForAnyValue:" + $0 }, ["a", "c"], .many(["b", "d"]), false)
        + row((positive + negated).map { "ForAnyValue:" + $0 }, "a", nil, false)
        + row((positive + negated).map { "ForAnyValue:" + $0 }, "a", .many([]), false)
        + row(positive.map { "ForAnyValue:" + $0 }, "a", .single("a"), true)
        + row(negated.map { "ForAnyValue:" + $0 }, "a", .many(["a", "b"]), true)
        + row(negated.map { "ForAnyValue:" + $0 }, "a", .many(["a", "a"]), false)
        + row(positive.map { "ForAnyValue:\($0)IfExists" }, "a", nil, true)
        // `ForAllValues` with a missing or empty key: true.
        + row(positive.map { "ForAllValues:" + $0 }, ["a", "b"], .many(["b", "a"]), true)
        + row(positive.map { "ForAllValues:" + $0 }, ["a", "b"], .many(["a", "c"]), false)
        + row((positive + negated).map { "ForAllValues:" + $0 }, "a", nil, true)
        + row((positive + negated).map { "ForAllValues:" + $0 }, "a", .many([]), true)
        + row(positive.map { "ForAllValues:" + $0 }, "a", .single("b"), false)
        + row(negated.map { "ForAllValues:" + $0 }, "a", .many(["b", "c"]), true)
        + row(negated.map { "ForAllValues:" + $0 }, "a", .many(["b", "a"]), false)

    static let comparisons: [Row] = [
        // Case sensitivity and wildcards.
        Row("StringEquals", "A", .single("a"), false), Row("StringNotEquals", "A", .single("a"), true),
        Row("StringEqualsIgnoreCase", "ÀB", .single("àb"), true), Row("StringNotEqualsIgnoreCase", "AB", .single("ab"), false),
        Row("StringLike", "A*", .single("ab"), false), Row("StringEquals", "a*", .single("ab"), false),
        Row("StringEquals", "a*", .single("a*"), true), Row("StringEqualsIgnoreCase", "a?", .single("ab"), false),
        Row("StringLike", "a*c?", .single("abbcd"), true), Row("StringLike", "a*c?", .single("abbc"), false),
        Row("StringLike", "*", .single(""), true), Row("StringLike", "?", .single(""), false), Row("StringLike", "?", .single("é"), true),
        Row("StringLike", "*a*b*", .single("xaxbx"), true), Row("StringLike", "*a*b*", .single("xbxax"), false),
        Row("StringNotLike", "a*", .single("abc"), false), Row("StringNotLike", "a*", .single("bc"), true),
        Row("StringLike", "a**b", .single("ab"), true), Row("StringLike", "", .single(""), true),
        Row("StringLike", "", .single("a"), false),
        // Canonically equivalent texts with different scalars are not equal.
        Row("StringEquals", "\u{E9}", .single("e\u{301}"), false),
        // `Null` tests whether the key is missing.
        Row("Null", "true", nil, true), Row("Null", "false", nil, false), Row("Null", true, nil, true),
        Row("Null", "true", .many([]), true),
        Row("Null", "true", .single("x"), false), Row("Null", "false", .single("x"), true), Row("Null", "false", .many(["x"]), true),
        // Boolean values.
        Row("Bool", "true", .single("true"), true), Row("Bool", true, .single("True"), true), Row("Bool", false, .single("true"), false),
        Row("Bool", "true", .single("yes"), false), Row("Bool", "true", nil, false), Row("BoolIfExists", "true", nil, true),
        // Numbers.
        Row("NumericEquals", "10", .single("10.0"), true), Row("NumericEquals", 10, .single("11"), false),
        Row("NumericEquals", ["1", "2"], .single("2"), true), Row("NumericNotEquals", "1", .single("1.0"), false),
        Row("NumericNotEquals", "1", nil, true), Row("NumericEquals", "1", nil, false), Row("NumericEquals", "1", .single("one"), false),
        Row("NumericLessThan", 2, .single("1"), true), Row("NumericLessThan", 2, .single("2"), false),
        Row("NumericLessThanEquals", 2, .single("2"), true), Row("NumericLessThanEquals", 2, .single("3"), false),
        Row("NumericGreaterThan", 2, .single("3"), true), Row("NumericGreaterThan", 2, .single("2"), false),
        Row("NumericGreaterThanEquals", 2, .single("2"), true), Row("NumericGreaterThanEquals", 2, .single("1"), false),
        // Times.
        Row("DateEquals", "2026-11-21T12:00:00Z", .single("1795262400"), true),
        Row("DateEquals", "2026-11-21T13:00:00+01:00", .single("2026-11-21T12:00:00Z"), true),
        Row("DateNotEquals", "2026-11-21", .single("2026-11-21T00:00:00Z"), false), Row("DateNotEquals", "2026-11-21", nil, true),
        Row("DateLessThan", "2026-11-21", .single("2026-11-20T23:59:59Z"), true),
        Row("DateLessThan", "2026-11-21", .single("2026-11-21"), false),
        Row("DateLessThanEquals", "2026-11-21", .single("2026-11-21"), true), Row("DateLessThan", "2026-11-21", .single("soon"), false),
        Row("DateGreaterThan", 0, .single("1"), true), Row("DateGreaterThan", 1, .single("1"), false),
        Row("DateGreaterThanEquals", 1, .single("1"), true), Row("DateGreaterThanEquals", 1, .single("0"), false),
        // ARNs are compared part by part, and `ArnEquals` is the same as `ArnLike`.
        Row("ArnLike", "arn:aws:iam::*:role/r*", .single("arn:aws:iam::1:role/r:x"), true),
        Row("ArnEquals", "arn:aws:iam::*:role/r", .single("arn:aws:iam::1:role/r"), true),
        Row("ArnLike", "arn:aws:*:::role/r", .single("arn:aws:iam::1:role/r"), false),
        Row("ArnLike", "arn:*:*:*:*:*", .single("arn:aws:iam::1:role/r"), true),
        Row("ArnLike", "arn:aws:iam::*:x", .single("not an arn"), false), Row("ArnLike", "arn:aws:iam::1:x", nil, false),
        Row("ArnNotLike", "arn:aws:iam::1:*", .single("arn:aws:iam::1:x"), false), Row("ArnNotEquals", "arn:aws:iam::1:x", nil, true),
        // Variables have single values. A variable without a value matches nothing, and wildcards in its value are
        // literal.
        Row("StringEquals", "${app:name}", .single("shop"), true), Row("StringLike", "${app:name}-*", .single("shop-1"), true),
        Row("StringEquals", "${APP:Name}", .single("shop"), true), Row("StringEquals", "${ app:name , 'x' }", .single("shop"), true),
        Row("StringEquals", "${app:none, 'guest'}", .single("guest"), true), Row("StringEquals", "${app:none,''}-", .single("-"), true),
        Row("StringEquals", "${app:none}", .single(""), false), Row("StringNotEquals", "${app:none}", .single("x"), true),
        Row("StringEquals", "${app:many, 'x'}", .single("x"), false), Row("StringLike", "${app:star}", .single("anything"), false),
        Row("StringLike", "${app:star}", .single("*"), true), Row("StringLike", "a${*}b", .single("a*b"), true),
        Row("StringLike", "a${*}b", .single("axb"), false), Row("StringLike", "a${?}", .single("ax"), false),
        Row("StringLike", "a${?}", .single("a?"), true), Row("StringEquals", "${$}{x}", .single("${x}"), true),
        Row("StringEquals", "$x", .single("$x"), true),
        Row("ArnLike", "arn:aws:iam::1:role/${app:name}", .single("arn:aws:iam::1:role/shop"), true),
    ]

    @Test("a condition evaluates as in the table", arguments: text + comparisons + addresses)
    func table(_ row: Row) throws {
        var context = PolicyContext()
        context.set("app:name", "shop")
        context.set("app:star", "*")
        context.set("app:many", many: ["x"])
        switch row.request {
        case nil: break
        case .single(let value): context.set("Test:Key", value)
        case .many(let values): context.set("Test:Key", many: values)
        }
        let read = try Self.conditions([row.op: ["tEST:kEY": row.policy]])
        #expect(read.count == 1)
        #expect(read[0].holds(in: context) == row.holds)
    }

    @Test("formatted times are parsed back exactly", arguments: [0, 951_782_400, 1_795_262_400, 1_795_262_399, 253_402_300_799] as [Int64])
    func times(_ moment: Int64) { #expect(PolicyDate.seconds(PolicyDate.text(moment)) == moment) }

    @Test("times are formatted in the extended form of ISO 8601")
    func timeText() { #expect(PolicyDate.text(1_795_262_400) == "2026-11-21T12:00:00Z") }

    @Test("before policy version 2012-10-17, variables are literal text")
    func oldVersion() throws {
        var context = PolicyContext()
        context.set("k", "${k}")
        let read = try Self.conditions(["StringEquals": ["k": "${k}"]], version: .v2008)
        #expect(read[0].holds(in: context))
        context.set("k", "other")
        #expect(!read[0].holds(in: context))
    }

    @Test("a pattern with many wildcards is matched in bounded time")
    func hostilePattern() throws {
        let pattern = String(repeating: "*a", count: 500) + "b"
        var context = PolicyContext()
        context.set("k", String(repeating: "a", count: 2000))
        let read = try Self.conditions(["StringLike": ["k": .string(pattern)]])
        let clock = ContinuousClock()
        let taken = clock.measure { #expect(!read[0].holds(in: context)) }
        #expect(taken < .seconds(5))
    }

    @Test(
        "a malformed condition is rejected with its pointer",
        arguments: [
            (["StringEqual": ["k": "v"]], "/Condition/StringEqual"), (["stringEquals": ["k": "v"]], "/Condition/stringEquals"),
            (["IfExists": ["k": "v"]], "/Condition/IfExists"), (["ForSome:StringEquals": ["k": "v"]], "/Condition/ForSome:StringEquals"),
            (["ForAllValues:Null": ["k": "true"]], "/Condition/ForAllValues:Null"),
            (["NullIfExists": ["k": "true"]], "/Condition/NullIfExists"),
            (["Null": ["k": "maybe"]], "/Condition/Null/k"), (["Null": ["k": ["true", "false"]]], "/Condition/Null"),
            (["StringEquals": "v"], "/Condition/StringEquals"), (["StringEquals": [:]], "/Condition/StringEquals"),
            (["StringEquals": ["a/b~c": []]], "/Condition/StringEquals/a~1b~0c"),
            (["StringEquals": ["k": ["v", nil]]], "/Condition/StringEquals/k"),
            (["StringEquals": ["k": ["v": "w"]]], "/Condition/StringEquals/k"), (["StringEquals": ["": "v"]], "/Condition/StringEquals/"),
            (["StringEquals": ["k": "${a"]], "/Condition/StringEquals/k"), (["StringLike": ["k": "${}"]], "/Condition/StringLike/k"),
            (["StringLike": ["k": "${a, b}"]], "/Condition/StringLike/k"), (["Bool": ["k": "yes"]], "/Condition/Bool/k"),
            (["NumericEquals": ["k": "ten"]], "/Condition/NumericEquals/k"),
            (["NumericEquals": ["k": "nan"]], "/Condition/NumericEquals/k"),
            (["NumericEquals": ["k": "${a}"]], "/Condition/NumericEquals/k"),
            (["DateLessThan": ["k": "2026-02-30"]], "/Condition/DateLessThan/k"),
            (["ArnLike": ["k": "arn:aws"]], "/Condition/ArnLike/k"), (["IpAddress": ["k": "10.0.0.0/33"]], "/Condition/IpAddress/k"),
            (["NotIpAddress": ["k": "example.com"]], "/Condition/NotIpAddress/k"),
            (["IpAddress": ["k": "${a}"]], "/Condition/IpAddress/k"), (["BinaryEquals": ["k": "!"]], "/Condition/BinaryEquals/k"),
            (["IpAddressEquals": ["k": "10.0.0.1"]], "/Condition/IpAddressEquals"),
            ("none", "/Condition"),
        ] as [(JSONValue, String)])
    func malformed(_ condition: JSONValue, _ pointer: String) {
        let failure = #expect(throws: PolicyMalformed.self) { try Self.conditions(condition) }
        #expect(failure?.pointer == pointer)
        #expect(failure?.reason.isEmpty == false)
    }

    private static func conditions(_ condition: JSONValue, version: PolicyReader.Version = .v2012) throws -> [PolicyCondition] {
        try PolicyReader(version: version).conditions(["Condition": condition], "")
    }
}
