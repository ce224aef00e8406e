import Crypto
import Foundation
import Platform
import Storage
import Testing

@testable import Mintmark

@Suite("the initial content of stores in memory")
struct SchemaImageTests {
    private func contents(_ database: SQLiteDatabase) throws -> [String] {
        try StoreHandle(database, StoreAccess(.allowed)).read { tx in
            try tx.query("SELECT type || ' ' || name || ' ' || tbl_name || ' ' || IFNULL(sql, '') FROM sqlite_schema ORDER BY name") {
                $0.string(0)
            }
                + tx.query("SELECT name || ' = ' || value FROM mintmark_meta ORDER BY name") { $0.string(0) }
                + tx.query("SELECT 'application ' || application_id FROM pragma_application_id()") { $0.string(0) }
        }
    }

    /// With MINTMARK_RENEW_SCHEMA_IMAGE in the environment, writes a new image.
    @Test("a store in memory begins as the migrations leave it")
    func isCurrent() throws {
        let migrated = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        if ProcessInfo.processInfo.environment["MINTMARK_RENEW_SCHEMA_IMAGE"] != nil {
            let parts = StoreImage.parts(of: try migrated.serialized())
            let source = """
                // Written by SchemaImageTests from the migrations. Do not edit.
                // swift-format-ignore-file
                import Storage

                extension Schema {
                    static let image = StoreImage(version: \(Mintmark.schemaVersion), parts: "\(parts)")
                }

                """
            try source.write(toFile: "Sources/Mintmark/Generated/SchemaImage.swift", atomically: true, encoding: .utf8)
            return
        }
        let renew = "Run MINTMARK_RENEW_SCHEMA_IMAGE=1 swift test --filter SchemaImageTests to write the image anew."
        try #require(Schema.image.version == Mintmark.schemaVersion, "The image is of another schema version. \(renew)")
        let started = try SQLiteDatabase(
            .memory, migrations: Schema.migrations, image: Schema.image, connectionId: SystemRandom().uuid())
        #expect(try contents(started) == contents(migrated), "\(renew)")
        #expect(try started.damage() == [])
    }
}
