#include "base/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace spool::inline v1::detail {
namespace {

using std::string_view;

// Removes the part before the next separator, and the separator, from `text`. Returns that part.
string_view next_part(string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

bool has_item(string_view comma_separated, string_view wanted) {
    while (!comma_separated.empty()) {
        if (next_part(comma_separated, ',') == wanted) {
            return true;
        }
    }
    return false;
}

// The kernel writes a space, a tab, a line feed and a backslash in a path as \ooo.
std::string unescape(string_view path) {
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        int code = 0;
        if (path[i] == '\\' && i + 3 < path.size() &&
            std::from_chars(path.data() + i + 1, path.data() + i + 4, code, 8).ptr == path.data() + i + 4) {
            out.push_back(static_cast<char>(code));
            i += 3;
        } else {
            out.push_back(path[i]);
        }
    }
    return out;
}

enum class hierarchy { version1, version2 };

struct mount {
    std::string root;   // the cgroup visible at the mount point
    std::string point;  // the mount point
};

// Finds the first mount of the hierarchy: version 2, or version 1 with the controller cpu.
// Format: "33 24 0:28 <root> <mount point> <options> [<tags>] - <type> <source> <type options>".
std::optional<mount> find_mount(string_view mounts, hierarchy wanted) {
    while (!mounts.empty()) {
        string_view line = next_part(mounts, '\n');
        const std::size_t dash = line.find(" - ");
        if (dash == string_view::npos) {
            continue;
        }
        string_view right = line.substr(dash + 3);
        const string_view type = next_part(right, ' ');
        next_part(right, ' ');
        if (wanted == hierarchy::version2 ? type != "cgroup2" : type != "cgroup" || !has_item(right, "cpu")) {
            continue;
        }
        for (int skipped = 0; skipped < 3; ++skipped) {
            next_part(line, ' ');
        }
        const string_view root = next_part(line, ' ');
        return mount{unescape(root), unescape(next_part(line, ' '))};
    }
    return std::nullopt;
}

// Adds the folders of the cgroup and its parents, up to the mount point. For a path outside of the
// mounted subtree, adds only the mount point: nothing else is visible.
void add_folders(std::vector<std::string>& folders, const mount& at, string_view path) {
    std::string rest;
    if (at.root == "/") {
        rest = path;
    } else if (path.starts_with(at.root) && (path.size() == at.root.size() || path[at.root.size()] == '/')) {
        rest = path.substr(at.root.size());
    }
    if (rest.find("/..") != std::string::npos) {
        rest.clear();
    }
    while (!rest.empty()) {
        if (rest != "/") {
            folders.push_back(at.point + rest);
        }
        rest.erase(rest.rfind('/'));
    }
    folders.push_back(at.point);
}

std::string read_file(const std::string& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

// Parses a positive integer at the beginning of `text`.
std::optional<double> parse_positive(string_view text) {
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{} || value <= 0) {
        return std::nullopt;
    }
    return static_cast<double>(value);
}

double quota_in(const std::string& folder) {
    std::string text = read_file(folder + "/cpu.max");  // "150000 100000", or "max 100000"
    string_view period = text;
    string_view quota = next_part(period, ' ');
    std::string period_text;
    if (text.empty()) {  // version 1; -1 means no quota
        text = read_file(folder + "/cpu.cfs_quota_us");
        period_text = read_file(folder + "/cpu.cfs_period_us");
        quota = text;
        period = period_text;
    }
    const std::optional<double> quota_us = parse_positive(quota);
    const std::optional<double> period_us = parse_positive(period);
    return quota_us.has_value() && period_us.has_value() ? *quota_us / *period_us : INFINITY;
}

}  // namespace

std::vector<std::string> cpu_cgroup_folders(string_view cgroups, string_view mounts) {
    std::vector<std::string> folders;
    while (!cgroups.empty()) {
        // "4:cpu,cpuacct:/path"; the path may contain colons
        string_view path = next_part(cgroups, '\n');
        next_part(path, ':');
        const string_view controllers = next_part(path, ':');
        const hierarchy in = controllers.empty() ? hierarchy::version2 : hierarchy::version1;
        if (!path.starts_with('/') || !(in == hierarchy::version2 || has_item(controllers, "cpu"))) {
            continue;
        }
        if (const std::optional<mount> at = find_mount(mounts, in)) {
            add_folders(folders, *at, path);
        }
    }
    return folders;
}

std::vector<std::string> cpu_cgroup_folders() {
    return cpu_cgroup_folders(read_file("/proc/self/cgroup"), read_file("/proc/self/mountinfo"));
}

double cpu_quota(const std::vector<std::string>& folders) {
    double smallest = INFINITY;
    for (const std::string& folder : folders) {
        smallest = std::min(smallest, quota_in(folder));
    }
    return smallest;
}

std::uint64_t throttled_periods(const std::vector<std::string>& folders) {
    std::uint64_t sum = 0;
    for (const std::string& folder : folders) {
        const std::string text = read_file(folder + "/cpu.stat");
        for (string_view rest = text; !rest.empty();) {
            string_view value = next_part(rest, '\n');
            if (next_part(value, ' ') == "nr_throttled") {
                sum += static_cast<std::uint64_t>(parse_positive(value).value_or(0));
            }
        }
    }
    return sum;
}

}  // namespace spool::inline v1::detail
