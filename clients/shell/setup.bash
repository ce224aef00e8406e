# What the launcher and the test command share: installing what is missing, finding the Swift toolchain, building the release binary.
# Sourced by bash. Everything is told on standard error.

say() { printf 'mintmark: %s\n' "$*" >&2; }
give_up() { say "$@"; exit 69; }   # EX_UNAVAILABLE

# install_packages PACKAGE…: installs Debian packages with apt-get, through sudo where needed.
install_packages() {
    [ $# -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        give_up "missing: $*. This system has no apt-get; install what these Debian packages hold, then run this again."
    local as=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || give_up "missing: $*. Ask an administrator to run: apt-get install -y $*"
        as=(sudo)
    fi
    say "installing $* (${as[*]:+${as[*]} }apt-get install)"
    local apt=("${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
    "${apt[@]}" install --no-install-recommends "$@" </dev/null >/dev/null 2>&1 && return 0
    # The package lists may be absent or old: fetch them once and say what is wrong if it still fails.
    { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@"; } </dev/null >&2 ||
        give_up "could not install $*. Is there a network? The messages of apt-get are above; once it works, run this again."
}

# What a build needs beside the toolchain, as Debian package names, one per line; nothing when all is there.
missing_for_build() {
    command -v git >/dev/null || echo git
    command -v pkg-config >/dev/null || echo pkg-config
    [ -e /etc/ssl/certs/ca-certificates.crt ] || [ ! -e /etc/debian_version ] || echo ca-certificates
    has_library libcrypto openssl/evp.h || echo libssl-dev
    has_library sqlite3 sqlite3.h || echo libsqlite3-dev
}

# has_library NAME HEADER: whether pkg-config knows the library; where pkg-config itself is missing, whether its header is there.
has_library() { pkg-config --exists "$1" 2>/dev/null || { ! command -v pkg-config >/dev/null && [ -e "/usr/include/$2" ]; }; }

# Puts the Swift toolchain on PATH, or says how to get one.
find_swift() {
    local folder
    if ! command -v swift >/dev/null; then
        for folder in "${SWIFTLY_BIN_DIR:-}" "$HOME/.local/share/swiftly/bin" "$HOME/.swiftly/bin" /opt/swift/usr/bin /usr/local/swift/usr/bin /usr/share/swift/usr/bin; do
            [ -n "$folder" ] && [ -x "$folder/swift" ] && { PATH=$folder:$PATH; break; }
        done
    fi
    command -v swift >/dev/null ||
        give_up "no Swift toolchain found. Install Swift 6.2 or newer from https://www.swift.org/install/linux/ and put it on PATH, then run this again."
    local version
    version=$(swift --version 2>/dev/null </dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
    # shellcheck disable=SC2086
    set -- ${version:-0 0}
    [ "$1" -gt 6 ] || { [ "$1" -eq 6 ] && [ "$2" -ge 2 ]; } ||
        give_up "$(command -v swift) is Swift ${1}.${2}; Mintmark needs 6.2 or newer: https://www.swift.org/install/linux/"
}

# build_release ROOT BINARY: builds the release binary and puts it at BINARY in one step, so that a running one is never disturbed.
build_release() {
    local root=$1 binary=$2 missing started products
    mkdir -p "$root/.build" 2>/dev/null && [ -w "$root/.build" ] ||
        give_up "cannot write to $root/.build. Build as the owner of the checkout once, or name a built binary in MINTMARK_BINARY."
    exec 9>"$root/.build/mintmark.lock"
    flock -n 9 || { say "another call is building; waiting for it"; flock 9; }
    # Another call may have built it while this one waited. The program that is run then holds no lock.
    [ -z "$(find "$root/Package.swift" "$root/Sources" -newer "$binary" -print -quit 2>&1)" ] && { exec 9>&-; return 0; }
    mapfile -t missing < <(missing_for_build)
    install_packages "${missing[@]}"
    find_swift
    started=$(mktemp "$root/.build/mintmark.XXXXXX")
    local options=(-c release --static-swift-stdlib --product mintmark --package-path "$root")
    if [ -e "$binary" ]; then say "sources changed: building again"; else say "building the release binary, once (a few minutes)"; fi
    swift build "${options[@]}" 9>&- >&2 || { rm -f "$started"; give_up "the build failed; its messages are above."; }
    products=$(swift build "${options[@]}" --show-bin-path 9>&-)
    # The binary carries the time the build started: what was edited meanwhile counts as changed.
    cp "$products/mintmark" "$binary.new" && touch -r "$started" "$binary.new" && mv -f "$binary.new" "$binary"
    rm -f "$started"
    exec 9>&-
    say "ready"
}
