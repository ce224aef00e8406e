// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

/// With MINTMARK_WITHOUT_TEST_SUPPORT in the environment, the program has no testing methods and refuses testing stores.
let hasTestSupport = Context.environment["MINTMARK_WITHOUT_TEST_SUPPORT"] == nil
let withoutTestSupport: [SwiftSetting] = hasTestSupport ? [] : [.define("MINTMARK_WITHOUT_TEST_SUPPORT")]

/// The modules on the path of every request are optimized for speed, the others, which are most of the code, for size.
let fastModules: Set = ["Crypto", "IdentityPools", "JSON", "JSONRPC", "Mintmark", "Platform", "ServiceContext", "SigningKeys", "Storage"]

/// The flags of a module in release builds. With the first two, the linker removes the functions that nothing calls, which Swift otherwise
/// keeps if they are public. SwiftPM can refuse a dependency by version that has such flags: a checkout that another package made has none.
func optimized(_ name: String) -> [SwiftSetting] {
    if Context.packageDirectory.contains("/checkouts/") { return [] }
    let removing = ["-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link"]
    return [.unsafeFlags(removing + (fastModules.contains(name) ? [] : ["-Osize"]), .when(configuration: .release))]
}

/// The linker's part of a small program. Functions that come out the same are there once: nothing compares the addresses of functions. The
/// functions that every process runs are next to each other. The relative relocations are packed, and `CRelocation` applies them, for which
/// it is the entry point. The C++ library, of which the program needs 80 KB, is linked statically.
let smallProgram =
    ["-use-ld=lld", "-L\(Context.packageDirectory)/Sources/CLI/static", "-Xclang-linker", "-static-libgcc"]
    + [
        "-O2", "--icf=all", "--no-eh-frame-hdr", "--script=\(Context.packageDirectory)/Sources/CLI/program.ld",
        "--symbol-ordering-file=\(Context.packageDirectory)/Sources/CLI/program.order", "--no-warn-symbol-ordering",
        "--pack-dyn-relocs=relr", "--use-android-relr-tags", "--entry=mintmark_start",
    ].flatMap { ["-Xlinker", $0] }

/// The files in a target's folder that are not sources.
let documents = ["README.md"]

/// A library target of this package and its tests.
func room(
    _ name: String, _ dependencies: [Target.Dependency] = [], tests: [Target.Dependency] = [], notSources: [String] = [],
    settings: [SwiftSetting] = []
) -> [Target] {
    [
        .target(name: name, dependencies: dependencies, exclude: documents, swiftSettings: strict + optimized(name) + settings),
        .testTarget(
            name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies + tests, exclude: notSources, swiftSettings: strict),
    ]
}

let package = Package(
    name: "mintmark",
    products: [
        .executable(name: "mintmark", targets: ["CLI"]),
        .executable(name: "contract", targets: ["ContractGenerator"]),
        .library(name: "Mintmark", targets: ["Mintmark"]),
        .library(name: "MintmarkClient", targets: ["MintmarkClient"]),
        .library(name: "MintmarkInProcess", targets: ["MintmarkInProcess"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2")
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CPostgres", cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "CCurl", cSettings: [.treatAllWarnings(as: .error)]),
        // The filter comes into the program with #embed: as the text of a source file, it would be four times as large.
        .target(
            name: "CPasswordFilter", exclude: ["common-passwords.txt.gz", "filter.bin", "generate.py"],
            cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "CGuard", cSettings: [.treatAllWarnings(as: .error)]),
        // For programs alone: a library must not change its host's memory management.
        .target(name: "CZeroOnFree", cSettings: [.treatAllWarnings(as: .error)]),
        // For the program alone, in release builds.
        .target(name: "CRelocation", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "CLI",
            dependencies: [
                "Accounts", "Arguments", "Audit", "Console", "Contract", "CRelocation", "Crypto", "CZeroOnFree", "IdentityPools", "JSON",
                "JSONRPC",
                "Loopback", "Messages", "Mintmark", "Network", "Platform", "ServiceContext", "Storage",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: documents + ["program.ld", "program.order", "static"], swiftSettings: strict + optimized("CLI"),
            linkerSettings: [
                // Nobody links against a program: the names that it would export, 1.5 MB of them, stay out.
                .unsafeFlags(["-Xlinker", "--no-export-dynamic"]),
                // Functions of libraries are bound at the start: binding one later saves registers, with what was copied last, to the stack.
                .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"]),
                .unsafeFlags(smallProgram, .when(platforms: [.linux], configuration: .release)),
            ]),
        .executableTarget(
            name: "CryptoBenchmark", dependencies: ["Crypto", "Platform"], path: "Tests/Benchmarks/Crypto", swiftSettings: strict),
        .target(
            name: "MintmarkClient", dependencies: ["JSON", "Platform"], path: "clients/swift/Sources/MintmarkClient", swiftSettings: strict),
        .target(
            name: "MintmarkInProcess", dependencies: ["JSONRPC", "Mintmark", "MintmarkClient", "Platform", "ServiceContext"],
            path: "clients/swift/Sources/MintmarkInProcess", swiftSettings: strict),
        .target(
            name: "SwiftClientDriver", dependencies: ["JSON", "MintmarkClient"], path: "clients/swift/conformance/Driver",
            swiftSettings: strict),
        .executableTarget(
            name: "SwiftClientByPipe", dependencies: ["MintmarkClient", "SwiftClientDriver"],
            path: "clients/swift/conformance/ByPipe", swiftSettings: strict),
        .executableTarget(
            name: "SwiftClientInProcess", dependencies: ["MintmarkClient", "MintmarkInProcess", "SwiftClientDriver"],
            path: "clients/swift/conformance/InProcess", swiftSettings: strict),
        .executableTarget(
            name: "SwiftPasskeys", dependencies: ["JSON", "MintmarkClient"], path: "clients/swift/examples/Passkeys", swiftSettings: strict),
        .testTarget(
            name: "MintmarkClientTests", dependencies: ["Crypto", "JSON", "Loopback", "MintmarkClient", "MintmarkInProcess"],
            path: "clients/swift/Tests", swiftSettings: strict),
        .executableTarget(name: "ContractGenerator", dependencies: ["JSON", "Patterns"], exclude: documents, swiftSettings: strict),
        .executableTarget(
            name: "StorageProbe", dependencies: ["CSQLite", "Platform", "Storage"], path: "Tests/StorageProbe", swiftSettings: strict),
    ]
        + room("Arguments")
        + room("Platform", ["CGuard"])
        + room("JSON", ["Platform"])
        + room("JSONRPC", ["JSON", "Platform"])
        + room("Contract", ["JSON", "Platform", "Storage"], tests: ["ContractGenerator"])
        + room("Crypto", ["COpenSSL", "JSON", "Platform"])
        + room("Storage", ["CPostgres", "CSQLite", "Platform"], tests: ["StorageProbe"])
        + room("Patterns")
        + room("WebAuthn", ["Crypto", "JSON", "Platform"], notSources: ["l3-vectors.json"])
        + room("Network", ["CCurl", "Crypto", "JSON", "Platform"])
        + room("Loopback", ["Platform"])
        + room("Messages", ["Contract", "Crypto", "JSON", "Network", "Platform"])
        + room("ServiceContext", ["Contract", "Crypto", "JSON", "Loopback", "Network", "Platform", "Storage"])
        + room("SigningKeys", ["Contract", "Crypto", "JSON", "ServiceContext", "Storage"])
        + [
            .target(
                name: "Audit", dependencies: ["Contract", "JSON", "Platform", "ServiceContext", "Storage"], exclude: documents,
                swiftSettings: strict + optimized("Audit")),
            .target(
                name: "Federation", dependencies: ["Contract", "Crypto", "JSON", "Platform"], exclude: documents,
                swiftSettings: strict + optimized("Federation")),
        ]
        + room(
            "IdentityPools", ["Contract", "Crypto", "Federation", "JSON", "Platform", "ServiceContext", "SigningKeys", "Storage"],
            notSources: ["Vectors"])
        + room(
            "Accounts",
            [
                "Contract", "CPasswordFilter", "Crypto", "Federation", "JSON", "Loopback", "Messages", "Network", "Patterns", "Platform",
                "ServiceContext",
                "SigningKeys", "Storage", "WebAuthn",
            ])
        + room(
            "TestSupport",
            [
                "Accounts", "Contract", "Crypto", "IdentityPools", "JSON", "Loopback", "Platform", "ServiceContext", "SigningKeys",
                "Storage",
            ])
        + room(
            "Provisioning",
            ["Accounts", "Contract", "Crypto", "IdentityPools", "JSON", "Platform", "ServiceContext", "SigningKeys", "Storage"])
        + room(
            "VendorAPIs", ["Accounts", "Contract", "Crypto", "IdentityPools", "JSON", "Loopback", "Platform", "ServiceContext", "Storage"])
        + room(
            "Mintmark",
            [
                "Accounts", "Audit", "Contract", "Crypto", "IdentityPools", "JSON", "JSONRPC", "Loopback", "Messages", "Network",
                "Platform",
                "Provisioning", "ServiceContext", "SigningKeys", "Storage", "VendorAPIs",
                .product(name: "Logging", package: "swift-log"),
            ] + (hasTestSupport ? ["TestSupport"] : []), tests: hasTestSupport ? [] : ["TestSupport"], settings: withoutTestSupport)
        + room("Console", ["Contract", "Crypto", "JSON", "JSONRPC", "Loopback", "Mintmark", "Platform"])
)
