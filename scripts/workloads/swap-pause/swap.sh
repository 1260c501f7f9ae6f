# shellcheck shell=bash
# Swap space: what is on already, or a file of this run's own. Sourced by `run`, which has `say`, `fail`, $name, $work
# and $unavailable.
# shellcheck disable=SC2154 # the variables named above

swap_file='' swap_folder=''

# Free space, in MiB, in swap areas that are no other run's: those go away when that run ends.
free_swap_mib() {
    awk -v mine="/$name-swap." 'NR > 1 && !index($1, mine) { free += $3 - $4 } END { print int(free / 1024) }' /proc/swaps
}

# MIB: that much swap is on when this returns.
make_swap() {
    local folder
    if (($(free_swap_mib) >= $1)); then
        say "using the swap that is on"
        return
    fi
    : >"$work/swap"
    for folder in "${TMPDIR:-/tmp}" /var/tmp "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}" /; do
        make_swap_file "$folder" "$1" || continue
        say "made a swap file of $1 MiB: $swap_file"
        return
    done
    fail "$unavailable" "no swap file of $1 MiB can be switched on" \
        "$(tail -1 "$work/swap" | grep . || echo 'no folder on a disk')" "TMPDIR=/folder/on/a/disk, or swap of your own"
}

# FOLDER, MIB: makes a swap file there and switches it on. False if that can't be; nothing is left then.
make_swap_file() {
    local how
    [[ -d $1 && -w $1 ]] || return 1
    case $(stat -f -c %T "$1") in tmpfs | ramfs | overlayfs) return 1 ;; esac
    if (($(df --output=avail -k "$1" | tail -1) / 1024 < $2 + 256)); then
        echo "$1 has too little room" >>"$work/swap"
        return 1
    fi
    # Allocating is quick, but not every file system's allocated space is good enough for swap; written space is.
    for how in fallocate dd; do
        swap_folder=$(mktemp -d "$1/$name-swap.XXXXXX")
        swap_file=$swap_folder/file
        if {
            touch "$swap_file" && chmod 600 "$swap_file"
            chattr +C "$swap_file" 2>/dev/null || true # btrfs wants it so; others don't know it
            case $how in
            fallocate) fallocate -l "$2M" "$swap_file" ;;
            dd) dd if=/dev/zero of="$swap_file" bs=1M count="$2" status=none ;;
            esac && mkswap "$swap_file" && swapon "$swap_file"
        } >>"$work/swap" 2>&1; then
            return 0
        fi
        rm -rf -- "$swap_folder"
        swap_folder='' swap_file=''
    done
    return 1
}

# Switches off this run's own file, never another area: its full path is looked for in the list.
remove_swap() {
    [[ -n $swap_folder ]] || return 0
    if grep -qF "$swap_file " /proc/swaps && ! swapoff "$swap_file"; then
        say "the swap file stays on; try: swapoff $swap_file && rm -r $swap_folder"
        return
    fi
    rm -rf -- "$swap_folder"
}
