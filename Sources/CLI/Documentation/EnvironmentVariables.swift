import Arguments

/// The environment variables of the program, for `mintmark help environment` and the manual pages.
struct EnvironmentVariables {
    typealias Variable = (name: String, meaning: String)

    /// The variables of the options of `serve`.
    let options: [Variable]

    init(_ documentation: Documentation) {
        options = documentation.options.map {
            (ManPage.variable($0.flag), "The value of \($0.flag)\($0.name == "masterKeyFile" ? ", a file" : "").")
        }
    }

    let secrets: [Variable] = [
        ("MINTMARK_MASTER_KEY", "The master key itself, 32 bytes in base64url or hexadecimal."),
        ("MINTMARK_SMTP_PASSWORD", "The password for the mail server."),
        ("MINTMARK_WEBHOOK_SECRET", "The secret that signs posts to the webhook."),
    ]

    /// The variables of testing stores.
    let tests: [Variable] = [
        (
            "MINTMARK_PROVIDER_TIMEOUT",
            "The time limit of each request to a login provider, in seconds: 1 to 10, 10 by default. For tests of providers that hang."
        )
    ]

    let terminal: [Variable] = [
        ("MINTMARK_COLOR", "The value of --color."),
        ("NO_COLOR", "If it is not empty, output is not colored, unless --color or MINTMARK_COLOR says otherwise."),
        ("FORCE_COLOR, CLICOLOR_FORCE", "If one of them is neither empty nor 0, output is colored, also without a terminal."),
        ("TERM", "If it is unset or dumb, output is not colored, and no progress bar is shown."),
        (
            "MINTMARK_PAGER, PAGER",
            "The pager for text that is longer than the screen; the first one that is set counts. Empty or cat means none. "
                + "Defaults to less -FRX."
        ),
        ("COLUMNS", "The width of tables. Defaults to the width of the terminal."),
        ("BROWSER", "The commands that open a web page, separated by colons. Defaults to xdg-open."),
    ]

    let folders: [Variable] = [
        ("XDG_DATA_HOME", "The data directory. Defaults to ~/.local/share."),
        ("XDG_STATE_HOME", "The directory of mintmark/history, the lines of mintmark shell. Defaults to ~/.local/state."),
    ]

    /// The variables that `mintmark run` sets.
    let exported: [Variable] = [
        ("MINTMARK_STORE, MINTMARK_TESTING, MINTMARK_MASTER_KEY_FILE", "The testing store. Commands and clients use it."),
        ("MINTMARK_BINARY", "This program. Clients start it."),
        ("OIDC_ISSUER, OIDC_DISCOVERY_URL, JWKS_URL", "With --idp: the issuer of the test provider, and its documents."),
        ("OIDC_CLIENT_ID, OIDC_CLIENT_SECRET", "With --idp: the client that is registered with the test provider."),
        ("MINTMARK_IDP_ISSUERS", "With --idp: all issuers, separated by commas."),
        ("AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION", "With --aws: the endpoint for AWS SDKs."),
    ]

    /// The text of `mintmark help environment`.
    func text(width: Int) -> String {
        func section(_ title: String, _ variables: [Variable]) -> [String] {
            [Printing.bold(title)] + variables.flatMap { HelpText.item($0.name, Markdown.withoutMarks($0.meaning), width) } + [""]
        }
        let intro =
            "Every option can be given as a variable: --db-connections as MINTMARK_DB_CONNECTIONS. The option takes precedence. A flag "
            + "takes true or false. An unknown variable whose name is similar to a known one is refused."
        var lines = HelpText.wrapped(intro, width) + [""]
        lines += section("OPTIONS OF SERVE:", options) + section("SECRETS:", secrets)
        lines += section("TESTING STORES:", tests) + section("TERMINAL:", terminal)
        lines +=
            HelpText.wrapped(
                "Color is decided for standard output and standard error separately: --color, MINTMARK_COLOR, NO_COLOR, FORCE_COLOR or "
                    + "CLICOLOR_FORCE, TERM, and then whether the stream is a terminal. The first of them that says something counts.",
                width) + [""]
        lines += section("DIRECTORIES:", folders) + section("SET BY MINTMARK RUN:", exported)
        return lines.dropLast().joined(separator: "\n")
    }
}
