import Crypto
import Messages
import Testing

@testable import Accounts
@testable import ServiceContext

@Suite("security notices")
struct NoticeRuleTests {
    @Test("at most ten notices are sent per hour; the eleventh announces a pause, and later ones are dropped")
    func numbers() {
        let purposes = (1...13).map { NoticeRule.purpose(.passwordChanged, number: Int64($0)) }
        #expect(purposes == [MessagePurpose?](repeating: .passwordChanged, count: 10) + [.noticesPaused, nil, nil])
    }

    @Test("failed notices are retried after one minute, then with doubled delays up to one hour, for one day")
    func pauses() {
        #expect((1...9).map { NoticeRule.pauseSeconds(afterAttempts: $0) } == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        #expect(NoticeRule.pauseSeconds(afterAttempts: .max) == 3600 && NoticeRule.pauseSeconds(afterAttempts: 0) == 60)
        #expect(!NoticeRule.isOver(madeAt: 1000, at: 1000 + 86_399) && NoticeRule.isOver(madeAt: 1000, at: 1000 + 86_400))
    }

    @Test("queued notices are encrypted and bound to their IDs")
    func sealed() throws {
        let vault = Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom())
        let notice = Notice(.factorAdded, to: "ann@example.org", what: "my phone", language: nil, accountId: "ann", method: "mfa.confirm")
        func queued(_ id: String) -> QueuedNotice {
            QueuedNotice(id: id, tenantId: "shop", content: notice.sealed(as: "a", vault), attempts: 0, madeAt: 0, dueAt: 0)
        }
        #expect(try Notice(queued("a"), vault) == notice)
        #expect(throws: SealBroken.self) { try Notice(queued("b"), vault) }
        #expect(!String(decoding: queued("a").content, as: UTF8.self).contains("example"))
    }
}
