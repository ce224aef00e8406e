import Contract
import JSON
import Testing

@testable import Accounts

/// The states are those of Sources/Accounts/README.md, "Sign-up".
@Suite("the transition table of sign-up")
struct SignUpTransitionTests {
    private static let page: [TenantAttribute] = [
        .init(name: "displayName", type: .string, required: true), .init(name: "size", type: .integer, required: true),
        .init(name: "city", type: .string),
    ]
    private static let name: JSONObject = ["displayName": "A"]
    private static let both: JSONObject = ["displayName": "A", "size": 1]

    struct Row: Sendable, CustomTestStringConvertible {
        let sentence: String
        let from: SignUpState
        let input: SignUpInput
        var method = LocalAccountMethod.emailPassword
        var asks: [TenantAttribute] = []
        let to: SignUpState
        let effects: [SignUpEffect]
        var testDescription: String { sentence }
    }

    static let rows: [Row] = [
        Row(
            sentence: "U2: a wrong code changes nothing", from: .init(stage: .codeRequired), input: .code(isRight: false),
            to: .init(stage: .codeRequired), effects: [.refuseCode]),
        Row(
            sentence: "U2: a resend sends", from: .init(stage: .codeRequired), input: .resend, to: .init(stage: .codeRequired),
            effects: [.sendCode]),
        Row(
            sentence: "U2: the right code, a password is needed", from: .init(stage: .codeRequired), input: .code(isRight: true),
            asks: page, to: .init(stage: .passwordRequired, isVerified: true), effects: [.endCode]),
        Row(
            sentence: "U2: the right code, attributes are missing", from: .init(stage: .codeRequired, hasPassword: true),
            input: .code(isRight: true), asks: page, to: .init(stage: .attributesRequired, isVerified: true, hasPassword: true),
            effects: [.endCode]),
        Row(
            sentence: "U2: the right code, complete", from: .init(stage: .codeRequired, hasPassword: true, attributes: both),
            input: .code(isRight: true), asks: page, to: .init(stage: .completed, isVerified: true, hasPassword: true, attributes: both),
            effects: [.endCode, .createAccount]),
        Row(
            sentence: "U2: the right code where codes are all there is", from: .init(stage: .codeRequired), input: .code(isRight: true),
            method: .emailCode, to: .init(stage: .completed, isVerified: true), effects: [.endCode, .createAccount]),
        Row(
            sentence: "U2: the right code where a passkey is needed", from: .init(stage: .codeRequired), input: .code(isRight: true),
            method: .passkey, asks: page, to: .init(stage: .passkeyRequired, isVerified: true), effects: [.endCode]),
        Row(
            sentence: "U4: a passkey, attributes are missing", from: .init(stage: .passkeyRequired, isVerified: true), input: .passkey,
            method: .passkey, asks: page, to: .init(stage: .attributesRequired, isVerified: true, hasPasskey: true), effects: []),
        Row(
            sentence: "U4: a passkey, complete", from: .init(stage: .passkeyRequired, isVerified: true), input: .passkey,
            method: .passkey, to: .init(stage: .completed, isVerified: true, hasPasskey: true), effects: [.createAccount]),
        Row(
            sentence: "U4: a passkey that was asked for, attributes after the tenant has changed",
            from: .init(stage: .passkeyRequired, isVerified: true), input: .attributes(both), method: .emailCode, asks: page,
            to: .init(stage: .completed, isVerified: true, attributes: both), effects: [.createAccount]),
        Row(
            sentence: "U2: the right code where a password is taken but not asked for", from: .init(stage: .codeRequired),
            input: .code(isRight: true), method: .either, to: .init(stage: .completed, isVerified: true),
            effects: [.endCode, .createAccount]),
        Row(
            sentence: "U1, U2: attributes before verification are kept", from: .init(stage: .codeRequired), input: .attributes(name),
            asks: page, to: .init(stage: .codeRequired, attributes: name), effects: []),
        Row(
            sentence: "U1, U2: optional ones alone too", from: .init(stage: .codeRequired), input: .attributes(["city": "B"]), asks: page,
            to: .init(stage: .codeRequired, attributes: ["city": "B"]), effects: []),
        Row(
            sentence: "U1, U2: a password before verification is kept", from: .init(stage: .codeRequired), input: .password,
            to: .init(stage: .codeRequired, hasPassword: true), effects: [.keepPassword]),
        Row(
            sentence: "U4: a password, attributes are missing", from: .init(stage: .passwordRequired, isVerified: true), input: .password,
            asks: page, to: .init(stage: .attributesRequired, isVerified: true, hasPassword: true), effects: [.keepPassword]),
        Row(
            sentence: "U4: a password, complete", from: .init(stage: .passwordRequired, isVerified: true), input: .password,
            to: .init(stage: .completed, isVerified: true, hasPassword: true), effects: [.keepPassword, .createAccount]),
        Row(
            sentence: "U5: all that was missing", from: .init(stage: .attributesRequired, isVerified: true, hasPassword: true),
            input: .attributes(both), asks: page, to: .init(stage: .completed, isVerified: true, hasPassword: true, attributes: both),
            effects: [.createAccount]),
        Row(
            sentence: "U5: one page of two", from: .init(stage: .attributesRequired, isVerified: true, hasPassword: true),
            input: .attributes(name), asks: page,
            to: .init(stage: .attributesRequired, isVerified: true, hasPassword: true, attributes: name), effects: []),
        Row(
            sentence: "U5: an accepted one again overwrites",
            from: .init(stage: .attributesRequired, isVerified: true, hasPassword: true, attributes: name),
            input: .attributes(["displayName": "B"]), asks: page,
            to: .init(stage: .attributesRequired, isVerified: true, hasPassword: true, attributes: ["displayName": "B"]), effects: []),
        Row(
            sentence: "U5: nothing", from: .init(stage: .attributesRequired, isVerified: true, hasPassword: true), input: .attributes([:]),
            asks: page, to: .init(stage: .attributesRequired, isVerified: true, hasPassword: true), effects: []),
        Row(
            sentence: "U5: optional ones alone come too late", from: .init(stage: .attributesRequired, isVerified: true, hasPassword: true),
            input: .attributes(["city": "B"]), asks: page, to: .init(stage: .attributesRequired, isVerified: true, hasPassword: true),
            effects: []),
        Row(
            sentence: "the tenant asks for nothing any more: an empty page completes",
            from: .init(stage: .attributesRequired, isVerified: true, hasPassword: true), input: .attributes([:]),
            to: .init(stage: .completed, isVerified: true, hasPassword: true), effects: [.createAccount]),
        Row(
            sentence: "the tenant takes no passwords any more: one that was asked for is passed over",
            from: .init(stage: .passwordRequired, isVerified: true), input: .password, method: .emailCode,
            to: .init(stage: .completed, isVerified: true), effects: [.createAccount]),
        Row(
            sentence: "the tenant takes no passwords any more: attributes can be given at once",
            from: .init(stage: .passwordRequired, isVerified: true), input: .attributes(both), method: .emailCode, asks: page,
            to: .init(stage: .completed, isVerified: true, attributes: both), effects: [.createAccount]),
        Row(
            sentence: "the tenant wants a password now: it is asked for after the attributes",
            from: .init(stage: .attributesRequired, isVerified: true), input: .attributes(both), asks: page,
            to: .init(stage: .passwordRequired, isVerified: true, attributes: both), effects: []),
        Row(
            sentence: "the tenant wants a password now: it can be given before the attributes",
            from: .init(stage: .attributesRequired, isVerified: true), input: .password, asks: page,
            to: .init(stage: .attributesRequired, isVerified: true, hasPassword: true), effects: [.keepPassword]),
    ]

    @Test("every transition in the table leads to its state", arguments: rows)
    func row(_ row: Row) throws {
        let (state, effects) = try SignUpTransition.decide(row.from, row.input, row.method, attributes: row.asks)
        #expect(state == row.to)
        #expect(effects == row.effects)
    }

    @Test("every other transition is rejected with the expected step")
    func others() {
        let refused: [(Flow.Stage, SignUpInput, String)] = [
            (.passwordRequired, .code(isRight: true), "signUp.submitPassword"), (.passwordRequired, .resend, "signUp.submitPassword"),
            (.passwordRequired, .attributes(Self.both), "signUp.submitPassword"),
            (.attributesRequired, .code(isRight: true), "signUp.submitAttributes"),
            (.attributesRequired, .resend, "signUp.submitAttributes"), (.attributesRequired, .password, "signUp.submitAttributes"),
            (.completed, .code(isRight: true), "signIn.withContinuation"), (.completed, .resend, "signIn.withContinuation"),
            (.completed, .password, "signIn.withContinuation"), (.completed, .attributes(Self.both), "signIn.withContinuation"),
        ]
        for (stage, input, expected) in refused {
            #expect(throws: StepNotPossible(expected: expected)) {
                let hasPassword = stage != .passwordRequired
                return try SignUpTransition.decide(
                    .init(stage: stage, isVerified: true, hasPassword: hasPassword), input, .emailPassword, attributes: Self.page)
            }
        }
        #expect(throws: PasswordNotAccepted()) {
            try SignUpTransition.decide(.init(stage: .codeRequired), .password, .emailCode, attributes: [])
        }
    }
}
