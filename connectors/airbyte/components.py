"""The check that a state of Airbyte is that of this server and account; otherwise all leads are read again."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Mapping
from urllib.parse import urlsplit

from airbyte_cdk.sources.declarative.migrations.state_migration import StateMigration
from airbyte_cdk.sources.declarative.requesters.requester import Requester

KEPT = 10  # leads by which the next sync recognizes the account


@dataclass
class SameAccount(StateMigration):
    """Removes the cursor of another server or account. Adds the origin and the newest leads, which airbyte-cdk keeps."""

    requester: Requester
    config: Mapping[str, Any]

    def should_migrate(self, stream_state: Mapping[str, Any]) -> bool:
        return True

    def migrate(self, stream_state: Mapping[str, Any]) -> Mapping[str, Any]:
        address = urlsplit(self.config["base_url"])
        origin = f"{address.scheme}://{address.netloc}"
        state = dict(stream_state)
        if reason := self.why_anew(state, origin):
            logging.getLogger("airbyte").warning(f"{reason} All leads are read; rows with the same id are merged.")
            state = {}
        newest = self.leads(limit=KEPT)
        return {**state, "origin": origin, "last": [[lead["id"], lead["identified_at"]] for lead in newest]}

    def why_anew(self, state: Mapping[str, Any], origin: str) -> str | None:
        """Returns why the state is not that of this server and account; None if it is, or if there is none."""
        if not state:
            return None
        if "origin" not in state:
            return "The state is that of an earlier version of this source."
        if state["origin"] != origin:
            return f"The state is that of {state['origin']}, and this is {origin}."
        for id, identified_at in state["last"]:
            # `since` takes the time of a lead, and no other lead of its account has the same one.
            time = datetime.fromisoformat(identified_at.replace("Z", "+00:00"))
            before = (time + timedelta(milliseconds=1)).isoformat()
            if any(lead["id"] == id for lead in self.leads(limit=1, since=identified_at, before=before)):
                return None
        if state["last"]:
            return "None of the last leads is there any more: this seems to be another account."
        return "The account had no leads when the last sync began, so the state may be that of another account."

    def leads(self, **query: Any) -> list[Mapping[str, Any]]:
        response = self.requester.send_request(request_params=query)
        return response.json()["data"] if response else []
