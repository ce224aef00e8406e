/// Generates the documentation of the package with the generated classes.
enum JavaPackage {
    static var file: GeneratedFile {
        var source = JavaSource(from: "")
        source.doc(
            "The methods, parameters, results and errors of Mintmark.\n"
                + "No parameter and no return value is null. Members that may be absent are "
                + "{@link java.util.Optional}; lists and maps that may be absent are empty. The setters of parameters and the methods with "
                + "the prefix <code>with</code> remove the value if they get null.")
        return source.packageFile()
    }
}
