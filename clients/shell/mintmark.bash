# Mintmark from bash 5: `source mintmark.bash`, then call mintmark_start, mintmark_call and the other functions; see README.md.
# Any number of subshells and background jobs may share one process; lib/keeper.bash describes how.
# shellcheck shell=bash

# This part must be valid in other shells, too.
if [ -z "${BASH_VERSION:-}" ] || [ "${BASH_VERSION%%.*}" -lt 5 ]; then
    echo "mintmark: mintmark.bash needs bash 5.0 or newer; this is ${BASH_VERSION:-another shell}." >&2
    # The rest of the script must not run.
    # shellcheck disable=SC2317
    return 64 2>/dev/null || exit 64
fi

_mintmark_home=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")" >/dev/null && pwd) || return
for _mintmark_part in generated/contract lib/json lib/errors lib/keeper lib/generation lib/start lib/calls lib/provider lib/idp lib/completion; do
    # shellcheck source=/dev/null
    source "$_mintmark_home/$_mintmark_part.bash" || return
done
unset _mintmark_part
