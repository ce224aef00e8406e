import Contract
import Platform
import Storage
import WebAuthn

extension AccountsContext {
    /// Returns the day of a time, as `2026-12-01`.
    private static func day(of now: Int64) -> String {
        let time = CalendarTime(now)
        return "\(time.year)-\(CalendarTime.twoDigits(time.month))-\(CalendarTime.twoDigits(time.day))"
    }

    /// Returns the state of the metadata files of all tenants, for health checks.
    package func metadataFindings(at now: Int64) throws -> [(tenantId: String, isReadable: Bool, detail: String)] {
        let tenants = try database.read { try $0.tenants(after: "", limit: 10_000) }
        return tenants.compactMap { tenant in
            guard let settings = tenant.settings.passkeys, let found = authenticatorMetadata.metadata(settings, at: now) else { return nil }
            switch found {
            case .failure(let unreadable):
                return (
                    tenant.id, false,
                    "tenant \(tenant.id) registers no passkeys: \(unreadable.reason). Replace the file, or change passkeys/metadataFile."
                )
            case .success(let metadata):
                guard let next = metadata.nextUpdate, next < Self.day(of: now) else { return nil }
                return (
                    tenant.id, true,
                    "the metadata of tenant \(tenant.id) was to be replaced on \(next): download the file again"
                )
            }
        }
    }
}
