/* SPDX-License-Identifier: MIT */
/* Ports that exist, and texts that libzmq would make some port of. */
#include "zmq/endpoint.h"
#include "check.h"

static void a_port_is_a_star_or_a_number_to_65535 (void **state)
{
    static const char *const good[] = {
        "tcp://127.0.0.1:5555", "tcp://*:*",  "tcp://[::1]:1",   "tcp://h:0",    "tcp://host:65535",
        "ipc:///tmp/x:y",       "inproc://a", "tcp://eth0;h:22", "tcp://h:00080"};
    static const char *const bad[] = {"tcp://",     "tcp://h",    "tcp://h:",
                                      "tcp://h:5x", "tcp://h:x5", "tcp://h:65536",
                                      "tcp://h:-1", "tcp://h:**", "tcp://h:99999999999999999999",
                                      "tcp://h: 5", "tcp://[::1]"};
    (void)state;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_STR (ti_endpoint_has_port (good[i]) ? good[i] : "refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STR (ti_endpoint_has_port (bad[i]) ? bad[i] : "refused", "refused");
}

int main (void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test (a_port_is_a_star_or_a_number_to_65535)};
    return cmocka_run_group_tests (tests, NULL, NULL);
}
