# SPDX-License-Identifier: MIT
# cmake -DOUTPUT=presets.c "-DINPUTS=a.yaml;b.yaml" -P embed_presets.cmake
# Writes a C file with the bytes of the presets, so that the program needs no folder of its own.
set (texts "")
set (rows "")
set (count 0)

function (to_bytes hex out)
    string (REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    # A line each 16 bytes: some compilers do not take longer ones gladly.
    string (REGEX REPLACE "(................................................................................)"
        "\\1\n    " bytes "${bytes}")
    set (${out} "${bytes}" PARENT_SCOPE)
endfunction ()

foreach (input IN LISTS INPUTS)
    cmake_path (GET input STEM LAST_ONLY name)
    file (READ "${input}" hex HEX)
    string (LENGTH "${hex}" size)
    math (EXPR size "${size} / 2")
    file (STRINGS "${input}" title REGEX "^title: " LIMIT_COUNT 1)
    string (REGEX REPLACE "^title: " "" title "${title}")
    string (HEX "${title}" title_hex)
    to_bytes ("${hex}" text_bytes)
    to_bytes ("${title_hex}" title_bytes)
    string (APPEND texts "static const unsigned char text_${count}[] = {\n    ${text_bytes}0};\n"
        "static const unsigned char title_${count}[] = {\n    ${title_bytes}0};\n")
    string (APPEND rows "    {.name = \"${name}\",\n     .title = (const char *)title_${count},\n"
        "     .text = (const char *)text_${count},\n     .size = ${size}},\n")
    math (EXPR count "${count} + 1")
endforeach ()

file (WRITE "${OUTPUT}" "/* SPDX-License-Identifier: MIT */\n"
    "/* Made from sim/presets by sim/embed_presets.cmake. */\n"
    "#include \"scenario/presets.h\"\n\n${texts}\n"
    "const struct sim_preset sim_presets[] = {\n${rows}};\n"
    "const uint32_t sim_presets_count = sizeof sim_presets / sizeof sim_presets[0];\n")
