import JSON
import Testing

@testable import VendorAPIs

/// The wire formats of the AWS APIs: JSON 1.1 with its constraints, form data and XML.
@Suite struct CompatFormTests {
    @Test("XML is written with its namespace, and text content is escaped")
    func xml() {
        let element = XMLElement(
            "A", namespace: "https://x/?a&b", [XMLElement("B", "1 < 2 & \"3\" > \r\n\t]]>"), XMLElement("C", "\u{0}é\u{B}")])
        #expect(
            element.text
                == "<A xmlns=\"https://x/?a&amp;b\"><B>1 &lt; 2 &amp; &quot;3&quot; &gt; &#13;\n\t]]&gt;</B><C>\u{FFFD}é\u{FFFD}</C></A>")
    }

    @Test("an error has its type in the body and in a header")
    func error() {
        let answer = WireAnswer.json(WireError("NotAuthorizedException", "say \"no\""))
        #expect(answer.status == 400 && answer.body == #"{"__type":"NotAuthorizedException","message":"say \"no\""}"#)
        #expect(answer.headers.contains { $0 == ("x-amzn-errortype", "NotAuthorizedException") })
        #expect(WireAnswer.json(nil as JSONObject?).body == "" && WireAnswer.json([:]).body == "{}")
    }

    @Test("form parameters are read from body and query, and a plus sign is a space")
    func form() {
        let request = WireRequest(
            method: "POST", url: "https://sts.amazonaws.com/?Action=A%2BB",
            headers: [("CONTENT-type", "application/x-www-form-urlencoded; charset=utf-8")],
            body: "a=1+2&b=%C3%A9%26&c&d=")
        #expect(request.parameter("Action") == "A+B" && request.parameter("a") == "1 2" && request.parameter("b") == "é&")
        #expect(request.parameter("c") == "" && request.parameter("d") == "" && request.parameter("e") == nil)
        let json = WireRequest(method: "POST", url: "/", headers: [("content-type", "application/x-amz-json-1.1")], body: "Action=A")
        #expect(json.parameters.isEmpty)
    }

    private static let shape: [WireMember] = [
        .required("Name", .texts(2...4, .word(#"[\w.]+"#, and: "."))), .optional("Count", .integer(1...60)), .optional("On", .boolean),
        .optional("Secrets", .map(WireText(length: 1...3), to: .text(WireText(length: 1...5, isSecret: true)), 0...2)),
        .optional("Ids", .list(of: .id, 1...2)), .optional("Rules", .list(of: .structure([.required("Kind", .oneOf(["A", "B"]))]), 0...9)),
    ]

    static let refusals: [(input: String, message: String)] = [
        ("{}", "1 validation error detected: Value null at 'name' failed to satisfy constraint: Member must not be null"),
        (
            #"{"Name": "a!b!c", "Count": 0}"#,
            "3 validation errors detected: Value 'a!b!c' at 'name' failed to satisfy constraint: Member must have length less than or equal to 4; "
                + #"Value 'a!b!c' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w.]+; "#
                + "Value '0' at 'count' failed to satisfy constraint: Member must have value greater than or equal to 1"
        ),
        (
            #"{"Name": "ab", "Secrets": {"k": "hidden"}}"#,
            "1 validation error detected: Value at 'secrets' failed to satisfy constraint: Map value must satisfy constraint: "
                + "[Member must have length less than or equal to 5, Member must have length greater than or equal to 1]"
        ),
        (
            #"{"Name": "ab", "Ids": []}"#,
            "1 validation error detected: Value '[]' at 'ids' failed to satisfy constraint: Member must have length greater than or equal to 1"
        ),
        (
            #"{"Name": "ab", "Rules": [{"Kind": "A"}, {"Kind": "C"}]}"#,
            "1 validation error detected: Value 'C' at 'rules.2.member.kind' failed to satisfy constraint: Member must satisfy enum value set: [A, B]"
        ),
        (#"{"Name": 7}"#, "NUMBER_VALUE can not be converted to String"),
        (#"{"Name": "ab", "Count": "7"}"#, "STRING_VALUE can not be converted to Integer"),
        (#"{"Name": "ab", "Ids": {}}"#, "START_OBJECT can not be converted to List"),
    ]

    @Test("a constraint violation is reported with the message of the AWS service", arguments: refusals)
    func refused(input: String, message: String) throws {
        let input = try JSONValue(parsing: input).object!
        #expect {
            try WireValidator.members(input, of: Self.shape)
        } throws: { ($0 as? WireError)?.message == message }
    }

    @Test("null members and unknown members are ignored")
    func passed() throws {
        let input = try JSONValue(parsing: #"{"Name": "ab", "Count": null, "Other": 1, "Secrets": {"k": null}, "On": false}"#).object!
        #expect(try WireValidator.members(input, of: Self.shape) == ["Name": "ab", "Secrets": [:], "On": false])
    }

    static let ids: [(text: String, isOne: Bool)] = [
        ("eu-west-1:0f0e0d0c-1111", true), ("a:0", true), ("a:", false), (":0", false), ("a:A", false), ("a:0:0", false), ("é:0", false),
        ("a", false),
    ]

    @Test("an ID consists of a region and lowercase hexadecimal digits", arguments: ids)
    func id(text: String, isOne: Bool) {
        #expect(WirePattern.id.matches(text) == isOne)
    }
}
