import Crypto
import Messages
import Testing

@testable import Accounts
@testable import ServiceContext

@Suite("notices to the owner of an account")
struct NoticeRuleTests {
    @Test("are at most ten in an hour; the eleventh says so, and then there is none")
    func numbers() {
        let purposes = (1...13).map { NoticeRule.purpose(.passwordChanged, number: Int64($0)) }
        #expect(purposes == [MessagePurpose?](repeating: .passwordChanged, count: 10) + [.noticesPaused, nil, nil])
    }

    @Test("are tried again after one minute, then twice as long each time, up to an hour, for a day")
    func pauses() {
        #expect((1...9).map { NoticeRule.pauseSeconds(afterAttempts: $0) } == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        #expect(NoticeRule.pauseSeconds(afterAttempts: .max) == 3600 && NoticeRule.pauseSeconds(afterAttempts: 0) == 60)
        #expect(!NoticeRule.isOver(madeAt: 1000, at: 1000 + 86_399) && NoticeRule.isOver(madeAt: 1000, at: 1000 + 86_400))
    }

    @Test("are kept sealed, each under its own id")
    func sealed() throws {
        let vault = Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom())
        let notice = Notice(.factorAdded, to: "ann@example.org", what: "my phone", language: nil, of: "ann", by: "mfa.confirm")
        func queued(_ id: String) -> QueuedNotice {
            QueuedNotice(id: id, tenantId: "shop", content: notice.sealed(as: "a", vault), attempts: 0, madeAt: 0, dueAt: 0)
        }
        #expect(try Notice(queued("a"), vault) == notice)
        #expect(throws: SealBroken.self) { try Notice(queued("b"), vault) }
        #expect(!String(decoding: queued("a").content, as: UTF8.self).contains("example"))
    }
}
