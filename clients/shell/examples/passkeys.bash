#!/usr/bin/env bash
# Serves a page with passkeys: bash passkeys.bash clients/passkeys/page.html
# bash cannot listen on a port, so a few lines of Python serve the page and pass each call to this script as a line.
set -e
source "$(dirname "${BASH_SOURCE[0]}")/../mintmark.bash"

# The methods that the page may call. A real application keeps the tokens in a session of its own.
methods=" signUp.start signUp.submitCode signIn.withContinuation signIn.withCredential account.reauthenticate \
passkey.startRegistration passkey.finishRegistration passkey.startAuthentication passkey.list passkey.delete "

# Prints the origin, then a line for each request: its number, the method or /code, and the JSON body or the address. Reads the responses.
coproc web {
    exec python3 -c '
import http.server, itertools, json, os, sys, threading, urllib.parse
numbers, answers, changed, writing = itertools.count(), {}, threading.Condition(), threading.Lock()

class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/":
            self.reply("200", "text/html; charset=utf-8", open(sys.argv[1], encoding="utf-8").read())
        else:
            self.ask(url.path, urllib.parse.parse_qs(url.query).get("to", [""])[0])

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.ask(self.path[1:], json.dumps(body))

    def ask(self, method, body):
        with writing:
            number = str(next(numbers))
            print(number, method.replace("\t", ""), body.replace("\t", "").replace("\n", ""), sep="\t", flush=True)
        with changed:
            changed.wait_for(lambda: number in answers)
        status, text = answers.pop(number)
        self.reply(status, "application/json", text)

    def reply(self, status, kind, text):
        self.send_response(int(status))
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://localhost:{server.server_port}", flush=True)
for line in sys.stdin:
    number, status, text = line.rstrip("\n").split("\t", 2)
    with changed:
        answers[number] = status, text
        changed.notify_all()
os._exit(0)' "$1"
}
exec {requests}<&"${web[0]}" {responses}>&"${web[1]}"

mintmark_testing --log /dev/null
read -r origin <&"$requests"
mintmark_call tenant.update "$(jq -n --arg origin "$origin" '{tenantId: "default", localAccountMethod: "passkey",
    passkeys: {relyingPartyId: "localhost", origins: [$origin], residentKey: "preferred"}}')" >/dev/null
echo "$origin"

# answer METHOD BODY: prints the status and the JSON of a response, separated by a tab.
answer() {
    local result
    if [[ $1 == /code ]]; then
        result=$(mintmark_call test.outbox to="$2" | jq -c '{code: .messages[-1].code}')
    elif [[ $methods != *" $1 "* ]]; then
        printf '404\t{"message": "not allowed"}'
        return
    elif ! result=$(mintmark_call "$1" "$2" 2>/dev/null); then
        printf '400\t%s' "$(mintmark_error -c '{type, message, data}')"
        return
    fi
    printf '200\t%s' "$result"
}

while IFS=$'\t' read -r number method body <&"$requests"; do
    printf '%s\t%s\n' "$number" "$(answer "$method" "$body")" >&"$responses"
done
