/* SPDX-License-Identifier: MIT */
/* The headers serve C++ as they are, and the functions link from it. */
#include <iostream>

#include <tied/tied.h>

int main ()
{
    tied_client_options options;
    tied_client_options_init (&options);
    tied_client_t *client = tied_client_new (&options);
    const bool is_ok = client != nullptr && tied_client_add_replica (client, "", "") != 0;
    tied_client_destroy (&client);
    std::cout << (is_ok ? "ok" : "failed") << '\n';
    return is_ok ? 0 : 1;
}
