/* SPDX-License-Identifier: MIT */
/* Writing numbers with units, so that units.c reads them back; integers alone, as there. */
#include "units.h"

#include <stdio.h>

#include "base/assert.h"

#include <tied/types.h>

#define DIGITS_MAX 10

/* WHOLE.FRACTION with this many decimals, none if 0. */
static const char *print_decimal (uint64_t whole,
                                  uint64_t fraction,
                                  uint32_t decimals,
                                  const char *unit,
                                  char buffer[TI_UNITS_TEXT_MAX])
{
    char digits[DIGITS_MAX + 2] = "";
    TI_ASSERT (decimals <= DIGITS_MAX);
    if (decimals > 0)
        digits[0] = '.';
    for (uint32_t i = decimals; i > 0; i--) {
        digits[i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    snprintf (buffer, TI_UNITS_TEXT_MAX, "%llu%s%.4s", (unsigned long long)whole, digits, unit);
    return buffer;
}

/* value / factor, zeros at the end left out. factor is 10 ^ decimals. */
static const char *format_scaled (uint64_t value,
                                  uint64_t factor,
                                  uint32_t decimals,
                                  const char *unit,
                                  char buffer[TI_UNITS_TEXT_MAX])
{
    uint64_t fraction = value % factor;
    while (decimals > 0 && fraction % 10 == 0) {
        fraction /= 10;
        decimals--;
    }
    return print_decimal (value / factor, fraction, decimals, unit, buffer);
}

const char *ti_format_duration (uint64_t ns, char buffer[TI_UNITS_TEXT_MAX])
{
    if (ns == TIED_NEVER) {
        snprintf (buffer, TI_UNITS_TEXT_MAX, "never");
        return buffer;
    }
    if (ns >= TIED_S (3600) && ns % TIED_S (3600) == 0)
        return format_scaled (ns / TIED_S (3600), 1, 0, "h", buffer);
    if (ns >= TIED_S (120) && ns % TIED_S (60) == 0)
        return format_scaled (ns / TIED_S (60), 1, 0, "m", buffer);
    if (ns >= TIED_S (1) || ns == 0)
        return format_scaled (ns, TIED_S (1), 9, "s", buffer);
    if (ns >= TIED_MS (1))
        return format_scaled (ns, TIED_MS (1), 6, "ms", buffer);
    if (ns >= TIED_US (1))
        return format_scaled (ns, TIED_US (1), 3, "us", buffer);
    return format_scaled (ns, 1, 0, "ns", buffer);
}

const char *ti_format_ms (uint64_t ns, char buffer[TI_UNITS_TEXT_MAX])
{
    /* Round to the decimals shown, and choose them by the rounded value: 9.996 is 10.0. */
    uint64_t step = TIED_US (1), power = 1000, rounded = 0;
    uint32_t decimals = 3;
    for (;; decimals--, step *= 10, power /= 10) {
        rounded = ns / step + (ns % step >= step / 2);
        if (rounded < 1000 || decimals == 0)
            break;
    }
    return print_decimal (rounded / power, rounded % power, decimals, "", buffer);
}

const char *ti_format_size (uint64_t bytes, char buffer[TI_UNITS_TEXT_MAX])
{
    static const struct {
        const char *name;
        uint64_t factor;
    } binary[] = {
        {"TiB", UINT64_C (1) << 40},
        {"GiB", UINT64_C (1) << 30},
        {"MiB", UINT64_C (1) << 20},
        {"KiB", UINT64_C (1) << 10},
    };
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        uint64_t factor = binary[i].factor, rest = bytes % factor;
        if (bytes < factor || rest * 1000 % factor)
            continue;
        return format_scaled (bytes / factor * 1000 + rest * 1000 / factor, 1000, 3, binary[i].name,
                              buffer);
    }
    return format_scaled (bytes, 1, 0, "B", buffer);
}
