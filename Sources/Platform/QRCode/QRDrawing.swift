extension QRCode {
    /// The code with its quiet zone as a picture, which contains no scripts and refers to nothing.
    public var svg: String {
        let (border, side) = (Self.quietZone, size + 2 * Self.quietZone)
        var path = ""
        for y in 0..<size {
            var x = 0
            while x < size {
                let start = x
                while isDark(x, y) { x += 1 }
                if x > start { path += "M\(start + border) \(y + border)h\(x - start)v1h-\(x - start)z" } else { x += 1 }
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <rect width="\(side)" height="\(side)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>
            """
    }

    /// The number of columns of `terminalText`.
    public var columns: Int { size + 2 * Self.quietZone }

    /// The code with its quiet zone as lines of half blocks, two rows of modules in each. The colors are set, so that the code is dark on
    /// light in every terminal.
    public var terminalText: String {
        let border = Self.quietZone
        var text = ""
        for top in stride(from: -border, to: size + border, by: 2) {
            text += "\u{1B}[30;107m"
            for x in -border..<size + border {
                switch (isDark(x, top), isDark(x, top + 1)) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }
}
