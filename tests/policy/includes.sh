#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Dependencies point one way: base <- wire <- core <- zmq <- replica, client; core <- sim; and the
# pure folders include nothing that could reach a clock, a thread, a socket, a stream or the heap.
set -euo pipefail
cd "$TIED_SOURCE_DIR"
failed=0

# no_include FOLDERS PATTERN REASON: no #include in FOLDERS whose target matches PATTERN.
no_include () {
    local hits
    # shellcheck disable=SC2086
    hits=$(grep -rnE --include='*.c' --include='*.h' -e "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)[>\"]" $1 \
               2>/dev/null | grep -v "${4:-^\$}" || true)
    if [ -n "$hits" ]; then
        printf '%s:\n%s\n' "$3" "$hits"
        failed=1
    fi
}

system='zmq\.h|czmq\.h|msgpack\.h|pthread\.h|threads\.h|time\.h|stdio\.h|unistd\.h|stdlib\.h|signal\.h|errno\.h|poll\.h|math\.h|sys/.*|net.*|arpa/.*'
no_include 'lib/base lib/wire lib/core lib/include' "$system" \
    'the core is pure: no clock, thread, socket, stream or heap header' \
    '^lib/base/assert\.c:[0-9]*:#include <stdlib\.h>$'
no_include 'lib/base' '(\.\./)?(wire|core|zmq|tools|text|yaml|policy)/.*' 'base includes nothing above it'
no_include 'lib/wire' '(\.\./)?(core|zmq|tools|text|yaml|policy)/.*' 'wire includes nothing above it'
no_include 'lib/core' '(\.\./)?(zmq|tools|text|yaml|policy)/.*' 'core includes nothing above it'
no_include 'lib/base lib/wire lib/core lib/zmq' 'tied/(client|replica|tied)\.h' \
    'nothing in lib includes a header of a runtime'
no_include 'lib/wire' 'tied/(client_core|replica_core)\.h' 'the codec does not know the cores'
no_include 'lib/zmq lib/text lib/yaml lib/policy replica/src client/src' '(\.\./)?tools/.*' \
    'tools belong to the programs'
no_include 'lib/text' '(\.\./)?(wire|core|zmq|yaml|policy)/.*' 'text includes base alone'
no_include 'lib/yaml' '(\.\./)?(wire|core|zmq|policy)/.*' 'yaml does not know what is read from it'
no_include 'lib/base lib/wire lib/core lib/zmq lib/text lib/policy lib/tools replica client sim' 'yaml\.h' \
    'only lib/yaml includes libyaml'
no_include 'lib replica client' 'zmq\.h' 'only lib/zmq and programs include zmq.h' \
    '^lib/zmq/\|^lib/examples/\|/examples/\|^[a-z]*/tied-[a-z]*\.c:\|^[a-z]*/app/\|^replica/src/\|^client/src/'
no_include 'lib/base lib/wire lib/core lib/zmq replica/src client/src' 'czmq\.h' \
    'czmq belongs to programs and tests, not to the library'
no_include 'replica/src' 'tied/client\.h' 'the replica does not know the client'
no_include 'client/src' 'tied/replica\.h' 'the client does not know the replica'
sim='engine|workload|world|reference|scenario|study|theory|output'
no_include 'lib replica client' "($sim)/.*" 'nothing knows the simulator'
no_include 'sim' 'zmq/.*|zmq\.h|tied/(client|replica)\.h' 'the simulator knows the cores, not the runtimes' \
    '^sim/workload/trace\.c:[0-9]*:#include <tied/replica\.h>$' # what a recording calls the end of a copy
no_include 'sim/engine' '(workload|world|reference|scenario|study|theory|output)/.*' \
    'the engine knows nothing above it'
no_include 'sim/workload sim/scenario' '(world|reference|theory|output)/.*' \
    'workload and scenario do not know who runs them'
no_include 'sim/world' '(reference|theory|output)/.*' 'the world knows no other engine and no output'
no_include 'sim/reference' '(world|theory|output)/.*|tied/replica_core\.h|tied/wire\.h' \
    'reference policies have no protocol'
no_include 'sim/study sim/theory' 'output/.*' 'studies do not know how they are written'
no_include 'sim/theory' '(world|reference|engine)/.*' 'theory goes through sim_run ()'
no_include 'sim/output' '(world|reference|engine|theory)/.*' 'output knows figures, not how they come about'
exit $failed
