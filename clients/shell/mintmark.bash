# Mintmark from bash 5: `source mintmark.bash`, then mintmark_start, mintmark_call and the rest; README.md beside this file tells of them.
# Any number of subshells and background jobs may share one process: how, stands in lib/keeper.bash.
# shellcheck shell=bash

# Other shells get as far as this, and read nothing that only bash knows.
if [ -z "${BASH_VERSION:-}" ] || [ "${BASH_VERSION%%.*}" -lt 5 ]; then
    echo "mintmark: mintmark.bash needs bash 5.0 or newer; this is ${BASH_VERSION:-another shell}." >&2
    # Whatever comes after it in the script must not run.
    # shellcheck disable=SC2317
    return 64 2>/dev/null || exit 64
fi

_mintmark_home=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")" >/dev/null && pwd) || return
for _mintmark_part in generated/contract lib/json lib/errors lib/keeper lib/generation lib/start lib/calls lib/provider lib/completion; do
    # shellcheck source=/dev/null
    source "$_mintmark_home/$_mintmark_part.bash" || return
done
unset _mintmark_part
