extension BannedPasswords {
    /// The most common passwords: the stems of the lists of leaked passwords that are published every year.
    static let common = """
        password passwort passw0rd welcome willkommen letmein iloveyou qwerty qwertz qwertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm azerty
        1234 12345 123456 1234567 12345678 123456789 1234567890 987654321 87654321 654321 4321 1111 0000 111111 000000 123123 121212
        1q2w3e4r 1qaz2wsx q1w2e3r4 zaq12wsx abc123 abcd1234 a1b2c3d4 abcdef abcdefgh aaaaaa admin administrator root user guest login
        master secret private access default changeme changeit trustno1 monkey dragon sunshine princess football baseball soccer hockey
        superman batman pokemon starwars shadow michael jordan jennifer charlie thomas daniel andrew matthew jessica ashley hunter harley
        ranger buster tigger killer pepper ginger cookie summer winter spring autumn january february march april june july august
        september october november december monday tuesday wednesday thursday friday saturday sunday computer internet samsung google
        facebook microsoft windows apple android flower freedom whatever hello hallo bonjour love lovely angel babygirl money mustang
        corvette ferrari mercedes maverick liverpool arsenal chelsea barcelona london berlin paris america canada test test123 testing
        temp temporary sample example company business family forever nothing diamond silver golden purple orange yellow banana chocolate
        """.split(whereSeparator: \.isWhitespace).map(String.init)
}
