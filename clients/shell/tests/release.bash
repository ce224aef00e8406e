#!/bin/bash
# Builds the release archive twice from one program, MINTMARK_BINARY, and checks it. Ends with "N passed, N failed".
set -u
here=$(dirname "$(readlink -f -- "${BASH_SOURCE[0]}")")
passed=0 failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/mintmark-XXXXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT

test_that() {
    local name=$1
    shift
    if ("$@") >"$work/said" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        tail -n 20 "$work/said" | sed 's/^/    /'
    fi
}

# The second archive is built in another folder, at another time and with another umask.
made_twice() {
    "$here/../release" --binary "$MINTMARK_BINARY" --output "$work/one" || exit 1
    umask 077
    "$here/../release" --binary "$MINTMARK_BINARY" --output "$work/and/another" || exit 1
    cmp "$work"/one/*.tar.gz "$work"/and/another/*.tar.gz && cmp "$work/one/SHA256SUMS" "$work/and/another/SHA256SUMS"
}

checksums() {
    (cd "$work/one" && sha256sum -c SHA256SUMS) && tar xzf "$work"/one/*.tar.gz -C "$work" || exit 1
    cd "$work"/mintmark-*-linux-* && sha256sum -c --quiet SHA256SUMS || exit 1
    [ "$(wc -l <SHA256SUMS)" -eq "$(($(find . -type f | wc -l) - 1))" ]
}

holds() {
    cd "$work"/mintmark-*-linux-* || exit 1
    local each
    for each in README.md DEPENDENCIES schemas/openrpc.json schemas/methods/pool.create.json licences/README.md licences/in-the-program/swift.txt \
        licences/in-the-program/swift-argument-parser.txt licences/in-the-program/swift-log.txt; do
        [ -s "$each" ] || { echo "there is no $each"; exit 1; }
    done
    ldd mintmark | sed -n 's/^\t\(.*\) => .*/\1/p' | while read -r each; do
        grep -F "\`$each\`" licences/README.md || { echo "there is no licence of $each"; exit 1; }
    done
}

# In a checkout without a build.
of_what_versions() {
    grep -E '^swift-log [0-9.]+ [0-9a-f]{40} https://' "$work"/mintmark-*-linux-*/DEPENDENCIES || exit 1
    mkdir -p "$work/fresh/clients/shell" && cp -r "$here/../release" "$here/../setup.bash" "$work/fresh/clients/shell" && cp -r "$here/../../../schemas" "$work/fresh" || exit 1
    local said
    said=$(SOURCE_DATE_EPOCH=1 "$work/fresh/clients/shell/release" --binary "$MINTMARK_BINARY" --output "$work/none" 2>&1)
    [ $? -eq 69 ] && [[ $said == *"swift package --package-path $work/fresh resolve"* ]] || { echo "$said"; exit 1; }
}

usage() {
    local each
    "$here/../release" --help | grep -F -e --twice || exit 1
    for each in --output --binary --nonsense "--binary /nope"; do
        # shellcheck disable=SC2086
        "$here/../release" $each 2>&1 | grep '^mintmark: .*\(takes a value\|knows no\|no program /nope\)' || { echo "of $each nothing is said"; exit 1; }
    done
}

runs() {
    cd "$work"/mintmark-*-linux-* || exit 1
    case $PWD in *-"$(./mintmark --version)"-linux-"$(uname -m)") ;; *) echo "another version"; exit 1 ;; esac
    ./mintmark call system.ping --store :memory: | grep now
}

test_that "two archives of the same program are identical" made_twice
test_that "the checksums are correct and cover every file" checksums
test_that "the archive contains the schemas and the licenses of all linked libraries" holds
test_that "the program in the archive runs" runs
test_that "the archive lists dependency versions, or the build explains how to resolve them" of_what_versions
test_that "invalid options fail with a message" usage
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
