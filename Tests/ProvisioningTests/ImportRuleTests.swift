import Contract
import Testing

@testable import Accounts
@testable import Provisioning

@Suite("decisions on imported and existing accounts")
struct ImportRuleTests {
    private func draft(_ id: String? = "ann", email: String? = "ann@example.com", google: String? = nil) -> ImportDraft {
        let login = google.map { AccountLogin(providerId: "google.com", subject: $0, linkedAt: 1) }
        return ImportDraft(
            line: 1,
            account: AccountRecord(
                id: id ?? "made", tenantId: "shop", username: email, email: email, isEmailVerified: true, method: .code, attributes: [:],
                createdAt: 1, updatedAt: 1), hasOwnId: id != nil, logins: login.map { [.init(place: 2, record: $0)] } ?? [], factors: [],
            password: .none)
    }

    private func outcome(
        _ draft: ImportDraft, owner: ImportRule.Facts.Owner? = nil, survivor: String? = nil, address: String? = nil, login: String? = nil,
        _ onExisting: AccountImport.Params.OnExisting = .skip
    ) -> String {
        let facts = ImportRule.Facts(
            owner: owner, survivorId: survivor, addressOwner: address, loginOwners: draft.logins.isEmpty ? [] : [login])
        return switch ImportRule.decide(draft, facts, onExisting) {
        case .insert: "insert"
        case .replace(let id): "replace \(id)"
        case .skip: "skip"
        case .refuse(let violations): violations.map { "\($0.pointer) \($0.rule)" }.joined(separator: ", ")
        }
    }

    private let ann = ImportRule.Facts.Owner(id: "ann", tenantId: "shop")

    @Test("an account with an ID is matched by the ID only")
    func byId() {
        #expect(outcome(draft()) == "insert")
        #expect(outcome(draft(), owner: ann) == "skip")
        #expect(outcome(draft(), owner: ann, address: "bob") == "skip")
        #expect(outcome(draft(), owner: ann, .fail) == "/accountId accountExists")
        #expect(outcome(draft(), owner: ann, address: "ann", .replace) == "replace ann")
        #expect(outcome(draft(), owner: ann, address: "bob", .replace) == "/email emailAlreadyInUse")
        #expect(
            outcome(draft(google: "g"), owner: ann, address: "bob", login: "bob", .replace)
                == "/email emailAlreadyInUse, /providers/2 credentialAlreadyInUse")
    }

    @Test("an account without an ID is matched by its address, otherwise by a login")
    func byName() {
        #expect(outcome(draft(nil)) == "insert")
        #expect(outcome(draft(nil), address: "ann") == "skip")
        #expect(outcome(draft(nil), address: "ann", .replace) == "replace ann")
        #expect(outcome(draft(nil), address: "ann", .fail) == " accountExists")
        #expect(outcome(draft(nil, email: nil, google: "g"), login: "ann", .replace) == "replace ann")
        #expect(outcome(draft(nil, google: "g"), address: "ann", login: "bob", .replace) == "/providers/2 credentialAlreadyInUse")
    }

    @Test("conflicts with other accounts are all reported, whatever onExisting is")
    func conflicts() {
        for onExisting in AccountImport.Params.OnExisting.allCases {
            #expect(
                outcome(draft(google: "g"), address: "bob", login: "bob", onExisting)
                    == "/email emailAlreadyInUse, /providers/2 credentialAlreadyInUse")
            #expect(outcome(draft(), owner: .init(id: "ann", tenantId: "other"), onExisting) == "/accountId accountExists")
            #expect(outcome(draft(), survivor: "bob", onExisting) == "/accountId accountMerged")
        }
    }

    @Test("a duplicate is reported with its earlier line, and a rejected line reserves no names")
    func names() {
        func line(_ number: Int64, _ id: String?, _ email: String?, _ google: String? = nil) -> ImportDraft {
            let some = draft(id, email: email, google: google)
            return ImportDraft(
                line: number, account: some.account, hasOwnId: some.hasOwnId, logins: some.logins, factors: [], password: .none)
        }
        var names = ImportedNames()
        func told(_ draft: ImportDraft) -> [String] { names.note(draft).map { "\($0.pointer) \($0.line)" } }
        #expect(told(line(1, "a", "a@example.com", "g")) == [])
        #expect(told(line(2, "b", "A@example.com")) == ["/email 1"])
        #expect(told(line(3, "b", "b@example.com")) == [])
        #expect(told(line(4, "a", "b@example.com", "g")) == ["/accountId 1", "/email 3", "/providers/2 1"])
        #expect(told(line(5, nil, nil, "h")) == [])
    }
}
