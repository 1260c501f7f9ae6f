# shellcheck shell=bash
# A memory cgroup whose memory can be reclaimed on demand. Sourced by `run`, which has `say`, `fail`, $name, $work and
# $unavailable. Whatever hierarchy has the memory controller decides between v1 and v2; what has to be mounted or
# enabled for it is undone.
# shellcheck disable=SC2154 # the variables named above

cgroup='' reclaim_file='' enabled_memory_in='' mounted=''

make_cgroup() {
    local v1='' v2='' target type options
    while read -r _ target type options _; do
        [[ $type != cgroup || ,$options, != *,memory,* ]] || v1=${v1:-$target}
        [[ $type != cgroup2 ]] || ! grep -qw memory "$target/cgroup.controllers" || v2=${v2:-$target}
    done </proc/self/mounts
    if [[ -z $v1$v2 ]]; then
        mkdir "$work/cgroup"
        if mount -t cgroup -o memory none "$work/cgroup" 2>/dev/null; then
            mounted=$work/cgroup v1=$mounted
        elif mount -t cgroup2 none "$work/cgroup" 2>/dev/null; then
            mounted=$work/cgroup
            ! grep -qw memory "$mounted/cgroup.controllers" || v2=$mounted
        fi
    fi
    [[ -n $v1$v2 ]] ||
        fail "$unavailable" "the kernel's memory controller can't be had" \
            "$(grep '^memory' /proc/cgroups 2>/dev/null || echo 'none in /proc/cgroups')" \
            "booting with cgroup_enable=memory on the kernel's command line"

    if [[ -z $v1 ]] && ! grep -qw memory "$v2/cgroup.subtree_control"; then
        echo +memory >"$v2/cgroup.subtree_control" || true # the file that is looked for below tells
        enabled_memory_in=$v2
    fi
    cgroup=${v1:-$v2}/$name-$$
    mkdir "$cgroup" 2>"$work/mkdir" || {
        cgroup=''
        fail "$unavailable" "a memory cgroup can't be made" "$(<"$work/mkdir")" "the same outside a container"
    }
    if [[ -n $v1 ]]; then
        reclaim_file=$cgroup/memory.force_empty
        echo 100 >"$cgroup/memory.swappiness" 2>/dev/null || true # the system's own may be 0
    else
        reclaim_file=$cgroup/memory.reclaim
    fi
    [[ -e $reclaim_file ]] ||
        fail "$unavailable" "this kernel can't be told to reclaim a cgroup" "no $reclaim_file in $(uname -r)" "Linux 5.19 or later"
}

# Moves out all that will go. Less than was asked for is an error to the kernel, and none here: what counts is how
# much is in swap afterwards.
reclaim_cgroup() {
    if [[ $reclaim_file == *force_empty ]]; then
        echo 0 >"$reclaim_file" 2>/dev/null || true
    else
        cat "$cgroup/memory.current" >"$reclaim_file" 2>/dev/null || true
    fi
}

remove_cgroup() {
    local tries=50
    if [[ -n $cgroup ]]; then
        # A moment passes between a process's end and its leaving the group.
        until rmdir "$cgroup" 2>/dev/null || [[ ! -d $cgroup ]]; do
            ((tries-- > 0)) || { say "the cgroup stays behind; try: rmdir $cgroup" && break; }
            sleep 0.1
        done
    fi
    # Not while another run's group would lose its controller.
    if [[ -n $enabled_memory_in ]] && ! compgen -G "$enabled_memory_in/$name-*" >/dev/null; then
        echo -memory >"$enabled_memory_in/cgroup.subtree_control"
    fi
    [[ -z $mounted ]] || umount "$mounted"
}
