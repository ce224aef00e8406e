/** The client of Mintmark, an identity service in one process. */
module mintmark {
    exports mintmark;
    exports mintmark.contract;
    exports mintmark.json;
    exports mintmark.testing;
}
