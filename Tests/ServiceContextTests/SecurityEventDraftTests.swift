import Contract
import JSON
import Testing

@testable import ServiceContext

/// The events that follow from the audit record of a change.
@Suite struct SecurityEventDraftTests {
    private func types(_ method: String, _ details: JSONObject = [:], emptied: [String] = []) -> [EventType] {
        let change = AuditEvent(method: method, subject: "alice", details: details)
        return SecurityEventDraft.drafts(of: change, emptied: emptied).map(\.type)
    }

    @Test(arguments: [
        ("key.rotate", EventType.keysRotated), ("key.revoke", .keyRevoked), ("credentials.revoke", .credentialsRevoked),
        ("session.signOut", .sessionEnded), ("session.revokeAll", .sessionEnded), ("account.updateOwn", .accountChanged),
        ("passkey.delete", .accountChanged), ("account.delete", .accountDeleted),
    ])
    func aChangeHasItsEvent(method: String, type: EventType) { #expect(types(method) == [type]) }

    @Test(arguments: ["account.create", "signUp.submitCode", "signIn.withPassword", "session.refresh", "tenant.update", "role.put"])
    func otherChangesHaveNone(method: String) { #expect(types(method).isEmpty) }

    @Test func aReusedRefreshTokenEndsItsSession() {
        #expect(types("session.refresh", ["outcome": "reused", "sessionId": "s"]) == [.sessionEnded])
    }

    @Test(arguments: ["refused", "notice", "breachedPasswordCheck"])
    func aRecordOfNoChangeHasNoEvent(detail: String) { #expect(types("account.updateOwn", [detail: "x"]).isEmpty) }

    @Test func theFirstLoginOfAnIdentityIsNoLink() {
        #expect(types("token.mint", ["isNewIdentity": true, "linked": ["a"]]).isEmpty)
        #expect(types("token.mint", ["isNewIdentity": false, "linked": ["a"], "merged": ["b"]]) == [.linked, .merged])
    }

    @Test func endedSessionsOfAChangeAreAnEventOnce() {
        #expect(types("account.updateOwn", ["tenantId": "t"], emptied: ["alice"]) == [.accountChanged, .sessionEnded])
        #expect(types("session.revokeAll", ["tenantId": "t"], emptied: ["alice"]) == [.sessionEnded])
    }
}
