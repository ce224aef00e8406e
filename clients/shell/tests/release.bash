#!/bin/bash
# Makes the packages of a release twice from one program, MINTMARK_BINARY, and checks them: their contents, and each in a clean environment.
# Installs nothing in the system and writes nothing in the repository. Ends with "N passed, N failed".
set -u
here=$(dirname "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$(dirname "$here")")")
passed=0 failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/mintmark-XXXXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"

# Runs a command with an environment that has no toolchain, no MINTMARK_BINARY and a home of its own.
clean() { env -i HOME="$work/home" TMPDIR="$work/home" PATH="${path:+$path:}/usr/bin:/bin" LC_ALL=C.UTF-8 "$@"; }

test_that() {
    local name=$1 started=$SECONDS
    shift
    if ("$@") >"$work/said" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name ($((SECONDS - started)) s)"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        tail -n 20 "$work/said" | sed 's/^/    /'
    fi
}

# The second set is built in another folder, later and with another umask.
made_twice() {
    local each first
    "$here/../release" --binary "$MINTMARK_BINARY" --output "$work/one" & first=$!
    sleep 1.1   # times in archives are whole seconds
    (umask 077 && "$here/../release" --binary "$MINTMARK_BINARY" --output "$work/and/another") || exit 1
    wait $first || exit 1
    [ "$(find "$work/one" -name 'mintmark*' | wc -l)" -eq 5 ] || { ls "$work/one"; exit 1; }
    for each in "$work"/one/*; do cmp "$each" "$work/and/another/$(basename "$each")" || exit 1; done
}

checksums() {
    (cd "$work/one" && sha256sum -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" -eq 5 ]) && tar xzf "$work"/one/*.tar.gz -C "$work" || exit 1
    cd "$work"/mintmark-*-linux-* && sha256sum -c --quiet SHA256SUMS || exit 1
    [ "$(wc -l <SHA256SUMS)" -eq "$(($(find . -type f | wc -l) - 1))" ]
}

holds() {
    cd "$work"/mintmark-*-linux-* || exit 1
    local each
    for each in README.md DEPENDENCIES schemas/openrpc.json schemas/methods/pool.create.json licences/README.md licences/in-the-program/swift.txt \
        licences/in-the-program/swift-log.txt licences/in-the-program/gcc.txt; do
        [ -s "$each" ] || { echo "there is no $each"; exit 1; }
    done
    ldd mintmark | sed -n 's/^\t\(.*\) => .*/\1/p' | while read -r each; do
        grep -F "\`$each\`" licences/README.md || { echo "there is no licence of $each"; exit 1; }
    done
}

# In a checkout without a build.
of_what_versions() {
    grep -E '^swift-log [0-9.]+ [0-9a-f]{40} https://' "$work"/mintmark-*-linux-*/DEPENDENCIES || exit 1
    mkdir -p "$work/fresh/clients/shell" && cp -r "$here/../release" "$here/../setup.bash" "$here/../packaging" "$work/fresh/clients/shell" && cp -r "$here/../../../schemas" "$work/fresh" || exit 1
    local said
    said=$(SOURCE_DATE_EPOCH=1 "$work/fresh/clients/shell/release" --binary "$MINTMARK_BINARY" --output "$work/none" 2>&1)
    [ $? -eq 69 ] && [[ $said == *"swift package --package-path $work/fresh resolve"* ]] || { echo "$said"; exit 1; }
}

usage() {
    local each
    "$here/../release" --help | grep -F -e --twice || exit 1
    for each in --output --binary --only --nonsense "--binary /nope" "--only rpm"; do
        # shellcheck disable=SC2086
        "$here/../release" $each 2>&1 | grep '^mintmark: .*\(requires a value\|has no option\|the program /nope\|Kinds: archive wheel npm deb\)' || { echo "of $each nothing is said"; exit 1; }
    done
}

runs() {
    cd "$work"/mintmark-*-linux-* || exit 1
    case $PWD in *-"$(./mintmark --version)"-linux-"$(uname -m)") ;; *) echo "another version"; exit 1 ;; esac
    ./mintmark call system.ping --store :memory: | grep now
}

service() { sed -n "s/^ *\"$1\": \"\(.*\)\".*/\1/p" "$root/schemas/service.json"; }
metadata() { unzip -p "$1" '*.dist-info/METADATA' | sed '/^$/q'; }
package_json() { tar xzOf "$1" package/package.json; }

# Version and license expression have one source. The fresh copy has another license and nothing else that is different.
one_source() {
    local version license fresh=$work/relicensed each
    version=$(service version) license=$(service license)
    [ -n "$license" ] || exit 1
    if [ "$license" = LicenseRef-Unpublished ]; then grep -q '^No license has been chosen yet\.' "$root/README.md" || { echo "README.md names a license"; exit 1; }
    else ! grep -q 'No license has been chosen yet' "$root/README.md" || { echo "README.md names no license"; exit 1; }; fi
    metadata "$work"/one/*.whl | grep -x "Version: $version" && metadata "$work"/one/*.whl | grep -x "License-Expression: $license" || exit 1
    for each in "$work"/one/*.tgz; do
        [ "$(package_json "$each" | jq -r '.version + " " + .license')" = "$version $license" ] || { package_json "$each"; exit 1; }
    done
    [ "$(dpkg-deb -f "$work"/one/*.deb Version)" = "$version" ] || exit 1
    dpkg-deb --fsys-tarfile "$work"/one/*.deb | tar xO ./usr/share/doc/mintmark/copyright | grep -F "License: $license." || exit 1

    mkdir -p "$fresh/clients" && cp -r "$root/schemas" "$root/README.md" "$root/Package.resolved" "$fresh" && ln -s "$root/.build" "$fresh/.build" || exit 1
    cp -r "$root/clients/shell" "$root/clients/python" "$root/clients/node" "$root/clients/ruby" "$fresh/clients" || exit 1
    sed -i "s/$license/MIT-0/" "$fresh/schemas/service.json"
    SOURCE_DATE_EPOCH=1 "$fresh/clients/shell/release" --only wheel --only npm --binary "$MINTMARK_BINARY" --output "$work/other" || exit 1
    metadata "$work"/other/*.whl | grep -x 'License-Expression: MIT-0' || exit 1
    for each in "$work"/other/*.tgz; do package_json "$each" | jq -e '.license == "MIT-0"' || exit 1; done
    ! command -v ruby || [ "$(cd "$fresh/clients/ruby" && ruby -e 'puts Gem::Specification.load("mintmark.gemspec").license')" = MIT-0 ] || exit 1
    ! grep -rIl --exclude-dir=.build --exclude-dir=tests "$license" "$fresh" | grep -v -e debian.bash || exit 1
}

# The programs that mint a token, verify it and print the program that they used.
python_program='
import mintmark, sys
with mintmark.Mintmark(store=":memory:") as m:
    pool = m.pool.create(name="shop", developer_provider="login.shop")
    minted = m.token.mint_for_developer(pool_id=pool.pool_id, logins={"login.shop": "alice"})
    assert m.token.verify(token=minted.token, audience=pool.pool_id).claims["sub"] == minted.identity_id
    print(m.binary)
'
node_program='
import { Mintmark } from "mintmark";
const m = await Mintmark.start({ store: ":memory:" });
const { poolId } = await m.pool.create({ name: "shop", developerProvider: "login.shop" });
const { token, identityId } = await m.token.mintForDeveloper({ poolId, logins: { "login.shop": "alice" } });
const { claims } = await m.token.verify({ token, audience: poolId });
if (claims.sub !== identityId) throw new Error("another identity");
console.log("verified");
await m.close();
'
# mints COMMAND…: the same with the program itself.
mints() {
    local pool token subject store=$work/home/shop.db
    rm -f "$store"*
    pool=$("$@" call pool.create '{"name": "shop", "developerProvider": "login.shop"}' --store "$store" | jq -r .poolId) &&
        token=$("$@" call token.mintForDeveloper "{\"poolId\": \"$pool\", \"logins\": {\"login.shop\": \"alice\"}}" --store "$store" | jq -r .token) &&
        subject=$("$@" call token.verify "{\"audience\": \"$pool\", \"token\": \"$token\"}" --store "$store" | jq -r .claims.sub) && [[ $subject == *:* ]]
}

# A `mintmark` on the PATH that is not the packaged one.
decoy() { mkdir -p "$work/decoy" && printf '#!/bin/sh\necho decoy\nexit 9\n' >"$work/decoy/mintmark" && chmod 755 "$work/decoy/mintmark"; }

# Sets `ticks` to the processor time of the commands that this shell waited for.
read_ticks() {
    local fields
    read -ra fields <"/proc/$BASHPID/stat"
    ticks=$((fields[15] + fields[16]))
}
# is_quick STARTED NAME: the commands since STARTED, an earlier value of `ticks`, took less than 10 s of processor time.
is_quick() {
    read_ticks
    local seconds=$(((ticks - $1) / $(getconf CLK_TCK)))
    echo "from $2 to a verified token: $seconds s of processor time"
    [ "$seconds" -lt 10 ]
}

wheel_works() {
    local path started used ticks environment=$work/python
    clean python3 -m venv "$environment" || exit 1
    read_ticks; started=$ticks
    clean "$environment/bin/pip" install --quiet --disable-pip-version-check --no-index --no-cache-dir "$work"/one/*.whl || exit 1
    decoy
    path=$work/decoy
    used=$(cd "$work/home" && clean "$environment/bin/python" -c "$python_program") || exit 1
    is_quick "$started" "pip install" || exit 1
    [[ $used == "$environment"/lib/*/mintmark/_program/mintmark ]] || { echo "the client used $used"; exit 1; }
    path=$environment/bin
    [ "$(clean mintmark --version)" = "$(service version)" ] && clean mintmark demo | tail -n 1 && mints clean mintmark || exit 1
    clean mintmark call no.such --store :memory: 2>/dev/null
    [ $? -eq 1 ] || { echo "the command loses the exit code"; exit 1; }
    # The environment variable and the option take precedence.
    used=$(clean env MINTMARK_BINARY="$MINTMARK_BINARY" "$environment/bin/python" -c "$python_program") && [ "$used" = "$(realpath -s "$MINTMARK_BINARY")" ] || exit 1
    clean "$environment/bin/python" -c 'import mintmark; mintmark.Mintmark(store=":memory:", binary="/nowhere/mintmark")' 2>&1 | grep /nowhere/mintmark || exit 1
    # The error of the client for a program that the system cannot load has the launcher's sentence, without the question for the right program.
    mkdir -p "$work/no-openssl" && : >"$work/no-openssl/libcrypto.so.3" || exit 1
    clean "$environment/bin/python" -c "import mintmark
mintmark.Mintmark(store=':memory:', stderr=None, environment={'LD_LIBRARY_PATH': '$work/no-openssl'}).system.ping()" >"$work/said.python" 2>&1
    grep 'ProcessEndedError: .* ended with status 69 .*install the Debian package libssl3' "$work/said.python" && ! grep 'right program' "$work/said.python" || { cat "$work/said.python"; exit 1; }
    # With pip install --target, for a folder that is no environment.
    clean "$environment/bin/pip" install --quiet --disable-pip-version-check --no-index --no-cache-dir --target "$work/target" "$work"/one/*.whl || exit 1
    [ "$(clean "$work/target/bin/mintmark" --version)" = "$(service version)" ] || exit 1
    clean "$environment/bin/pip" uninstall --quiet --yes mintmark && [ ! -e "$environment/bin/mintmark" ] || exit 1
    [ -z "$(find "$environment"/lib/*/site-packages -name 'mintmark*')" ]
}

# The tag of the wheel is what auditwheel derives from the symbols. Its other rule, that a wheel contains its libraries, is not followed: OpenSSL and
# SQLite get their updates from the system.
wheel_tag() {
    local auditwheel=$root/.build/auditwheel/bin/auditwheel tag
    [ -x "$auditwheel" ] || { echo "skipped: no auditwheel"; exit 0; }
    tag=$("$auditwheel" show "$work"/one/*.whl | tr '\n' ' ' | sed -n 's/.*constrains the platform tag to "\([^"]*\)".*/\1/p')
    [ -n "$tag" ] && [[ $(basename "$work"/one/*.whl) == *-py3-none-"$tag".whl ]] || { echo "auditwheel: $tag"; exit 1; }
}

npm_works() {
    local folder=$work/node path started ticks
    mkdir -p "$folder" && cd "$folder" || exit 1
    read_ticks; started=$ticks
    clean npm install --offline --no-audit --no-fund --no-update-notifier --cache "$work/npm-cache" "$work"/one/*.tgz || exit 1
    decoy
    path=$work/decoy
    echo "$node_program" >shop.mjs
    [ "$(clean node shop.mjs)" = verified ] && is_quick "$started" "npm install" || exit 1
    echo 'import { Mintmark } from "mintmark"; new Mintmark({ store: ":memory:", binary: "/nowhere/mintmark" }).system.ping().catch((e) => console.log(e.message));' >wrong.mjs
    clean node wrong.mjs | grep '/nowhere/mintmark.*MINTMARK_BINARY' || exit 1
    clean env MINTMARK_BINARY="$work/decoy/mintmark" node shop.mjs 2>&1 | grep 'decoy/mintmark' || exit 1
    path=""
    [ "$(clean npx --offline --no-update-notifier --cache "$work/npm-cache" mintmark --version)" = "$(service version)" ] || exit 1
    mints clean node_modules/.bin/mintmark || exit 1
    # Without the package for this system.
    rm -rf node_modules/@mintmark
    clean node shop.mjs 2>&1 | grep 'Install the npm package @mintmark/linux-' || exit 1
    clean node_modules/.bin/mintmark --version 2>"$work/said.npm"
    [ $? -eq 69 ] && grep '^mintmark: The npm package @mintmark/linux-.* is not installed' "$work/said.npm" && [ "$(wc -l <"$work/said.npm")" -eq 1 ]
}

# Another root folder with the system's list of packages: dpkg checks the dependencies, and this system does not change.
debian_root() {
    mkdir -p "$1"/var/lib/dpkg/{info,updates,triggers} || exit 1
    if [ -n "${2:-}" ]; then cp "$2" "$1/var/lib/dpkg/status"; else : >"$1/var/lib/dpkg/status"; fi
}
in_root() { PATH=$PATH:/usr/sbin:/sbin LC_ALL=C dpkg --root="$1" --force-not-root --log=/dev/null "${@:2}"; }

deb_works() {
    local folder=$work/debian path each depends page started ticks
    depends=$(dpkg-deb -f "$work"/one/*.deb Depends)
    for each in libc6 libsqlite3-0 libssl3; do [[ ", $depends" == *", $each"* ]] || { echo "Depends: $depends"; exit 1; }; done
    dpkg-deb -f "$work"/one/*.deb Recommends | grep 'libcurl4, libpq5' || exit 1
    # Without the libraries, dpkg names the packages.
    debian_root "$work/empty"
    in_root "$work/empty" -i "$work"/one/*.deb 2>&1 | grep 'Package libssl3 is not installed' || exit 1
    debian_root "$folder" /var/lib/dpkg/status
    read_ticks; started=$ticks
    in_root "$folder" -i "$work"/one/*.deb 2>"$work/said.dpkg" || { grep -v 'files list file' "$work/said.dpkg"; exit 1; }
    path=$folder/usr/bin
    mints clean mintmark && is_quick "$started" "dpkg -i" || exit 1
    [ "$(clean mintmark --version)" = "$(service version)" ] || exit 1
    bash -n "$folder/usr/share/bash-completion/completions/mintmark" && grep '^#compdef mintmark' "$folder/usr/share/zsh/vendor-completions/_mintmark" &&
        grep 'complete.*mintmark' "$folder/usr/share/fish/vendor_completions.d/mintmark.fish" | head -n 1 || exit 1
    (cd "$folder" && md5sum --quiet -c "$folder/var/lib/dpkg/info/mintmark.md5sums") || exit 1
    for page in mintmark mintmark-call mintmark-run; do zcat "$folder/usr/share/man/man1/$page.1.gz" | grep '^\.TH' || exit 1; done
    in_root "$folder" --purge mintmark 2>"$work/said.dpkg" || { grep -v 'files list file' "$work/said.dpkg"; exit 1; }
    [ -z "$(find "$folder" -path "$folder/var/lib/dpkg" -prune -o -type f -print)" ]
}

deb_is_clean() {
    command -v lintian || { echo "skipped: no lintian"; exit 0; }
    TMPDIR=$work lintian --fail-on error --allow-root "$work"/one/*.deb
}

# says TEXT COMMAND…: the command fails with 69 and one line on standard error that contains the text.
says() {
    local text=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 69 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ] && grep -F -e "$text" "$work/err" || { echo "not \"$text\":"; cat "$work/out" "$work/err"; exit 1; }
}

# The program in a copy of the package is changed so that it needs a library, a version, a loader or a machine that does not exist.
loader() {
    local folder=$work/loader original name
    mkdir -p "$folder" && tar xzf "$work"/one/mintmark-linux-*.tgz -C "$folder" || exit 1
    cd "$folder/package" && original=$work/loader/original && cp bin/mintmark "$original" || exit 1
    altered() { LC_ALL=C sed "$1" "$original" >bin/mintmark; }
    altered 's/libsqlite3\.so\.0/libsqlite3.so.9/'
    says 'libsqlite3.so.9 cannot be loaded; install the Debian package libsqlite3-0.' "$PWD/mintmark" --version
    altered 's/libcrypto\.so\.3/libcrypto.so.9/'
    says 'libcrypto.so.9 cannot be loaded; install the Debian package libssl3.' "$PWD/mintmark" --version
    altered 's/GLIBC_2\.34/GLIBC_9.34/g'
    says 'of this system is too old (GLIBC 9.34 is required); upgrade the Debian package libc6.' "$PWD/mintmark" --version
    altered 's/ld-linux/ld-nixux/g'
    says 'needs the GNU C library (Debian package libc6)' "$PWD/mintmark" --version
    sed -i "s/Linux $(uname -m)/Linux vax/; s/Linux on $(uname -m)/Linux on vax/" mintmark
    says "contains a program for Linux on vax, and this system is Linux on $(uname -m)" "$PWD/mintmark" --version
    # Every linked library has the name of its package.
    tar xzf "$work"/one/mintmark-linux-*.tgz -C "$folder" || exit 1
    objdump -p "$original" | sed -n 's/^ *NEEDED *//p' | grep -v '^ld-linux' | while read -r name; do
        case $name in libc.so.* | libm.so.*) continue ;; esac   # the launcher's shell needs them too
        rm -rf "$work/broken" && mkdir "$work/broken" && : >"$work/broken/$name" || exit 1
        says "$name cannot be loaded; install the Debian package lib" env LD_LIBRARY_PATH="$work/broken" "$PWD/mintmark" --version || exit 1
    done || exit 1
}

# Libraries that the program loads when it needs them.
loaded_later() {
    local broken=$work/later
    mkdir -p "$broken" && : >"$broken/libcurl.so.4" && : >"$broken/libpq.so.5" || exit 1
    clean env LD_LIBRARY_PATH="$broken" "$MINTMARK_BINARY" doctor --store :memory: | grep 'apt-get install libcurl4' || exit 1
    clean env LD_LIBRARY_PATH="$broken" MINTMARK_MASTER_KEY="$(printf '%064d' 0)" "$MINTMARK_BINARY" call system.info --store postgres://localhost/nothing 2>&1 |
        grep 'Debian package libpq5'
}

repository_unchanged() {
    local changed
    changed=$(find "$root" \( -path "$root/.build*" -o -path "$root/.git" \) -prune -o -newer "$work/started" -type f -print)
    [ -z "$changed" ] || { echo "$changed"; exit 1; }
}
touch "$work/started"

test_that "two sets of packages of the same program are identical" made_twice
test_that "the checksums are correct and cover every file" checksums
test_that "the archive contains the schemas and the licenses of all linked libraries" holds
test_that "the program in the archive runs" runs
test_that "the archive lists dependency versions, or the build explains how to resolve them" of_what_versions
test_that "invalid options fail with a message" usage
test_that "version and license expression come from schemas/service.json" one_source
test_that "the wheel installs in an empty environment and mints a token in 10 s of processor time" wheel_works
test_that "the tag of the wheel names the glibc that auditwheel finds" wheel_tag
test_that "the npm packages install offline in an empty folder and mint a token in 10 s of processor time" npm_works
test_that "the Debian package installs, mints a token in 10 s of processor time and is removed without a trace" deb_works
test_that "lintian finds no errors in the Debian package" deb_is_clean
test_that "a library, loader or machine that is missing is reported in one sentence" loader
test_that "a missing libcurl or libpq is reported with its Debian package" loaded_later
test_that "nothing is written into the repository" repository_unchanged
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
