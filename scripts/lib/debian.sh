# Debian's packages, unpacked and not installed: the host stays as it is. Sourced by scripts that fetch things; they
# have `fail WHAT FOUND TRY`, which ends them.

# FOLDER RELEASE PACKAGES: unpacks the packages of that Debian release into the folder. They are fetched by apt under a
# configuration of its own, beside the folder.
debian_unpack() {
    local folder=$1 release=$2 scratch program package mirror options
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    shift 2
    for program in apt-get dpkg; do
        command -v "$program" >/dev/null || fail "it is taken from Debian's packages" "no $program on PATH" \
            "on a Debian or Ubuntu host"
    done
    # The Debian mirror that the host's own apt uses.
    mirror=$(apt-get update --print-uris 2>/dev/null | sed -nE "s#^'([^']*/debian)/dists/.*#\1#p" | sort -u | head -1)
    [[ -n $mirror ]] || fail "the host's apt knows no Debian mirror" "$(apt-get update --print-uris 2>&1 | head -1)" \
        "a Debian mirror in /etc/apt/sources.list"
    scratch=$(mktemp -d "$folder.apt.XXXXXX")
    options="arch=$(dpkg --print-architecture) targets=Packages"
    [[ ! -e $keyring ]] || options+=" signed-by=$keyring"
    mkdir -p "$scratch/lists/partial" "$scratch/archives/partial" "$scratch/packages" "$folder"
    echo "deb [$options] $mirror $release main" >"$scratch/sources.list"
    # What the host has installed, perhaps newer, is no matter.
    : >"$scratch/status"
    local apt=(apt-get -o Dir::State::status="$scratch/status" -o Dir::State::lists="$scratch/lists" -o Dir::Cache="$scratch"
        -o Dir::Etc::sourcelist="$scratch/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=
        -o Acquire::Retries=3 -o APT::Update::Error-Mode=any -q)
    "${apt[@]}" update >"$scratch/log" 2>&1 ||
        fail "apt can't read Debian's list of packages for $release" "$(tail -3 "$scratch/log")" "apt-get update, by hand"
    (cd "$scratch/packages" && "${apt[@]}" download "$@") >"$scratch/log" 2>&1 ||
        fail "apt-get could not download $* of $release" "$(tail -3 "$scratch/log")" "apt-get download, by hand"
    for package in "$scratch"/packages/*.deb; do
        dpkg -x "$package" "$folder"
    done
    rm -rf -- "$scratch"
}
