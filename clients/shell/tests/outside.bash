# Tests of external faults, for all.bash: names that contain code, programs that are not Mintmark, removed folders.
# shellcheck shell=bash disable=SC2154,SC2317,SC2016,SC2034

names_are_no_code() {
    local evil='x[$(touch made)]' each
    mintmark_testing --log /dev/null
    for each in "mintmark_await" "mintmark_await --timeout" "mintmark_call --timeout" "mintmark_cancel" "mintmark_begin -v" "mintmark_call --as" \
        "mintmark_begin --as" "mintmark_stop --grace" "mintmark_stop --as" "mintmark_start --as" "mintmark_start --store :memory: --as" \
        "mintmark_start --store a --max-line" "mintmark_start --store a --timeout" "mintmark_error --as" "mintmark_failed" "mintmark_failed --as" \
        "mintmark_provider_get" "mintmark_provider_set_logins" "mintmark_provider_close" "mintmark_provider_clear_keychain" \
        "mintmark_provider_clear_credentials" "mintmark_provider_identity_id" "mintmark_provider_open" "mintmark_notifications --as" "mintmark_call"; do
        # shellcheck disable=SC2086
        for more in "" "system.ping" "poolId=a b=c"; do $each "$evil" $more; done
    done
    mintmark_call pool.create "$evil=1" "name[$evil]=1" "$evil:=1"
    mintmark_begin -v 'x[evil]' system.ping
    is $? 64
    mintmark_stop
    mintmark_call "$evil"
    [[ ! -e made ]]
}

# Sends requests around the tick of the keeper's clock.
none_is_lost() {
    mintmark_testing --log /dev/null
    local pause delay
    mkfifo still; exec {pause}<>still || exit 1
    for delay in 0.9970 0.9975 0.9980 0.9985 0.9990 0.9995; do
        IFS= read -r -t "$delay" -u "$pause"
        mintmark_call --timeout 30 system.ping || exit 1
    done
    mintmark_stop
}

without_standard_error() {
    is "$(script 'mintmark_testing --log /dev/null; exec 2>&-; mintmark_call no.such; echo $?; mintmark_call pool.list; mintmark_testing --as b; mintmark_call --as b pool.list' | tr '\n' ' ')" \
        '1 {"pools":[]} {"pools":[]} '
}

removed_folder() {
    mintmark_testing --log /dev/null
    local program keeper
    program=$(program_of) keeper=$(<"${_mintmark_folder[default]}/keeper")
    rm -rf "${_mintmark_folder[default]}"
    until_true eval "! _mintmark_lives $program && ! _mintmark_lives $keeper"
    mintmark_call system.ping
    is $? 75
    mintmark_stop
    mintmark_testing --log /dev/null && mintmark_call system.ping || exit 1
    mintmark_stop
}

other_shells() {
    local said
    said=$(sh -c '. "$SHELL_CLIENT"; echo not reached' 2>&1)
    [[ $said == *"needs bash 5.0"* || -n $(sh -c 'echo "${BASH_VERSION:-}"') ]] || { echo "$said"; exit 1; }
}

# A program that sends the configured response, and a program that echoes its input.
strange_answers() {
    local answer each=0
    printf '#!/bin/bash\nread -r _; echo %q\nwhile read -r line; do id=${line#*\\"id\\":\\"} id=${id%%%%\\"*}; printf "${ANSWER//ID/$id}\\n"; done\n' \
        '{"jsonrpc":"2.0","id":"0","result":{"version":"999.0.0"}}' >stranger
    chmod +x stranger
    printf '#!/bin/sh\nexec cat\n' >parrot
    chmod +x parrot
    mintmark_start --store :memory: --binary ./parrot --log /dev/null
    is $? 71
    for answer in '{"jsonrpc":"2.0","id":"ID"}' '{"jsonrpc":"2.0","id":"ID","result":1,"error":{"code":1,"message":"m"}}' \
        '{"jsonrpc":"2.0","id":"ID","error":"no"}' '{"jsonrpc":"2.0","id":"ID","method":"system.ping","params":{}}'; do
        ANSWER=$answer mintmark_start --as "s$((++each))" --store shop.db --binary ./stranger --log /dev/null || exit 1
        mintmark_call --as "s$each" system.ping
        is $? 71
        mintmark_stop --as "s$each"
    done
    ANSWER='{"id":"ID","result":null,"jsonrpc":"2.0"}' mintmark_start --store shop.db --binary ./stranger --log /dev/null
    is "$(mintmark_call system.ping)" null
    mintmark_stop
}

starts_anew_after_garbage() {
    printf '#!/bin/bash\nif [[ -e once ]]; then exec %q "$@"; fi\n: >once; read -r _; echo %q; read -r _; echo nonsense; sleep 600\n' "$MINTMARK_BINARY" \
        '{"jsonrpc":"2.0","id":"0","result":{"version":"999.0.0"}}' >spoilt
    chmod +x spoilt
    mintmark_start --store anew.db --binary ./spoilt --log /dev/null || exit 1
    mintmark_call system.ping
    is $? 71
    mintmark_call system.ping || exit 1
    mintmark_stop
}

# Runs a separate script with a time limit of a minute, so that a hang fails the test.
in_time() { timeout --foreground 60 bash -c "source \"\$SHELL_CLIENT\"; $1"; }

process_that_does_not_read() {
    local script dead
    in_time 'mintmark_testing --log /dev/null; cp "${_mintmark_folder[default]}/program" dead
        kill -STOP "$(<dead)"; printf -v long "%0200000d" 0; mintmark_begin pool.create name="$long"; kill -KILL "$BASHPID"' &
    script=$!
    in_time 'mintmark_testing --log /dev/null; cp "${_mintmark_folder[default]}/program" stopped
        kill -STOP "$(<stopped)"; printf -v long "%0200000d" 0; mintmark_begin -v call pool.create name="$long"
        mintmark_stop --grace 0.5; mintmark_await "$call"' 2>said
    is $? 75
    grep -F "stopped before" said || { cat said; exit 1; }
    ! _mintmark_lives "$(<stopped)" || exit 1
    wait "$script"
    dead=$(<dead)
    until_true eval "! _mintmark_lives $dead"
    until_true eval '[[ -z $(ls -d mintmark-* 2>/dev/null) ]]'
}

hung_up_terminal() {
    setsid -w bash -c 'source "$SHELL_CLIENT"; trap : HUP; mintmark_testing --log /dev/null; kill -HUP 0; kill -KILL "$BASHPID"'
    until_true eval '[[ -z $(ls -d mintmark-* 2>/dev/null) ]]'
}

two_builds_at_once() {
    local second lock
    mkdir -p root/Sources root/.build
    touch root/Package.swift root/.build/mintmark
    exec {lock}>root/.build/mintmark.lock
    flock "$lock"
    (
        exec {lock}>&-
        source "${SHELL_CLIENT%/*}/setup.bash"
        build_release "$PWD/root" "$PWD/root/.build/mintmark"
        exec sleep 600
    ) 2>waits &
    second=$!
    until_true grep -q "waiting for it" waits
    exec {lock}>&-
    # Waits until the process has become the built program.
    until_true eval '[[ $(tr "\0" " " <"/proc/$second/cmdline") == "sleep 600 " ]]'
    flock -n root/.build/mintmark.lock true || { echo "the lock is kept"; kill "$second"; exit 1; }
    kill "$second"
}

signals_after_a_call() {
    mintmark_testing --log /dev/null
    local job hold
    mkfifo goes_on
    exec {hold}<>goes_on
    (
        exec {hold}>&-
        mintmark_call system.ping
        cat goes_on >"$work/told"
    ) &
    job=$!
    echo now >&"$hold"
    until_true test -s "$work/told"
    # With a trap, the shell would wait for the end of cat.
    kill "$job"
    until_true eval "! _mintmark_lives $job"
    wait "$job"
    is $? 143
    exec {hold}>&-
    mintmark_stop
}

whose_error() {
    mintmark_testing --log /dev/null
    mintmark_call pool.get poolId=nothing
    mintmark_failed invalidParams || { mintmark_error; exit 1; }
    mintmark_await nothing
    mintmark_failed refused || { echo "an id that is none is another call's error"; mintmark_error; exit 1; }
    mintmark_call pool.get poolId=nothing
    mintmark_begin -v rest system.ping
    mintmark_failed refused || { echo "a variable that is none is another call's error"; exit 1; }
    mintmark_stop
}

full_folder() {
    mintmark_testing --log /dev/null
    local folder=${_mintmark_folder[default]} call long
    printf -v long "%0200000d" 0
    # Simulates a full disk: the file exists but cannot be written.
    kill -STOP "$(program_of)"
    mintmark_begin -v call system.ping || exit 1
    ln -sf /dev/full "$folder/call.$call"
    kill -CONT "$(program_of)"
    # Reading this file would return zeros without end.
    until_true eval '[[ ! -L $folder/call.$call ]]'
    mintmark_await --timeout 50 "$call"
    is $? 75
    (
        ulimit -f 100
        trap "" XFSZ
        mintmark_call --timeout 50 pool.create name="$long"
        exit $?
    )
    is $? 64
    mintmark_error .message | grep -F "is full" || exit 1
    mintmark_stop
}

no_pipe() {
    mintmark_start --store shop.db --log /dev/null
    local folder=${_mintmark_folder[default]}
    rm "$folder/answers"
    mkdir "$folder/answers"
    kill -KILL "$(program_of)"
    until_true eval '! mintmark_call --timeout 50 system.ping && mintmark_error .message | grep -F "A pipe cannot be created"'
    rmdir "$folder/answers"
    mintmark_call --timeout 50 system.ping
    mintmark_stop
}

process_with_a_child() {
    printf '#!/bin/sh\necho $$ >wrapper\nsleep 600 & echo $! >child\nwait\n' >wrapped
    chmod +x wrapped
    in_time 'mintmark_start --store :memory: --binary ./wrapped --timeout 0.5 --log /dev/null' 2>said
    is $? 124
    grep -F "did not respond" said || { cat said; exit 1; }
    _mintmark_lives "$(<child)" || { echo "its child ended by itself"; exit 1; }
    kill "$(<child)"
    ! _mintmark_lives "$(<wrapper)" || exit 1
    until_true eval '[[ -z $(ls -d mintmark-* 2>/dev/null) ]]'
}

# A delayed keeper receives ticks of the clock before the final message of the reader.
held_up_keeper() {
    mintmark_testing --log /dev/null
    local folder=${_mintmark_folder[default]}
    kill -STOP "$(<"$folder/keeper")"
    sleep 2
    kill -KILL "$(program_of)"
    until_true test -s "$folder/failure"
    sleep 0.5
    kill -CONT "$(<"$folder/keeper")"
    mintmark_call system.ping
    mintmark_error .message | grep -F SIGKILL || exit 1
    mintmark_stop
}
