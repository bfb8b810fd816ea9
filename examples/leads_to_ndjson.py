#!/usr/bin/env python3
"""Appends new leads to an NDJSON file, for as long as it runs. It needs only the standard library of Python.

    LEADFILE_KEY=lf_... python3 examples/leads_to_ndjson.py https://www.example.com leads.ndjson

Every lead is in the file once, also after a crash. leads.ndjson.checkpoint keeps the length of the file after the last
complete leads; the next start truncates the file to it.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone

OVERLAP = timedelta(hours=1)  # how late a lead can arrive
TRANSIENT = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, json.JSONDecodeError)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: urllib would send the key to the other host."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def get_page(base_url, key, query):
    """Returns one page of leads. Waits at the limit, and repeats requests that can succeed later."""
    url = f"{base_url.rstrip('/')}/api/v1/leads?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})
    pause = 0.5
    while True:
        try:
            with opener.open(request, timeout=30) as response:
                page = json.load(response)
                if response.headers.get("X-RateLimit-Remaining") == "0":
                    left = float(response.headers.get("X-RateLimit-Reset", 0)) - time.time()
                    time.sleep(min(max(left, 0), 60))
                return page
        except urllib.error.HTTPError as error:
            if error.code != 429 and error.code < 500:
                raise SystemExit(f"The server answered {error.code}: {error.read(500).decode(errors='replace')}")
            asked = error.headers.get("Retry-After") or ""
            why, wait = f"The server answered {error.code}", float(asked) if asked.isdigit() else pause
        except TRANSIENT:
            why, wait = "The response was incomplete", pause
        print(f"{why}; trying again in {wait:g} s.", file=sys.stderr)
        time.sleep(wait)
        pause = min(2 * pause, 60)


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def new_leads(base_url, key, state):
    """Returns new leads, oldest first. `since` is inclusive and looks back, so known leads are dropped by their ID."""
    query = {"limit": 100, "since": state["since"]}
    leads = []
    while True:
        page = get_page(base_url, key, query)
        leads += [lead for lead in page["data"] if lead["id"] not in state["seen"]]
        if not page["has_more"]:
            return leads[::-1]
        query["before"] = page["next_cursor"]


def advance(state, leads):
    """Keeps the IDs of the overlap, and never looks back further than the known IDs."""
    seen = {**state["seen"], **{lead["id"]: lead["identified_at"] for lead in leads}}
    newest = max(map(moment, seen.values()))
    since = max(newest - OVERLAP, moment(state["since"]))
    state["seen"] = {id: at for id, at in seen.items() if moment(at) >= since}
    state["since"] = since.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def save(path, state):
    with open(f"{path}.next", "w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.next", path)


def main(base_url="http://127.0.0.1:3000", path="leads.ndjson", every="30"):
    os.umask(0o077)
    key = os.environ.get("LEADFILE_KEY") or sys.exit("Set LEADFILE_KEY to an API key.")
    state = {"length": 0, "since": "0001-01-01T00:00:00.000Z", "seen": {}}
    if os.path.exists(f"{path}.checkpoint"):
        with open(f"{path}.checkpoint", encoding="utf-8") as file:
            state = json.load(file)
    elif os.path.exists(path):
        raise SystemExit(f"{path} already exists, without a checkpoint. Name another file.")
    save(f"{path}.checkpoint", state)
    with open(path, "ab") as file:
        file.truncate(state["length"])
        while True:
            leads = new_leads(base_url, key, state)
            if leads:
                file.write("".join(json.dumps(lead) + "\n" for lead in leads).encode())
                file.flush()
                os.fsync(file.fileno())
                advance(state, leads)
                state["length"] = os.fstat(file.fileno()).st_size
                save(f"{path}.checkpoint", state)
            time.sleep(float(every))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
