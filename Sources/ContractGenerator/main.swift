import Foundation

// swift run contract [--check] [--root FOLDER]
//
// Checks `schemas/` and writes the generated files. With `--check`, it writes nothing, lists the stale files and exits with status 1 if
// there are any.
let arguments = CommandLine.arguments.dropFirst()
let root = arguments.firstIndex(of: "--root").flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil } ?? "."

do {
    let output = try Generator.output(root: URL(filePath: root, directoryHint: .isDirectory))
    if arguments.contains("--check") {
        let stale = output.stale()
        for path in stale { print("stale: \(path)") }
        if !stale.isEmpty {
            print("Generated files that are not up to date: \(stale.count). Run swift run contract.")
            exit(1)
        }
        print("\(output.files.count) generated files are up to date")
    } else {
        print("\(try output.write()) of \(output.files.count) generated files written")
    }
} catch let problems as ContractProblems {
    for problem in problems.all { print(problem) }
    print("Problems in schemas/: \(problems.all.count)")
    exit(2)
}
