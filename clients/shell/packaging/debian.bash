# Makes the Debian package. Must be sourced by clients/shell/release, which sets the variables that are not set here.
# shellcheck disable=SC2154

debian_maintainer="Mintmark maintainers <maintainers@users.noreply.a-seed-a88522f6.example>"

# Prints the packages of the libraries that the program loads when it needs them, separated by commas.
debian_recommends() {
    local text library package recommends=ca-certificates
    text=$(strings -n 5 "$1")
    for library in libcurl:libcurl4 libpq:libpq5 libpcre2:libpcre2-8-0; do
        package=${library#*:}
        [[ $text != *"$package"* && $text != *"${library%%:*}"* ]] || recommends+=", $package"
    done
    echo "$recommends"
}

# Prints the packages of the libraries that the program is linked with, with the versions that its symbols require.
debian_depends() {
    mkdir -p "$work/shlibdeps/debian"
    printf 'Source: mintmark\n\nPackage: mintmark\nArchitecture: any\n' >"$work/shlibdeps/debian/control"
    (cd "$work/shlibdeps" && dpkg-shlibdeps -O "$1") >"$work/shlibdeps/output" 2>"$work/shlibdeps/errors" ||
        give_up "dpkg-shlibdeps finds no packages for the libraries of the program: $(tail -n 1 "$work/shlibdeps/errors") Make the package on Debian or Ubuntu."
    sed -n 's/^shlibs:Depends=//p' "$work/shlibdeps/output"
}

# Writes the copyright file. Debian packages refer to the Apache license instead of containing it.
debian_copyright() {
    local licences=$1 each
    echo "Mintmark, version $version. License: $license."
    echo
    if [ "$license" = LicenseRef-Unpublished ]; then
        echo "No license has been chosen yet."
    fi
    echo "Copyright $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of Mintmark."
    echo
    echo "The program contains the following libraries. They are licensed under the Apache License, Version 2.0, which is on Debian systems in"
    echo "/usr/share/common-licenses/Apache-2.0, with the Runtime Library Exception below."
    for each in "$licences"/in-the-program/*.txt; do
        case $each in *-NOTICE.txt) ;; *) echo "- $(basename "$each" .txt)" ;; esac
    done
    for each in "$licences"/in-the-program/*-NOTICE.txt; do
        [ -e "$each" ] || continue
        printf '\nThe notice of %s:\n\n' "$(basename "$each" -NOTICE.txt)"
        cat "$each"
    done
    echo
    sed -n '/Runtime Library Exception/,$p' "$licences/in-the-program/swift.txt"
}

# debian_package PROGRAM LICENCES FILE: PROGRAM is the stripped program.
debian_package() {
    local program=$1 licences=$2 file=$3 folder=$work/debian documentation shell page
    documentation=$folder/usr/share/doc/mintmark
    mkdir -p "$folder/DEBIAN" "$folder/usr/bin" "$documentation"
    install -m 755 "$program" "$folder/usr/bin/mintmark"

    install -D -m 644 /dev/null "$folder/usr/share/bash-completion/completions/mintmark"
    install -D -m 644 /dev/null "$folder/usr/share/zsh/vendor-completions/_mintmark"
    install -D -m 644 /dev/null "$folder/usr/share/fish/vendor_completions.d/mintmark.fish"
    for shell in bash zsh fish; do
        "$program" completions "$shell" >"$work/completions.$shell" || give_up "the program prints no completions for $shell."
    done
    sed '1{/^#!/d}' "$work/completions.bash" >"$folder/usr/share/bash-completion/completions/mintmark"
    cat "$work/completions.zsh" >"$folder/usr/share/zsh/vendor-completions/_mintmark"
    cat "$work/completions.fish" >"$folder/usr/share/fish/vendor_completions.d/mintmark.fish"

    "$program" man --out "$work/man1" || give_up "the program writes no manual pages."
    mkdir -p "$folder/usr/share/man/man1"
    for page in "$work"/man1/*.1; do gzip --no-name --best <"$page" >"$folder/usr/share/man/man1/${page##*/}.gz"; done

    debian_copyright "$licences" >"$documentation/copyright"
    {
        printf 'mintmark (%s) unstable; urgency=medium\n\n' "$version"
        printf '  * Version %s. Its changes are in schemas/CHANGELOG.md of the sources.\n\n' "$version"
        printf ' -- %s  %s\n' "$debian_maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
    } | gzip --no-name --best >"$documentation/changelog.gz"

    (cd "$folder" && find usr -type f -printf '%P\n' | sort | sed 's/^/usr\//' | xargs -d '\n' md5sum) >"$folder/DEBIAN/md5sums"
    {
        echo "Package: mintmark"
        echo "Version: $version"
        echo "Architecture: $debian_machine"
        echo "Maintainer: $debian_maintainer"
        echo "Installed-Size: $(find "$folder/usr" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')"
        echo "Depends: $(debian_depends "$program")"
        echo "Recommends: $(debian_recommends "$program")"
        echo "Section: net"
        echo "Priority: optional"
        echo "Description: identity service in one process"
        sed -n 's/^ *"description": "\(.*\)".*/\1/p' "$root/schemas/service.json" | fold -s -w 76 | sed 's/ *$//; s/^/ /'
    } >"$folder/DEBIAN/control"
    chmod -R u=rwX,go=rX "$folder"
    find "$folder" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz -z1 --build "$folder" "$file" >/dev/null
}
