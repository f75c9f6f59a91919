#include "scenario_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "json_fields.hpp"

namespace spool::lab {
namespace {

namespace fs = std::filesystem;

// Returns the folder for a built or an installed program; empty if there is none.
fs::path scenario_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    for (const fs::path& folder :
         {program.parent_path() / "scenarios", program.parent_path() / "../share/spool/scenarios"}) {
        std::error_code not_there;
        if (!error && fs::is_directory(folder, not_there)) {
            return folder.lexically_normal();
        }
    }
    return {};
}

}  // namespace

std::vector<std::string> shipped_scenarios() {
    std::vector<std::string> files;
    const fs::path folder = scenario_folder();
    if (folder.empty()) {
        return files;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator{folder}) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string find_scenario(const std::string& name) {
    if (fs::is_regular_file(name)) {
        return name;
    }
    std::string names;
    for (const std::string& file : shipped_scenarios()) {
        const std::string stem = fs::path{file}.stem().string();
        if (stem == name) {
            return file;
        }
        names += (names.empty() ? "" : ", ") + stem;
    }
    throw input_error(fmt::format(
        "{}: no such file, and no scenario of that name comes with the program ({})", name, names));
}

}  // namespace spool::lab
