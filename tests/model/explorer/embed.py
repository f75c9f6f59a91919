"""Writes a C++ source that knows the lines of some files, as they are when it is built.

usage: embed.py <output.cpp> <root> <file>...
"""
import sys
from pathlib import Path

HEAD = """#include <array>
#include <string_view>

#include "model/explorer/plant.hpp"

namespace model {
namespace {

struct file {
    std::string_view name;
    std::string_view text;
};
"""
TAIL = """
}  // namespace

std::string_view source_line(std::string_view name, unsigned line) {
    for (const file& f : files) {
        if (!name.ends_with(f.name)) {
            continue;
        }
        std::string_view rest = f.text;
        for (; line > 1; --line) {
            rest.remove_prefix(rest.find('\\n') + 1);
        }
        return rest.substr(0, rest.find('\\n'));
    }
    return {};
}

}  // namespace model
"""


def main(arguments):
    output, root, *files = arguments
    entries = []
    for name in files:
        text = (Path(root) / name).read_text(encoding="utf-8")
        lines = "\n".join(f'        R"~~({line})~~" "\\n"' for line in text.splitlines())
        entries.append(f'    file{{"{name}",\n{lines}}},\n')
    table = f"const std::array<file, {len(files)}> files{{{{\n{''.join(entries)}}}}};\n"
    Path(output).write_text(HEAD + table + TAIL, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
