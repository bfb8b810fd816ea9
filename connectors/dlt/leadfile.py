"""A dlt source for Leadfile: loads every lead once, and the pixels, into any destination of dlt.

    pip install "dlt[duckdb]==1.31.0"
    export SOURCES__LEADFILE__BASE_URL=https://www.example.com SOURCES__LEADFILE__KEY=lf_...
    python leadfile.py
"""

from datetime import datetime, timedelta
from urllib.parse import urlsplit

import dlt
from dlt.common import logger
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.auth import BearerTokenAuth
from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator, SinglePagePaginator

FIELDS = (
    "name email verified_email phone company city state gender age_range income_range net_worth "
    "marital_status homeowner children page_url referrer traffic_source"
).split()
KEPT = 10  # leads by which the next run recognizes the account


@dlt.source(name="leadfile")
def leadfile(
    base_url: str = dlt.config.value,
    key: str = dlt.secrets.value,
    since: str = "1900-01-01T00:00:00Z",
    overlap: int = 3600,
):
    """`since` is the time at which the first run begins; `overlap` is how many seconds to look back for late leads."""
    client = RESTClient(f"{base_url.rstrip('/')}/api/v1/", auth=BearerTokenAuth(key))
    address = urlsplit(base_url)
    origin = f"{address.scheme}://{address.netloc}"

    # Creates a column even if every lead so far has no value for it.
    columns = {field: {"data_type": "text"} for field in ["id", "pixel_id", *FIELDS]}

    @dlt.resource(primary_key="id", write_disposition="merge", columns=columns)
    def leads():
        # dlt stores the state together with the leads of this run, or neither.
        state = dlt.current.resource_state()
        if reason := why_anew(client, state, origin):
            logger.warning(f"{reason} All leads from {since} are read; rows with the same id are merged.")
            state.clear()
        newest = []
        # Pages list the newest lead first, so `before` pages back to `since`.
        paginator = JSONResponseCursorPaginator(cursor_path="next_cursor", cursor_param="before")
        query = {"limit": 100, "since": state.get("since", since)}
        for page in client.paginate("leads", params=query, paginator=paginator, data_selector="data"):
            newest += page[: KEPT - len(newest)]
            yield page
        state["origin"] = origin
        if newest:
            state["last"] = [[lead["id"], lead["identified_at"]] for lead in newest]
            start = time_of(newest[0]["identified_at"]) - timedelta(seconds=overlap)
            state["since"] = max(start, time_of(state.get("since", since))).isoformat()

    @dlt.resource(primary_key="id", write_disposition="merge")
    def pixels():
        yield from client.paginate("pixels", paginator=SinglePagePaginator(), data_selector="data")

    return leads, pixels


def why_anew(client, state, origin):
    """Returns why the state is not that of this server and account; None if it is, or if there is none."""
    if not state:
        return None
    if "origin" not in state:
        return "The state is that of an earlier version of this source."
    if state["origin"] != origin:
        return f"The state is that of {state['origin']}, and this is {origin}."
    for id, identified_at in state.get("last", []):
        # `since` takes the time of a lead, and no other lead of its account has the same one.
        query = {"limit": 1, "since": identified_at, "before": (time_of(identified_at) + timedelta(milliseconds=1)).isoformat()}
        response = client.get("leads", params=query)
        response.raise_for_status()
        if any(lead["id"] == id for lead in response.json()["data"]):
            return None
    if state.get("last"):
        return "None of the last leads is there any more: this seems to be another account."
    return None


def time_of(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


if __name__ == "__main__":
    pipeline = dlt.pipeline("leadfile", destination="duckdb", dataset_name="visitors")
    if pipeline.has_pending_data:
        pipeline.run()  # Loads what an interrupted run extracted. Together with new leads, it would be skipped.
    # DuckDB needs gigabytes of memory for the INSERTs of 20,000 leads. Omit the format if a destination refuses it.
    print(pipeline.run(leadfile(), loader_file_format="jsonl"))
