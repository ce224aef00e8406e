/// Generates one notification: its name and its params.
struct NotificationEmitter {
    let types: SwiftTypes
    let notification: Notification

    var file: GeneratedFile {
        let name = SwiftNames.type(notification.name.replacing("/", with: "."))
        var source = SwiftSource(from: "notifications/\(notification.name.replacing("/", with: ".")).json")
        source.doc(notification.summary + "\n\n" + notification.description)
        source.block("public enum \(name): ContractNotification") { source in
            source.doc("The params of `\(notification.name)`.")
            source.line("public typealias Params = \(types.name(notification.params, nested: "Params", .result))")
            source.line()
            source.line("public static let name = \(SwiftNames.literal(notification.name))")
        }
        return GeneratedFile(path: "\(SwiftEmitter.folder)/Notifications/\(name).swift", text: source.text)
    }
}
