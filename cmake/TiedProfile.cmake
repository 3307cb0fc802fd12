# SPDX-License-Identifier: MIT
# Optimisation for a run that was seen: `train` makes objects that leave their counts beside
# themselves when their program ends, `use` compiles for these counts, and `off` is off. Both in one
# build folder: the counts belong to the paths of the objects.
function (tied_profile target mode)
    if (mode STREQUAL "off")
        return ()
    endif ()
    if (NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
        message (FATAL_ERROR "A profile is made by gcc alone, and the compiler is "
            "${CMAKE_C_COMPILER_ID}: build without one")
    endif ()
    if (mode STREQUAL "train")
        target_compile_options (${target} PRIVATE -fprofile-generate -fprofile-update=atomic)
        target_link_options (${target} PRIVATE -fprofile-generate)
    elseif (mode STREQUAL "use")
        # What the run did not reach has no counts, and is rare.
        target_compile_options (${target} PRIVATE -fprofile-use -Wno-missing-profile)
        target_link_options (${target} PRIVATE -fprofile-use)
    else ()
        message (FATAL_ERROR "The profile is ${mode}: give one of off;train;use")
    endif ()
endfunction ()
