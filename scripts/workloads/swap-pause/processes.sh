# shellcheck shell=bash
# Ending processes and waiting for them, each by its id and with a limit. Sourced by `run`, which has `say`.
# (The shell reaps its own children as soon as they end, so a process that is only waited for counts as gone.)

running() { [[ -n $1 ]] && kill -0 "$1" 2>/dev/null; }

# PID, SECONDS: whether it was gone by then.
gone_within() {
    local tenths=$(($2 * 10))
    while running "$1"; do
        ((tenths-- > 0)) || return 1
        sleep 0.1
    done
}

# PID: ends it, gently if that works.
end() {
    running "$1" || return 0
    kill -TERM "$1" 2>/dev/null || true
    gone_within "$1" 10 || kill -KILL "$1" 2>/dev/null || true
    gone_within "$1" 5 || say "process $1 does not end; try: kill -KILL $1"
}
