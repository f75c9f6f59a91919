# Shared by ./run, ./test and the scripts: prints messages, installs missing packages, builds a
# preset.
# shellcheck shell=bash

jobs=${SPOOL_JOBS:-$(nproc)}

say() { printf '==> %s\n' "$*"; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# have <Debian package>: whether the package's contents are present, from the package manager or
# not.
have() {
    case $1 in
        ninja-build) command -v ninja ;;
        openjdk-*) command -v javac ;;
        llvm-19) command -v llvm-symbolizer-19 ;;
        lld-19) command -v ld.lld-19 ;;
        prometheus) command -v promtool ;;
        python3-prometheus-client) /usr/bin/python3 -c "import prometheus_client" ;;
        googletest) [[ -d /usr/src/googletest ]] ;;
        *-dev) dpkg -s "$1" 2>&1 | grep -q '^Status: install ok installed' ;;
        *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

# need_packages <Debian package>...: installs the missing packages. Does nothing if none is missing.
need_packages() {
    local package missing=()
    for package in "$@"; do
        have "$package" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0

    command -v apt-get >/dev/null || die "missing: ${missing[*]} (no apt-get here: install them yourself)"
    ((EUID == 0)) || die "missing: ${missing[*]} (run this as root, or: sudo apt-get install ${missing[*]})"
    say "installing ${missing[*]}"
    mkdir -p build
    {
        apt-get -q -o DPkg::Lock::Timeout=600 update &&
            DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 install -y --no-install-recommends \
                "${missing[@]}"
    } >build/install.log 2>&1 </dev/null || {
        tail -n 20 build/install.log >&2
        die "installing ${missing[*]} failed (all of it: build/install.log)"
    }
}

# want_packages <Debian package>...: the same for optional packages. Reports a package that cannot
# be installed, and continues.
want_packages() {
    local package
    (need_packages "$@") 2>/dev/null && return
    for package in "$@"; do
        (need_packages "$package") || say "going on without $package"
    done
}

# need_clang: installs Clang, for AddressSanitizer, UBSan and the lock annotations.
need_clang() { need_packages clang-19 libclang-rt-19-dev lld-19 llvm-19; }

# need_browser: installs a browser and its driver, for the tests of a page.
need_browser() {
    local driver=playwright-core@1.65.0
    need_packages chromium nodejs npm
    [[ -d build/browser/node_modules/playwright-core ]] && return
    say "installing $driver from npm"
    mkdir -p build/browser
    npm install --prefix build/browser --no-save --no-audit --no-fund "$driver" >build/browser/install.log 2>&1 || {
        tail -n 20 build/browser/install.log >&2
        die "npm could not install $driver: is there a network? (all of it: build/browser/install.log)"
    }
}

# show_progress <what> <log>: copies standard input to the log and shows the progress of Ninja or
# CTest: on a terminal in one updated line, elsewhere one line per tenth.
show_progress() {
    local line percent shown=-1
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$2"
        [[ $line =~ ^(\[| *)([0-9]+)/([0-9]+)(\]| +Test) ]] || continue
        percent=$((100 * BASH_REMATCH[2] / BASH_REMATCH[3]))
        if [[ -t 1 ]]; then
            printf '\r    %s: %d of %d, %d %%\033[K' "$1" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}" "$percent"
        elif ((percent / 10 > shown)); then
            shown=$((percent / 10))
            printf '    %s: %d of %d, %d %%\n' "$1" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}" "$percent"
        fi
    done
    [[ ! -t 1 ]] || printf '\r\033[K'
}

# build_preset <preset> [<cmake argument>...]: configures and builds into build/<preset>, and shows
# the progress. The caller's array `targets` names the targets; if it is empty or unset, builds
# everything.
build_preset() {
    local log=build/$1/build.log started=$SECONDS what=()
    [[ -z ${targets[*]-} ]] || what=(--target "${targets[@]}")
    say "$1: building with $jobs job(s)"
    mkdir -p "build/$1"
    : >"$log"
    { cmake --preset "$@" && cmake --build --preset "$1" --parallel "$jobs" "${what[@]}"; } 2>&1 </dev/null |
        show_progress "$1" "$log" || {
        tail -n 40 "$log" >&2
        die "$1: the build failed (all of it: $log)"
    }
    say "$1: built in $((SECONDS - started)) s"
}

# say_before_summary <command>...: copies CTest's output, and calls the command right before the
# summary, so that the summary stays last.
say_before_summary() {
    local line summary=()
    while IFS= read -r line; do
        if ((${#summary[@]})) || [[ $line =~ ^[0-9]+%\ tests\ passed ]]; then
            summary+=("$line")
        else
            printf '%s\n' "$line"
        fi
    done
    "$@"
    ((${#summary[@]} == 0)) || printf '%s\n' "${summary[@]}"
}
