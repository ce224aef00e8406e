import Arguments

/// The option of the commands that can take long.
struct ProgressOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Progress on standard error: auto, plain for a line every 5 seconds, or none. (default: auto)", valueName: "style"),
        completion: .list(ProgressBar.Style.allCases.map(\.rawValue)))
    var progress: String?

    /// - Throws: `ValidationError`.
    func style() throws -> ProgressBar.Style {
        guard let progress else { return .auto }
        guard let style = ProgressBar.Style(rawValue: progress) else {
            throw ValidationError("--progress must be auto, plain or none, not '\(progress)'.")
        }
        return style
    }
}
