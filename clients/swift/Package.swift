// swift-tools-version: 6.2
// The client as a package of its own: a program that depends on it builds neither the server nor its dependencies. The sources of JSON
// and Platform are those of the repository.
import PackageDescription

let package = Package(
    name: "mintmark-client",
    products: [.library(name: "MintmarkClient", targets: ["MintmarkClient"])],
    targets: [
        .target(name: "CGuard"),
        .target(name: "Platform", dependencies: ["CGuard"], exclude: ["README.md"]),
        .target(name: "JSON", dependencies: ["Platform"], exclude: ["README.md"]),
        .target(name: "MintmarkClient", dependencies: ["JSON", "Platform"]),
    ])
