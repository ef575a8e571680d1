#!/bin/sh
# memvault from a shell: client.sh SOCKET "QUESTION" "SOMETHING TO REMEMBER". Needs socat or nc, and nothing else.
socket=$1 question=$2 claim=$3
quote() { printf '%s' "$1" | sed 's/[\\"]/\\&/g' | tr '\n\t\r' '   '; }
talk() { if command -v socat >/dev/null; then socat -t 30 - "UNIX-CONNECT:$socket"; else nc -N -U "$socket"; fi; }
talk <<EOF
{"jsonrpc":"2.0","id":"hello","method":"hello","params":{"client":"client.sh","version":"1","protocol":1}}
{"jsonrpc":"2.0","id":"recall","method":"recall","params":{"query":"$(quote "$question")"}}
{"jsonrpc":"2.0","id":"propose","method":"memory.add","params":{"content":"$(quote "$claim")","kind":"fact","scope":"private","source":{"type":"conversation","ref":"client.sh"}}}
EOF
