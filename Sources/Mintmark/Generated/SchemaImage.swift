// Written by SchemaImageTests from the migrations. Do not edit.
import Storage

extension Schema {
    static let image = StoreImage(version: 0, parts: "")
}
