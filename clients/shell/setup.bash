# Shared by the launcher and the test command: installs missing packages, finds the Swift toolchain and builds the release binary. Must be sourced by
# bash. All messages go to standard error.

say() { printf 'mintmark: %s\n' "$*" >&2; }
give_up() { say "$@"; exit 69; }   # EX_UNAVAILABLE

# install_packages PACKAGE…: installs Debian packages with apt-get, using sudo if necessary.
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
    # The package lists may be missing or outdated: update them once, and report the problem if the installation fails again.
    { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@"; } </dev/null >&2 ||
        give_up "could not install $*. Is there a network? The messages of apt-get are above; once it works, run this again."
}

# Prints the Debian packages that a build requires in addition to the toolchain and that are missing, one per line.
missing_for_build() {
    command -v git >/dev/null || echo git
    command -v pkg-config >/dev/null || echo pkg-config
    [ -e /etc/ssl/certs/ca-certificates.crt ] || [ ! -e /etc/debian_version ] || echo ca-certificates
    has_library libcrypto openssl/evp.h || echo libssl-dev
    has_library sqlite3 sqlite3.h || echo libsqlite3-dev
}

# has_library NAME HEADER: whether pkg-config finds the library. Without pkg-config, whether its header exists.
has_library() { pkg-config --exists "$1" 2>/dev/null || { ! command -v pkg-config >/dev/null && [ -e "/usr/include/$2" ]; }; }

# Puts the Swift toolchain on PATH, or reports how to install one.
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

# build_release ROOT BINARY: builds the release binary and replaces BINARY atomically, so that a running program is not affected.
build_release() {
    local root=$1 binary=$2 missing started products
    mkdir -p "$root/.build" 2>/dev/null && [ -w "$root/.build" ] ||
        give_up "cannot write to $root/.build. Build as the owner of the checkout once, or name a built binary in MINTMARK_BINARY."
    exec 9>"$root/.build/mintmark.lock"
    flock -n 9 || { say "another call is building; waiting for it"; flock 9; }
    # Another process may have built it during the wait. Release the lock, so that the program does not inherit it.
    [ -z "$(find "$root/Package.swift" "$root/Sources" -newer "$binary" -print -quit 2>&1)" ] && { exec 9>&-; return 0; }
    mapfile -t missing < <(missing_for_build)
    install_packages "${missing[@]}"
    find_swift
    started=$(mktemp "$root/.build/mintmark.XXXXXX")
    local options=(-c release --static-swift-stdlib --product mintmark --package-path "$root")
    if [ -e "$binary" ]; then say "sources changed: building again"; else say "building the release binary, once (a few minutes)"; fi
    swift build "${options[@]}" 9>&- >&2 || { rm -f "$started"; give_up "the build failed; its messages are above."; }
    products=$(swift build "${options[@]}" --show-bin-path 9>&-)
    # The binary gets the time at which the build started, so that files edited during the build count as changed.
    cp "$products/mintmark" "$binary.new" && touch -r "$started" "$binary.new" && mv -f "$binary.new" "$binary"
    rm -f "$started"
    exec 9>&-
    say "ready"
}
