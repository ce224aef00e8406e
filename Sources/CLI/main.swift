// Not `@main`, whose entry point belongs to the main actor and brings the runtime for tasks into the program.
MintmarkCommand.main()
